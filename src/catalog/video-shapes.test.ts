// Tests what video models make: every shipped model has a shape, and details in a model's name apply.

import { expect, test } from 'bun:test'
import { shippedModels } from './shipped-models.ts'
import { videoShape } from './video-shapes.ts'

test('the longest beginning of a name decides, behind a maker’s name too', () => {
  expect(videoShape('sora-2').sizes).toEqual(['720x1280', '1280x720'])
  expect(videoShape('sora-2-2026-10-01').seconds).toEqual([4, 8, 12])
  expect(videoShape('sora-2-pro').sizes).toContain('1024x1792')
  expect(videoShape('openai/sora-2-pro').sizes).toContain('1792x1024')
  expect(videoShape('veo-3.1-generate-preview').sizes).toContain('3840x2160')
  expect(videoShape('veo-3.0-fast').sizes).not.toContain('3840x2160')
  expect(videoShape('veo-2.0-generate-001').usualSeconds).toBe(8)
  expect(videoShape('sandbox/video+first=9').sizes).toContain('320x180')
})

test('a name that says portrait or landscape makes that alone', () => {
  expect(videoShape('film-portrait').sizes).toEqual(['720x1280'])
  expect(videoShape('film-landscape', 'kling-v2-6')).toMatchObject({
    sizes: ['1280x720', '1920x1080'],
    seconds: [5, 10],
  })
  expect(videoShape('clip', 'studio/film-9-landscape').sizes).toEqual(['1280x720'])
  expect(videoShape('film-portrait', 'film-9-landscape').sizes).toEqual(['720x1280'])
  expect(videoShape('sora-2-pro-landscape').sizes).toEqual(['1280x720', '1792x1024', '1920x1080'])
})

test('what nobody described takes anything', () => {
  expect(videoShape('clip', 'MiniMax-Hailuo-02').seconds).toEqual([6, 10])
  expect(videoShape('film', 'film-9')).toEqual({ sizes: null, seconds: null, usualSeconds: 4 })
})

test('what is made unless asked is among what can be', () => {
  const videos = shippedModels.flatMap(({ models }) =>
    Object.entries(models).flatMap(([id, { kind }]) => (kind === 'video' ? [id] : [])),
  )
  expect(videos.length).toBeGreaterThan(10)
  for (const id of videos) {
    const { seconds, usualSeconds } = videoShape(id)
    expect([id, seconds === null || seconds.includes(usualSeconds)]).toEqual([id, true])
  }
})
