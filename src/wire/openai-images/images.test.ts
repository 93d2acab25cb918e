// Tests requests, replies and streams of images, byte by byte.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../ir.ts'
import type { WatchOptions } from '../reply.ts'
import { frameKind } from '../reply.ts'
import type { FileInfo } from '../request.ts'
import { imageDialects } from './dialects.ts'
import { ImageWatcher } from './watcher.ts'

const generations = imageDialects['openai-images']
const edits = imageDialects['openai-image-edits']
const variations = imageDialects['openai-image-variations']
const encoder = new TextEncoder()
const ask = (body: object) =>
  generations.client.peek(encoder.encode(JSON.stringify({ model: 'm', prompt: 'a cat', ...body })))
const file = (field: string, type = 'image/png'): FileInfo => ({
  field,
  name: 'a.png',
  type,
  size: 9,
  seconds: null,
})

test.each([
  [{ n: 0 }, 'n'],
  [{ n: 11 }, 'n'],
  [{ n: 1.5 }, 'n'],
  [{ n: '1' }, 'n'],
  [{ prompt: '' }, 'prompt'],
  [{ prompt: null }, 'prompt'],
  [{ prompt: ['a'] }, 'prompt'],
  [{ size: 1024 }, 'size'],
  [{ response_format: 'png' }, 'response_format'],
  [{ background: 'blue' }, 'background'],
  [{ output_format: 'bmp' }, 'output_format'],
  [{ output_compression: 101 }, 'output_compression'],
  [{ moderation: 'high' }, 'moderation'],
  [{ partial_images: 4 }, 'partial_images'],
  [{ style: 'plain' }, 'style'],
  [{ stream: 'yes' }, 'stream'],
  [{ user: 1 }, 'user'],
])('%j is refused for %s', (body, param) => {
  expect(() => ask(body)).toThrow(
    expect.objectContaining({ code: 'invalid_request_error', detail: { param } }),
  )
})

test('what is charged and held: by size and quality, as often as asked', () => {
  expect(ask({ n: 2, size: '1024x1536', quality: 'high' })).toMatchObject({
    units: { 'image/1024x1536/high': 2 },
    choices: 2,
    maxOutputTokens: 6_240,
  })
  expect(ask({ quality: 'low', size: '1024x1024' }).maxOutputTokens).toBe(272)
  expect(ask({ quality: 'medium', size: '1536x1024' }).maxOutputTokens).toBe(1_568)
  expect(ask({ size: 'auto', quality: 'auto' })).toMatchObject({
    units: { image: 1 },
    maxOutputTokens: 6_240,
  })
  expect(ask({ size: '512x512' }).units).toEqual({ 'image/512x512': 1 })
  expect(ask({ quality: 'hd' }).units).toEqual({ 'image/hd': 1 })
  const shown = ask({ stream: true, partial_images: 3, size: '1024x1024', quality: 'low' })
  expect(shown.maxOutputTokens).toBe(572)
})

test.each(['constructor', '__proto__', 'toString'])(
  'held as for the best: quality %s',
  (quality) => {
    for (const size of ['1024x1024', '1536x1024', '2048x2048', quality])
      expect(ask({ size, quality }).maxOutputTokens).toBe(
        ask({ size, quality: 'high' }).maxOutputTokens ?? 0,
      )
  },
)

test('an image of 4K is held by its area', () => {
  const { maxOutputTokens } = ask({ size: '3840x2160', quality: 'high' })
  expect(maxOutputTokens).toBeGreaterThan((4_160 * 3840 * 2160) / 1024 ** 2)
})

describe('edits', () => {
  const form = (files: readonly FileInfo[], body = {}) =>
    edits.client.peek(encoder.encode(JSON.stringify({ model: 'm', prompt: 'x', ...body })), {
      files,
    })

  test('a form needs an image, at most sixteen, of a type that is one', () => {
    expect(() => form([])).toThrow('image is required')
    expect(() => form([file('mask')])).toThrow('image is required')
    expect(() => form(Array.from({ length: 17 }, () => file('image')))).toThrow('at most 16')
    expect(() => form([file('image', 'text/plain')])).toThrow('not text/plain')
    expect(form([file('image'), file('image'), file('mask')]).picture?.inputs).toBe(3)
  })

  test('images given are held as tokens, fewer where the client asks for it', () => {
    const plain = form([file('image')]).inputTokens ?? 0
    expect(plain).toBeGreaterThanOrEqual(8_192)
    expect(form([file('image')], { input_fidelity: 'low' }).inputTokens).toBe(plain - 7_168)
  })

  const json = (body: object) =>
    edits.client.peek(encoder.encode(JSON.stringify({ model: 'm', prompt: 'x', ...body })))

  test.each([
    [{}, 'images'],
    [{ images: [] }, 'images'],
    [{ images: {} }, 'images'],
    [{ images: ['a'] }, 'images[0]'],
    [{ images: [{ image_url: 'https://a.b/c.png' }, {}] }, 'images[1].image_url'],
    [{ images: [{ image_url: 'file:///etc/passwd' }] }, 'images[0].image_url'],
    [{ images: [{ image_url: 'data:text/html,x' }] }, 'images[0].image_url'],
    [{ images: [{ image_url: 7 }] }, 'images[0].image_url'],
    [{ images: [{ file_id: 'file-1' }] }, 'images[0].file_id'],
    [{ images: [{ image_url: 'https://a.b/c' }], mask: 'm' }, 'mask'],
  ])('%j is refused for %s', (body, param) => {
    expect(() => json(body)).toThrow(expect.objectContaining({ detail: { param } }))
  })

  test('as JSON: a long image is no prompt', () => {
    const image_url = `data:image/png;base64,${'A'.repeat(900_000)}`
    expect(json({ images: [{ image_url }], mask: { image_url } })).toMatchObject({
      picture: { inputs: 2 },
      inputTokens: 1 + 2 * 8_192,
    })
  })
})

test('variations take one image and no prompt', () => {
  const body = encoder.encode('{"model":"dall-e-2","n":3,"size":"256x256"}')
  expect(variations.client.peek(body, { files: [file('image')] })).toMatchObject({
    units: { 'image/256x256': 3 },
  })
  expect(() => variations.client.peek(body, { files: [file('image'), file('image')] })).toThrow(
    'one file',
  )
  expect(() => variations.client.peek(body, {})).toThrow('image is required')
})

const cat = {
  created: 1_713_833_628,
  data: [{ b64_json: 'iVBORw0KGgo=' }],
  background: 'opaque',
  output_format: 'png',
  quality: 'high',
  size: '1024x1024',
  usage: {
    input_tokens: 50,
    input_tokens_details: { text_tokens: 10, image_tokens: 40 },
    output_tokens: 4_160,
    total_tokens: 4_210,
  },
}
const usage = { input: 10, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

describe('whole replies', () => {
  const whole = (reply: object, body = {}) =>
    generations.identity.whole(encoder.encode(JSON.stringify(reply)), ask(body), {})

  test('usage by text and images; auto is charged as what came', () => {
    const { fault, usage: seen, units } = whole(cat, { size: 'auto', quality: 'auto' })
    expect(fault).toBeNull()
    expect(seen).toEqual({ ...usage, imageInput: 40, imageOutput: 4_160 })
    expect(units).toEqual({ 'image/1024x1024/high': 1 })
  })

  test('images are charged as asked, and counted as they came', () => {
    const one = { b64_json: 'AAAA' }
    const reply = { created: 1, data: [one, one, one] }
    expect(whole(reply, { n: 4, size: '512x512' }).units).toEqual({ 'image/512x512': 3 })
  })

  test('output of text and images is told apart where the vendor does', () => {
    const output_tokens_details = { image_tokens: 4_000, text_tokens: 160 }
    const detailed = { ...cat, usage: { ...cat.usage, output_tokens_details } }
    expect(whole(detailed).usage).toMatchObject({ imageOutput: 4_000, output: 160 })
  })

  test.each([
    [{ created: 1, data: [] }, 'unreadable'],
    [{ created: 1, data: [{}, { b64_json: '' }, { url: null }] }, 'unreadable'],
    [{ created: 1 }, 'unreadable'],
    [{ error: { message: 'no', code: 'moderation_blocked', type: 'x' } }, 'rejected'],
  ])('%j is a fault', (reply, kind) => {
    expect(whole(reply).fault?.kind).toBe(kind as 'unreadable')
  })

  test('of any size: the end says what the whole says', () => {
    const text = JSON.stringify({ ...cat, data: [{ b64_json: 'A'.repeat(500_000) }] })
    const end = encoder.encode(text.slice(-2_000))
    const seen = generations.identity.tail(end, {}, ask({ size: 'auto', n: 2 }), 1)
    expect(seen.usage).toEqual({ ...usage, imageInput: 40, imageOutput: 4_160 })
    expect(seen.units).toEqual({ 'image/1024x1024/high': 1 })
    expect(generations.identity.tail(end, {}, ask({ size: '256x256', n: 2 }), 0).units).toEqual({
      'image/256x256/high': 2,
    })
  })
})

describe('streams', () => {
  const options = (body: object = {}): WatchOptions => ({
    wantsUsage: true,
    quirks: {},
    peek: ask({ stream: true, ...body }),
  })
  const see = (watcher: ImageWatcher, event: JsonObject, name = String(event['type'])) => {
    const bytes = encoder.encode(`event: ${name}\ndata: ${JSON.stringify(event)}\n\n`)
    return watcher.frame(bytes, 0, bytes.length)
  }
  const partial = {
    type: 'image_generation.partial_image',
    b64_json: 'AAAA',
    partial_image_index: 0,
  }
  const { created: _created, data: _data, ...done } = cat
  const completed = { type: 'image_generation.completed', b64_json: 'AAAA', ...done }

  test('images on the way, then the image with its usage', () => {
    const watcher = new ImageWatcher(options({ size: 'auto' }))
    expect(see(watcher, partial)).toBe(frameKind.semantic)
    expect(watcher.finishReason).toBeNull()
    expect(watcher.units).toBeNull()
    expect(see(watcher, completed)).toBe(frameKind.usage)
    expect(watcher.usage).toEqual({ ...usage, imageInput: 40, imageOutput: 4_160 })
    expect(watcher.units).toEqual({ 'image/1024x1024/high': 1 })
    expect(watcher.finishReason).toBe('stop')
  })

  test('several images: each tells its own, the last ends it', () => {
    const watcher = new ImageWatcher(options({ n: 2 }))
    see(watcher, completed)
    expect(watcher.finishReason).toBeNull()
    see(watcher, completed)
    expect(watcher.finishReason).toBe('stop')
    expect(watcher.usage).toMatchObject({ input: 20, imageInput: 80, imageOutput: 8_320 })
    expect(watcher.units).toEqual({ 'image/1024x1024/high': 2 })
  })

  test('edits have names of their own', () => {
    const watcher = new ImageWatcher(options())
    expect(see(watcher, { ...partial, type: 'image_edit.partial_image' })).toBe(frameKind.semantic)
    expect(see(watcher, { ...completed, type: 'image_edit.completed' })).toBe(frameKind.usage)
  })

  test('an error event is a fault; what is not known is passed', () => {
    const watcher = new ImageWatcher(options())
    expect(see(watcher, { type: 'image_generation.queued' })).toBe(frameKind.lifecycle)
    const error = { type: 'error', error: { code: 'rate_limit_exceeded', message: 'slow' } }
    expect(see(watcher, error)).toBe(frameKind.fault)
    expect(watcher.fault?.kind).toBe('rate_limited')
  })

  test('an image that passed is read at its beginning and its end', () => {
    const ends = { ...completed, b64_json: 'A'.repeat(9_000) }
    const text = `event: ${ends.type}\ndata: ${JSON.stringify(ends)}\n\n`
    const first = { usage: done.usage, type: ends.type, size: '1024x1024', b64_json: ends.b64_json }
    const turned = `data: ${JSON.stringify(first)}\n\n`
    for (const frame of [text, turned]) {
      const watcher = new ImageWatcher(options({ size: 'auto', quality: 'high' }))
      const bytes = encoder.encode(frame)
      expect(watcher.mayPass(bytes.subarray(0, 4_096))).toBe(true)
      expect(watcher.passed(bytes.subarray(0, 4_096), bytes.subarray(-2_000))).toBe(frameKind.usage)
      expect(watcher.usage).toEqual({ ...usage, imageInput: 40, imageOutput: 4_160 })
      expect(watcher.units).toEqual({ 'image/1024x1024/high': 1 })
      expect(watcher.finishReason).toBe('stop')
    }
    const watcher = new ImageWatcher(options())
    const part = encoder.encode(JSON.stringify({ ...partial, b64_json: ends.b64_json }))
    expect(watcher.passed(part.subarray(0, 4_096), part.subarray(-500))).toBe(frameKind.semantic)
    expect(watcher.usage).toBeNull()
    expect(watcher.passed(part.subarray(0, 4_096), part.subarray(0, -1))).toBe(frameKind.fault)
    expect(watcher.fault?.kind).toBe('cut')
    for (const other of ['<html>', ': a comment', 'data: <html>'])
      expect(watcher.mayPass(encoder.encode(other))).toBe(false)
  })

  test('the cost stands in the usage, also of the end of an image', () => {
    const text = `AAAA","usage":{"input_tokens":1},"size":"auto"}\n\n`
    const shown = generations.client.withCost(encoder.encode(text), '0.25')
    expect(new TextDecoder().decode(shown)).toBe(
      `AAAA","usage":{"cost":"0.25","input_tokens":1},"size":"auto"}\n\n`,
    )
    const bare = encoder.encode('{"data":[{"url":"u"}]}')
    expect(generations.client.withCost(bare, '1')).toBe(bare)
  })

  test('comments, an end mark, and what is no JSON', () => {
    const frame = (text: string) => {
      const bytes = encoder.encode(text)
      return new ImageWatcher(options()).frame(bytes, 0, bytes.length)
    }
    expect(frame(': wait\n\n')).toBe(frameKind.lifecycle)
    expect(frame('data: [DONE]\n\n')).toBe(frameKind.done)
    expect(frame('data: <html>\n\n')).toBe(frameKind.fault)
    expect(frame('data: {"type":\n\n')).toBe(frameKind.fault)
  })
})
