// Tests forms with files: what the vendor gets of them, and how each malformed one is refused.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toFile } from 'openai'
import { openaiClient, pace } from '../support/clients.ts'
import {
  audioBytes,
  edits,
  end,
  type FormStage,
  field,
  file,
  headOf,
  hear,
  imageBytes,
  paint,
  part,
  startFormStage,
  transcriptions,
} from '../support/forms.ts'
import { expectRefusal } from '../support/requests.ts'
import { png, wav } from '../support/samples.ts'
import { parseReply, portOf, RawClient } from '../support/socket.ts'
import type { Received } from '../support/upstream.ts'

let stage: FormStage
beforeAll(async () => {
  stage = await startFormStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

/** The form that the vendor was sent, read by an independent reader. */
function received({ headers, body }: Received) {
  const type = headers.get('content-type') ?? ''
  return new Response(Uint8Array.from(body), { headers: { 'content-type': type } }).formData()
}

async function lastForm() {
  const last = stage.upstream.requests.at(-1)
  if (last === undefined) throw new Error('the vendor was asked nothing')
  return received(last)
}

describe('the official SDK', () => {
  test('edits an image with several files', async () => {
    const client = openaiClient(stage.gateway.url)
    const [first, second] = [png(3, 2), png(300, 200)]
    await client.images.edit({
      model: 'paint',
      prompt: 'grüner',
      n: 2,
      image: [await toFile(first, 'a.png'), await toFile(second, 'b.png')],
      mask: await toFile(first, 'm.png'),
    })
    const form = await lastForm()
    expect(form.get('model')).toBe('vendors-paint')
    expect(form.get('prompt')).toBe('grüner')
    expect(form.get('n')).toBe('2')
    const images = form.getAll('image[]') as File[]
    expect(images.map(({ name, type }) => [name, type])).toEqual([
      ['a.png', 'image/png'],
      ['b.png', 'image/png'],
    ])
    expect(await Promise.all(images.map((image) => image.bytes()))).toEqual([
      Uint8Array.from(first),
      Uint8Array.from(second),
    ])
  })

  test('hears a sound that goes to disk on its way', async () => {
    const sound = wav(16)
    expect(sound.length).toBeGreaterThan(250_000)
    const reply = await openaiClient(stage.gateway.url).audio.transcriptions.create({
      model: 'hear',
      file: await toFile(sound, 'speech.wav'),
    })
    expect(reply.text).toBe('hello')
    const file = (await lastForm()).get('file') as File
    expect(Buffer.from(await file.bytes()).equals(sound)).toBe(true)
    expect(readdirSync(join(stage.gateway.dataDir, 'tmp'))).toEqual([])
  })

  test('says lists and objects, which reach the vendor as it says them', async () => {
    await openaiClient(stage.gateway.url).audio.transcriptions.create({
      model: 'hear',
      file: await toFile(wav(1), 'speech.wav'),
      response_format: 'json',
      include: ['logprobs'],
      temperature: 0.5,
      chunking_strategy: { type: 'server_vad', threshold: 0.25, silence_duration_ms: 300 },
    })
    const form = await lastForm()
    const texts = [...form].filter(([, value]) => typeof value === 'string')
    expect(Object.fromEntries(texts)).toEqual({
      model: 'vendors-hear',
      response_format: 'json',
      'include[]': 'logprobs',
      temperature: '0.5',
      'chunking_strategy[type]': 'server_vad',
      'chunking_strategy[threshold]': '0.25',
      'chunking_strategy[silence_duration_ms]': '300',
    })
  })
})

const dot = png(1, 1)

describe('what the vendor gets', () => {
  test('any name of a list is one, and a path is no name', async () => {
    const names = ['image', 'image[]', 'image[0]', 'image[7]']
    const paths = ['../../x.png', 'C:\\y.png', '/etc/z.png', '..']
    const files = names.map((name, at) => file(name, paths[at]?.replace(/\\/g, '\\\\') ?? '', dot))
    const reply = await stage.send(edits, [...paint, ...files, file('mask[]', 'm.png', dot), end])
    expect(reply.status).toBe(200)
    const form = await lastForm()
    const images = form.getAll('image[]') as File[]
    expect(images.map(({ name }) => name)).toEqual(['x.png', 'y.png', 'z.png', 'image.png'])
    expect((form.get('mask') as File).name).toBe('m.png')
  })

  test('what nobody knows passes as it came, once and several times', async () => {
    const more = [field('user', 'me'), field('tags[]', 'a'), field('tags[]', 'b')]
    const reply = await stage.send(edits, [...paint, file('image', 'a.png', dot), ...more, end])
    expect(reply.status).toBe(200)
    const form = await lastForm()
    expect(form.get('user')).toBe('me')
    expect(form.getAll('tags[]')).toEqual(['a', 'b'])
  })

  test('what the bytes are counts, not what they are called', async () => {
    const reply = await stage.send(edits, [...paint, file('image', 'a.txt', dot), end])
    expect(reply.status).toBe(200)
    // Vendors decide by the file name's ending.
    const sent = stage.upstream.requests.at(-1)?.body.toString('latin1').toLowerCase()
    expect(sent).toContain('filename="a.txt.png"\r\ncontent-type: image/png\r\n\r\n')
  })

  test('a long upload that is moving may take as long as it needs', async () => {
    const sound = wav(16)
    const client = await RawClient.open(portOf(stage.gateway.url))
    const whole = Buffer.concat([...hear, file('file', 'a.wav', sound), end])
    client.send(headOf(transcriptions, `content-length: ${whole.length}`))
    for (let at = 0; at < whole.length; at += 70_000) {
      client.send(whole.subarray(at, at + 70_000))
      await pace(450)
    }
    const reply = parseReply(await client.until((text) => text.includes('hello')))
    expect(reply.status).toBe(200)
    client.socket.destroy()
  })
})

type Bad = readonly [
  what: string,
  path: string,
  parts: readonly Uint8Array[],
  status: number,
  code: string,
  param: string | null,
  says: RegExp,
]
const invalid = 'invalid_request_error'
const tooLarge = 'request_too_large'
const image = file('image', 'a.png', dot)
const jpeg = readFileSync(join(import.meta.dirname, '../fixtures/media/image.jpg'))
const bad: readonly Bad[] = [
  [
    'an image its model does not take',
    edits,
    [field('model', 'dall-e-2'), field('prompt', 'x'), file('image', 'a.png', jpeg), end],
    400,
    invalid,
    'image',
    /must be png for the model 'dall-e-2'; this file is image\/jpeg/,
  ],
  ['nothing', edits, [], 400, invalid, null, /boundary is not in the body/],
  ['JSON', edits, [Buffer.from('{"model":"paint"}')], 400, invalid, null, /boundary is not in/],
  ['no closing boundary', edits, [...paint, image], 400, invalid, 'image', /before its closing/],
  ['no model', edits, [image, end], 400, invalid, 'model', /model is required/],
  [
    'an empty file',
    edits,
    [...paint, file('image', 'a.png', ''), end],
    400,
    invalid,
    'image',
    /image is empty/,
  ],
  [
    'a text for a file',
    edits,
    [...paint, field('image', 'x'), end],
    400,
    invalid,
    'image',
    /must be a file/,
  ],
  [
    'a file for a text',
    edits,
    [...paint, file('size', 's', 'x'), end],
    400,
    invalid,
    'size',
    /must be text/,
  ],
  [
    'a file nobody knows',
    edits,
    [...paint, image, file('other', 'o', 'x'), end],
    400,
    invalid,
    'other',
    /files are taken in image, mask/,
  ],
  ['a text twice', edits, [...paint, ...paint, image, end], 400, invalid, 'model', /only once/],
  [
    'a single file twice',
    edits,
    [...paint, image, file('mask', 'm', dot), file('mask', 'n', dot), end],
    400,
    invalid,
    'mask',
    /only once/,
  ],
  [
    'no number',
    edits,
    [...paint, image, field('n', 'two'), end],
    400,
    invalid,
    'n',
    /n must be a number/,
  ],
  [
    'a number out of range',
    edits,
    [...paint, image, field('n', '11'), end],
    400,
    invalid,
    'n',
    /between 1 and 10/,
  ],
  [
    'neither true nor false',
    edits,
    [...paint, image, field('stream', '1'), end],
    400,
    invalid,
    'stream',
    /true or false/,
  ],
  [
    'no UTF-8',
    edits,
    [...paint, image, part('name="user"', Buffer.of(0xff, 0xfe)), end],
    400,
    invalid,
    'user',
    /UTF-8/,
  ],
  [
    'a text that is no image',
    edits,
    [...paint, file('image', 'a.png', '<!doctype html>'), end],
    400,
    invalid,
    'image',
    /png, jpeg, webp, gif; this file is none/,
  ],
  [
    'a sound for an image',
    edits,
    [...paint, file('image', 'a.png', wav(1)), end],
    400,
    invalid,
    'image',
    /png, jpeg, webp, gif; this file is audio\/wav/,
  ],
  [
    'an image for a sound',
    transcriptions,
    [...hear, file('file', 'a.mp3', dot), end],
    400,
    invalid,
    'file',
    /flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav, webm; this file is image\/png/,
  ],
  [
    'many parts',
    edits,
    [...Array.from({ length: 101 }, (_, at) => field(`x${at}`, 'x')), end],
    400,
    invalid,
    null,
    /more than 100 parts/,
  ],
  [
    'a long text',
    edits,
    [...paint, field('user', 'u'.repeat(65_537)), end],
    413,
    tooLarge,
    'user',
    /user is larger than 65536 bytes/,
  ],
  [
    'a long prompt',
    edits,
    [field('prompt', 'u'.repeat(131_073)), end],
    413,
    tooLarge,
    'prompt',
    /131072/,
  ],
  [
    'a large image',
    edits,
    [...paint, file('image', 'a.png', Buffer.alloc(imageBytes + 1)), end],
    413,
    tooLarge,
    'image',
    /200000 bytes \(uploads\.maxImageBytes\)/,
  ],
  [
    'a large sound',
    transcriptions,
    [...hear, file('file', 'a.wav', Buffer.alloc(audioBytes + 1)), end],
    413,
    tooLarge,
    'file',
    /300000 bytes \(uploads\.maxAudioBytes\)/,
  ],
  [
    'a large form',
    edits,
    [...paint, Buffer.alloc(1_000_000), end],
    413,
    tooLarge,
    null,
    /1000000 bytes/,
  ],
]

describe('refused, and the vendor hears nothing', () => {
  test.each(bad)('%s', async (_what, path, parts, status, code, param, says) => {
    const asked = stage.upstream.requests.length
    const error = await expectRefusal(await stage.send(path, parts), status, code)
    expect(error.param).toBe(param)
    expect(error.message).toMatch(says)
    expect(stage.upstream.requests).toHaveLength(asked)
    expect(stage.openFiles()).toBe(0)
  })

  test.each([
    ['multipart/form-data', 400, invalid],
    [`multipart/form-data; boundary=${'b'.repeat(71)}`, 400, invalid],
    ['multipart/form-data; boundary="b "', 400, invalid],
    ['text/plain', 415, 'unsupported_media_type'],
    ['application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
  ])('%s', async (type, status, code) => {
    for (const path of [edits, transcriptions])
      await expectRefusal(await stage.send(path, [...paint, image, end], type), status, code)
  })

  test('JSON, or nothing said, where only a form will do', async () => {
    await expectRefusal(
      await stage.send(transcriptions, [Buffer.from('{"model":"hear"}')], 'application/json'),
      415,
      'unsupported_media_type',
    )
  })

  test('a form where none is taken', async () => {
    const reply = await stage.send('/v1/chat/completions', [...paint, end])
    await expectRefusal(reply, 415, 'unsupported_media_type')
  })
})
