// Many large uploads and results at once: the gateway's memory stays flat, for they lie on disk.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { wav } from '../support/samples.ts'

const uploads = 50
const fileBytes = 25_000_000
const limitBytes = 200_000_000

interface Vendor {
  readonly url: string
  /** Bytes of each request's body. */
  readonly received: number[]
  stop(): Promise<void>
}

/** Takes everything, keeps nothing, and answers nobody before it has heard all. */
function startVendor(): Vendor {
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
      if (received.length === uploads) all.resolve()
      await all.promise
      return Response.json({ text: 'hello' })
    },
  })
  return { url: `http://127.0.0.1:${server.port}/v1`, received, stop: () => server.stop(true) }
}

let vendor: Vendor
let gateway: Gateway

beforeAll(async () => {
  vendor = startVendor()
  gateway = await startGateway({
    config: {
      channels: [{ id: 'main', vendor: 'openai', baseUrl: vendor.url, key: 'k', models: ['hear'] }],
      models: { hear: { kind: 'transcription', prices: { second: '100' } } },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop()
})

/** The most memory the process ever had, in bytes. */
function peakRss(pid: number): number {
  const [, kilobytes = ''] =
    /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
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

test(`${uploads} uploads of 25 MB at once`, async () => {
  const replies = await Promise.all(
    Array.from({ length: uploads }, async () => {
      const reply = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.key}`,
          'content-type': 'multipart/form-data; boundary=b',
        },
        body: form() as unknown as BodyInit,
      })
      return [reply.status, await reply.json()]
    }),
  )
  expect(replies).toEqual(Array.from({ length: uploads }, () => [200, { text: 'hello' }]))
  expect(vendor.received).toHaveLength(uploads)
  for (const bytes of vendor.received) {
    expect(bytes).toBeGreaterThan(fileBytes)
    expect(bytes).toBeLessThan(fileBytes + 1_000)
  }
  const peak = peakRss(gateway.pid)
  console.log(`${uploads} uploads of 25 MB: at most ${Math.round(peak / 1e6)} MB resident`)
  expect(peak).toBeLessThan(limitBytes)
}, 300_000)
