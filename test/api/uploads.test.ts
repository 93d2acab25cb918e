// Forms with files: what the vendor gets of them, and how each that is wrong is refused.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { toFile } from 'openai'
import { authorized, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { expectRefusal } from '../support/requests.ts'
import { png, wav } from '../support/samples.ts'
import { json, type Received, startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
const imageBytes = 200_000
const audioBytes = 300_000

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('*', [json(200, { created: 1, data: [{ b64_json: 'AAAA' }] })])
  const names = ['paint', 'hear']
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
  expect(names).toHaveLength(2)
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

test('a request without a form is refused where only a form will do', async () => {
  const reply = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { ...authorized(), 'content-type': 'application/json' },
    body: '{"model":"hear"}',
  })
  await expectRefusal(reply, 415, 'unsupported_media_type')
})
