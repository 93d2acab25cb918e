// Tests that the gateway's memory does not grow with many large uploads and results at once, since they are on disk.

import { expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { isLong, repetitions } from '../support/long.ts'
import { wav } from '../support/samples.ts'

const count = repetitions(3, 50)
const fileBytes = 25_000_000
const imageBytes = 8_000_000
/** The limit for the whole process, at any moment. */
const limitBytes = 200_000_000

interface Vendor extends AsyncDisposable {
  readonly url: string
  /** Bytes of each request's body. */
  readonly received: number[]
}

/** Accepts everything, keeps nothing, and answers only after the whole request. */
function startVendor(reply: Uint8Array): Vendor {
  const received: number[] = []
  const all = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: 0,
    async fetch(request) {
      let bytes = 0
      for await (const chunk of request.body ?? []) bytes += chunk.length
      received.push(bytes)
      if (received.length === count) all.resolve()
      await all.promise
      return new Response(reply as BodyInit, { headers: { 'content-type': 'application/json' } })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    received,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** The peak memory of the process, in bytes. */
function peakBytes({ pid }: Gateway): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

function expectFlat(gateway: Gateway, what: string): void {
  const peak = peakBytes(gateway)
  console.log(`${count} ${what} at once: at most ${Math.round(peak / 1e6)} MB resident`)
  if (isLong) expect(peak).toBeLessThan(limitBytes)
}

function atOnce<Result>(work: () => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, work))
}

/** A form with one file, a piece at a time. */
async function* form(): AsyncGenerator<Uint8Array> {
  const head = wav(1)
  yield Buffer.from(
    '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nhear\r\n' +
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
  )
  yield head
  const piece = Buffer.alloc(65_536)
  for (let left = fileBytes - head.length; left > 0; left -= piece.length)
    yield piece.subarray(0, Math.min(left, piece.length))
  yield Buffer.from('\r\n--b--\r\n')
}

const limitMs = 300_000

test(
  'uploads of 25 MB',
  async () => {
    await using vendor = startVendor(Buffer.from('{"text":"hello"}'))
    await using gateway = await startGateway({
      config: {
        channels: [
          { id: 'a', vendor: 'openai', baseUrl: `${vendor.url}/v1`, key: 'k', models: ['hear'] },
        ],
        models: { hear: { kind: 'transcription', prices: { second: '100' } } },
      },
    })
    const replies = await atOnce(async () => {
      const reply = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.key}`,
          'content-type': 'multipart/form-data; boundary=b',
        },
        body: form() as unknown as BodyInit,
      })
      return `${reply.status} ${await reply.text()}`
    })
    expect(new Set(replies)).toEqual(new Set(['200 {"text":"hello"}']))
    expect(vendor.received).toHaveLength(count)
    for (const bytes of vendor.received) {
      expect(bytes).toBeGreaterThan(fileBytes)
      expect(bytes).toBeLessThan(fileBytes + 1_000)
    }
    expectFlat(gateway, 'uploads of 25 MB')
  },
  limitMs,
)

const png = Buffer.alloc(imageBytes, 7)
png.set(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
const data = png.toString('base64')
const byOpenai = { created: 1, data: [{ b64_json: data }] }
const byGemini = {
  candidates: [
    { content: { parts: [{ inlineData: { mimeType: 'image/png', data } }] }, finishReason: 'STOP' },
  ],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290, totalTokenCount: 1295 },
}

const replies = [
  ['passed on as they come', 'openai', '/v1', 'painter', byOpenai, 'b64_json'],
  ['put into base64 again', 'google', '', 'gemini-2.5-flash-image', byGemini, 'b64_json'],
  ['hosted', 'google', '', 'gemini-2.5-flash-image', byGemini, 'url'],
] as const

test.each(replies)(
  'images of 8 MB %s',
  async (how, vendorId, path, model, reply, format) => {
    await using vendor = startVendor(Buffer.from(JSON.stringify(reply)))
    await using gateway = await startGateway({
      config: {
        channels: [
          { id: 'a', vendor: vendorId, baseUrl: vendor.url + path, key: 'k', models: [model] },
        ],
        models: { [model]: { kind: 'image', prices: { image: '40000', input: '1', output: '1' } } },
      },
    })
    const lengths = await atOnce(async () => {
      const got = await gateway.post('/v1/images/generations', {
        model,
        prompt: 'a cat',
        response_format: format,
      })
      expect(got.status).toBe(200)
      let bytes = 0
      for await (const chunk of got.body ?? []) bytes += chunk.length
      return bytes
    })
    for (const bytes of lengths)
      if (format === 'url') expect(bytes).toBeLessThan(2_000)
      else expect(bytes).toBeGreaterThan(data.length)
    expectFlat(gateway, `images of 8 MB ${how}`)
  },
  limitMs,
)
