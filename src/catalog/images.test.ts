// Tests which image sizes models make and which they do not.

import { expect, test } from 'bun:test'
import { imageModel, ratioOf, sideClass } from './images.ts'

test.each([
  ['dall-e-3', ['1024x1024', '1792x1024', '1024x1792'], ['512x512', '1536x1024', '1024x1536']],
  ['dall-e-2', ['256x256', '512x512', '1024x1024'], ['1792x1024', '1024x1536', '128x128']],
  ['gpt-image-1', ['1024x1024', '1536x1024', '1024x1536'], ['1792x1024', '512x512', '1024X1024']],
  ['openai/gpt-image-1.5', ['1024x1024'], ['2048x2048', '1024']],
  [
    'gpt-image-2',
    ['1024x1024', '3840x2160', '2160x3840', '1600x1200', '768x2304'],
    ['1000x1000', '3840x3840', '4096x1024', '640x3200', '0x16', 'large'],
  ],
  [
    'gemini-3-pro-image',
    ['1024x1024', '2048x2048', '4096x4096', '5504x3072', '1792x1024', '1536x672'],
    ['1024x256', '8192x8192', '1:1'],
  ],
  ['gemini-2.5-flash-image', ['1024x1024', '832x1248', '1184x864'], ['2048x2048', '4096x4096']],
  ['gemini-3.1-flash-image-preview', ['512x2048', '2048x512'], ['3000x100']],
  ['flux-pro-1.1', ['1024x768', '256x1440'], ['1472x1024', '1000x1000', '224x256']],
  ['flux-dev', ['1024x1024'], ['64x64']],
  ['flux-2-pro', ['1040x1040', '2048x2048'], ['4096x4096', '1001x1001']],
  ['qwen-image-2.0', ['1024x1024', '2048x2048'], ['4096x4096', '256x256']],
  ['fal-ai/flux/dev', ['1024x768'], ['4096x4096']],
  ['qwen-image', ['1328x1328', '1664x928'], ['1024x1024']],
  ['stable-image-core', ['1024x1024', '1344x768'], ['1024x512', '4096x4096']],
])('%s makes %j, and not %j', (id, made, not) => {
  const known = imageModel(id)
  for (const size of made) expect([size, known?.sizes.allows(size)]).toEqual([size, true])
  for (const size of not) expect([size, known?.sizes.allows(size)]).toEqual([size, false])
})

test('a model nobody described is not judged', () => {
  expect(imageModel('acme-draws-9')).toBeNull()
  expect(imageModel('black-forest-labs/FLUX.1-schnell')).toBeNull()
})

test('a size means the ratio it is near, and the class its area is of', () => {
  expect(ratioOf('1792x1024', ['1:1', '16:9'])).toBe('16:9')
  expect(ratioOf('1536x1024', ['1:1', '3:2', '4:3'])).toBe('3:2')
  expect(ratioOf('1200x1024', ['1:1', '3:2'])).toBeNull()
  expect([sideClass('1024x1024'), sideClass('2048x2048'), sideClass('3840x2160')]).toEqual([
    '1K',
    '2K',
    '4K',
  ])
})
