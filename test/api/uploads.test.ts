// Forms with files: what the vendor gets of them, and how each that is wrong is refused.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { toFile } from 'openai'
import { authorized, eventually, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { expectRefusal } from '../support/requests.ts'
import { png, wav } from '../support/samples.ts'
import { parseReply, portOf, RawClient } from '../support/socket.ts'
import { json, type Received, startUpstream, type Upstream, until } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
const imageBytes = 200_000
const audioBytes = 300_000

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('*', [json(200, { created: 1, data: [{ b64_json: 'AAAA' }] })])
  gateway = await startGateway({
    config: {
      server: { bodyTimeoutMs: 1_000 },
      uploads: { maxImageBytes: imageBytes, maxAudioBytes: audioBytes, maxFormBytes: 1_000_000 },
      channels: [
        {
          id: 'main',
          vendor: 'openai',
          baseUrl: upstream.url,
          key: 'sk-up',
          models: { paint: 'vendors-paint', hear: 'vendors-hear' },
        },
      ],
      models: {
        paint: { kind: 'image', prices: { image: '40000' } },
        hear: { kind: 'transcription', prices: { second: '100' } },
      },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

/** What the vendor was sent, read by somebody else's reader. */
function received({ headers, body }: Received) {
  const type = headers.get('content-type') ?? ''
  return new Response(Uint8Array.from(body), { headers: { 'content-type': type } }).formData()
}

async function lastForm() {
  const last = upstream.requests.at(-1)
  if (last === undefined) throw new Error('the vendor was asked nothing')
  return received(last)
}

describe('the official SDK', () => {
  test('edits an image with several files', async () => {
    const client = openaiClient(gateway.url)
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
    upstream.on('*', [json(200, { text: 'hello' })])
    const reply = await openaiClient(gateway.url).audio.transcriptions.create({
      model: 'hear',
      file: await toFile(sound, 'speech.wav'),
    })
    expect(reply.text).toBe('hello')
    const file = (await lastForm()).get('file') as File
    expect(Buffer.from(await file.bytes()).equals(sound)).toBe(true)
    expect(readdirSync(join(gateway.dataDir, 'tmp'))).toEqual([])
  })
})

/** What of uploads the gateway has on disk now: its files have no name. */
function openFiles(): number {
  const folder = `/proc/${gateway.pid}/fd`
  return readdirSync(folder).filter((file) => {
    try {
      return readlinkSync(join(folder, file)).startsWith(join(gateway.dataDir, 'tmp'))
    } catch {
      // Closed meanwhile.
      return false
    }
  }).length
}

const edits = '/v1/images/edits'
const transcriptions = '/v1/audio/transcriptions'
const formType = 'multipart/form-data; boundary=b'

function part(disposition: string, body: string | Uint8Array, type?: string): Buffer {
  const typed = type === undefined ? '' : `\r\nContent-Type: ${type}`
  return Buffer.concat([
    Buffer.from(`--b\r\nContent-Disposition: form-data; ${disposition}${typed}\r\n\r\n`),
    Buffer.from(body as string),
    Buffer.from('\r\n'),
  ])
}

const end = Buffer.from('--b--\r\n')
const field = (name: string, value: string) => part(`name="${name}"`, value)
const file = (name: string, fileName: string, bytes: string | Uint8Array) =>
  part(`name="${name}"; filename="${fileName}"`, bytes, 'application/octet-stream')
const paint = [field('model', 'paint'), field('prompt', 'a cat')]
const hear = [field('model', 'hear')]
const dot = png(1, 1)

function send(path: string, parts: readonly Uint8Array[], type = formType): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { ...authorized(), 'content-type': type },
    body: Buffer.concat(parts),
  })
}

describe('what the vendor gets', () => {
  test('any name of a list is one, and a path is no name', async () => {
    const names = ['image', 'image[]', 'image[0]', 'image[7]']
    const paths = ['../../x.png', 'C:\\y.png', '/etc/z.png', '..']
    const files = names.map((name, at) => file(name, paths[at]?.replace(/\\/g, '\\\\') ?? '', dot))
    const reply = await send(edits, [...paint, ...files, file('mask[]', 'm.png', dot), end])
    expect(reply.status).toBe(200)
    const form = await lastForm()
    const images = form.getAll('image[]') as File[]
    expect(images.map(({ name }) => name)).toEqual(['x.png', 'y.png', 'z.png', 'image.png'])
    expect((form.get('mask') as File).name).toBe('m.png')
  })

  test('what nobody knows passes as it came, once and several times', async () => {
    const more = [field('user', 'me'), field('tags[]', 'a'), field('tags[]', 'b')]
    const reply = await send(edits, [...paint, file('image', 'a.png', dot), ...more, end])
    expect(reply.status).toBe(200)
    const form = await lastForm()
    expect(form.get('user')).toBe('me')
    expect(form.getAll('tags[]')).toEqual(['a', 'b'])
  })

  test('what the bytes are counts, not what they are called', async () => {
    const reply = await send(edits, [...paint, file('image', 'a.txt', dot), end])
    expect(reply.status).toBe(200)
    const sent = upstream.requests.at(-1)?.body.toString('latin1')
    expect(sent).toContain('filename="a.txt"\r\ncontent-type: image/png\r\n\r\n')
  })

  test('a long upload that is moving may take as long as it needs', async () => {
    const sound = wav(16)
    const client = await RawClient.open(portOf(gateway.url))
    const whole = Buffer.concat([...hear, file('file', 'a.wav', sound), end])
    client.send(headOf(transcriptions, `content-length: ${whole.length}`))
    for (let at = 0; at < whole.length; at += 70_000) {
      client.send(whole.subarray(at, at + 70_000))
      await Bun.sleep(450)
    }
    const reply = parseReply(await client.until((text) => text.includes('hello')))
    expect(reply.status).toBe(200)
    client.socket.destroy()
  })
})

const headOf = (path: string, length: string) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\n` +
  `content-type: ${formType}\r\n${length}\r\n\r\n`

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
const bad: readonly Bad[] = [
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
    const asked = upstream.requests.length
    const error = await expectRefusal(await send(path, parts), status, code)
    expect(error.param).toBe(param)
    expect(error.message).toMatch(says)
    expect(upstream.requests).toHaveLength(asked)
    expect(openFiles()).toBe(0)
  })

  test.each([
    ['multipart/form-data', 400, invalid],
    [`multipart/form-data; boundary=${'b'.repeat(71)}`, 400, invalid],
    ['multipart/form-data; boundary="b "', 400, invalid],
    ['text/plain', 415, 'unsupported_media_type'],
    ['application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
  ])('%s', async (type, status, code) => {
    for (const path of [edits, transcriptions])
      await expectRefusal(await send(path, [...paint, image, end], type), status, code)
  })

  test('JSON, or nothing said, where only a form will do', async () => {
    await expectRefusal(
      await send(transcriptions, [Buffer.from('{"model":"hear"}')], 'application/json'),
      415,
      'unsupported_media_type',
    )
  })

  test('a form where none is taken', async () => {
    const reply = await send('/v1/chat/completions', [...paint, end])
    await expectRefusal(reply, 415, 'unsupported_media_type')
  })
})

describe('refused while it is still sent', () => {
  test('by its declared length, before a byte of it', async () => {
    for (const [path, length] of [
      [edits, 1_000_001],
      [transcriptions, 25_000_000],
    ] as const) {
      const client = await RawClient.open(portOf(gateway.url))
      client.send(headOf(path, `content-length: ${length}`))
      const reply = parseReply(await client.until((text) => text.includes(tooLarge)))
      expect(reply.status).toBe(413)
      client.socket.destroy()
    }
  })

  test('by what it comes to: its client has the answer and not a broken connection', async () => {
    const large = Buffer.alloc(60_000_000)
    const sdk = openaiClient(gateway.url)
    const call = sdk.images.edit({
      model: 'paint',
      prompt: 'p',
      image: await toFile(large, 'a.png'),
    })
    const error: unknown = await call.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 413, code: tooLarge })
    const chunked = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.concat([...paint, file('image', 'a.png', large), end]))
        controller.close()
      },
    })
    const reply = await fetch(gateway.url + edits, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': formType },
      body: chunked,
    })
    await expectRefusal(reply, 413, tooLarge)
    expect(openFiles()).toBe(0)
  })

  test('when it dawdles', async () => {
    const client = await RawClient.open(portOf(gateway.url))
    client.send(headOf(transcriptions, 'content-length: 200000'))
    client.send(Buffer.concat([...hear, file('file', 'a.wav', wav(6)).subarray(0, 90_000)]))
    const reply = parseReply(await client.until((text) => text.includes('request_timeout'), 20_000))
    expect(reply.status).toBe(408)
    await eventually(() => (openFiles() === 0 ? true : undefined))
    client.socket.destroy()
  })

  test('when its client leaves', async () => {
    const client = await RawClient.open(portOf(gateway.url))
    client.send(headOf(transcriptions, 'content-length: 200000'))
    client.send(Buffer.concat([...hear, file('file', 'a.wav', wav(6)).subarray(0, 90_000)]))
    await eventually(() => (openFiles() === 1 ? true : undefined))
    client.socket.destroy()
    await eventually(() => (openFiles() === 0 ? true : undefined))
  })
})

describe('what lies on disk goes', () => {
  const sound = file('file', 'a.wav', wav(16))

  test('when the vendor fails', async () => {
    upstream.on('*', [json(400, { error: { message: 'no', type: 'x', code: null } })])
    const reply = await send(transcriptions, [...hear, sound, end])
    expect(reply.status).toBe(400)
    expect(openFiles()).toBe(0)
  })

  test('when the client leaves while its vendor works', async () => {
    const never = Promise.withResolvers<void>()
    upstream.on('*', [until(never.promise)])
    const asked = upstream.requests.length
    const leaving = new AbortController()
    const reply = fetch(gateway.url + transcriptions, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': formType },
      body: Buffer.concat([...hear, sound, end]),
      signal: leaving.signal,
    })
    const { gone } = await upstream.arrived(asked + 1)
    expect(openFiles()).toBe(1)
    leaving.abort()
    await expect(reply).rejects.toThrow()
    await gone
    await eventually(() => (openFiles() === 0 ? true : undefined))
    never.resolve()
    upstream.on('*', [json(200, { text: 'hello' })])
  })
})

test('an Idempotency-Key holds for the same form, whatever its boundary, and for no other file', async () => {
  upstream.on('*', [json(200, { text: 'hello' })])
  const ask = (seconds: number, key: string) => {
    const form = new FormData()
    form.append('model', 'hear')
    form.append('file', new File([Uint8Array.from(wav(seconds))], 'a.wav'))
    const headers = { authorization: `Bearer ${gateway.key}`, 'idempotency-key': key }
    return fetch(gateway.url + transcriptions, { method: 'POST', headers, body: form })
  }
  expect((await ask(16, 'k')).status).toBe(200)
  const asked = upstream.requests.length
  const again = await ask(16, 'k')
  expect(again.status).toBe(200)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  await expectRefusal(await ask(15, 'k'), 422, 'idempotency_key_reused')
  expect(upstream.requests).toHaveLength(asked)
  expect(openFiles()).toBe(0)
})

test('where there is no room on disk: 503, and room comes back', async () => {
  await using small = await startGateway({
    config: {
      uploads: { maxSpoolBytes: 300_000 },
      channels: [
        { id: 'main', vendor: 'openai', baseUrl: upstream.url, key: 'k', models: ['hear'] },
      ],
      models: { hear: { kind: 'transcription', prices: { second: '100' } } },
    },
  })
  const post = (seconds: number) =>
    fetch(small.url + transcriptions, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': formType },
      body: Buffer.concat([...hear, file('file', 'a.wav', wav(seconds)), end]),
    })
  for (let time = 0; time < 3; time++) {
    const error = await expectRefusal(await post(30), 503, 'service_unavailable')
    expect(error.message).toContain('no room for uploads')
    expect((await post(16)).status).toBe(200)
  }
})
