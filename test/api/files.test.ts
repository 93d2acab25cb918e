// Tests hosted results over HTTP with a real gateway whose data folder another process of the same deployment writes
// to.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { createHosting } from '../../src/blobs/hosting.ts'
import { DiskFiles } from '../../src/blobs/hosting-disk.ts'
import { eventually } from '../support/clients.ts'
import { deploy } from '../support/deployment.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'

const key = 'the encryption key of this deployment'
const bytes = Buffer.from(Array.from({ length: 10_000 }, (_, index) => index % 251))
const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), bytes])

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ env: { ENCRYPTION_KEY: key } })
})
afterAll(async () => {
  await gateway.stop()
})

/** `agoMs`: how long ago it was hosted, by this process's clock. */
function host(body = png, { agoMs = 0, secret = key } = {}): Promise<string> {
  const nowMs = () => Date.now() - agoMs
  const folder = join(gateway.dataDir, 'media')
  const files = new DiskFiles({ folder, key: Buffer.from(secret), nowMs })
  const store = files.store(1_000_000_000)
  const hosting = createHosting({ store, urlHours: 24, nowMs, hosted: () => undefined })
  const read = (start: number, end: number) => body.subarray(start, end)
  const type = 'application/octet-stream'
  return hosting.host({ type, size: body.length, read }, 'acme', gateway.url)
}

/** Sends the path as it is written: a URL object would normalise it. */
function get(path: string): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(gateway.url)
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  httpRequest({ hostname, port, path }, (response) => {
    let body = ''
    response.on('data', (chunk: Buffer) => {
      body += chunk.toString('latin1')
    })
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
  })
    .on('error', reject)
    .end()
  return promise
}

async function errorOf(response: Response) {
  expect(response.headers.get('content-type')).toBe('application/json')
  const { error } = (await response.json()) as { error: { code: string; type: string } }
  return { status: response.status, code: error.code }
}

test('a file comes whole, typed, to whoever has its address', async () => {
  const response = await fetch(await host())
  expect(response.status).toBe(200)
  const headers = Object.fromEntries(response.headers)
  expect(headers).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(png.length),
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
  })
  expect(headers['content-disposition']).toMatch(/^inline; filename="[\w-]{32}\.png"$/)
  expect(headers['cache-control']).toMatch(/^private, max-age=863\d\d, immutable$/)
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  expect(headers['x-request-id']).toBeString()
  expect(png.equals(await response.bytes())).toBe(true)
})

test('HEAD tells what GET would bring', async () => {
  const response = await fetch(await host(), { method: 'HEAD' })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-length')).toBe(String(png.length))
  expect(response.headers.get('content-type')).toBe('image/png')
  expect((await response.bytes()).length).toBe(0)
})

describe('a part', () => {
  const size = png.length
  test.each([
    ['bytes=0-99', 0, 100],
    ['bytes=100-', 100, size],
    ['bytes=-100', size - 100, size],
    [`bytes=100-${size + 50}`, 100, size],
  ])('%s', async (range, start, end) => {
    const response = await fetch(await host(), { headers: { range } })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${size}`)
    expect(response.headers.get('content-length')).toBe(String(end - start))
    expect(png.subarray(start, end).equals(await response.bytes())).toBe(true)
  })

  test('is given where the rest is of the same file, else the whole', async () => {
    const address = await host()
    const etag = (await fetch(address)).headers.get('etag') ?? ''
    for (const [ifRange, status] of [
      [etag, 206],
      ['"another"', 200],
    ] as const) {
      const headers = { range: 'bytes=5-', 'if-range': ifRange }
      const response = await fetch(address, { headers })
      expect(response.status).toBe(status)
      const expected = status === 206 ? png.subarray(5) : png
      expect(expected.equals(await response.bytes())).toBe(true)
    }
  })

  test('behind the end is refused', async () => {
    const response = await fetch(await host(), { headers: { range: `bytes=${size}-` } })
    expect(response.status).toBe(416)
    expect(response.headers.get('content-range')).toBe(`bytes */${size}`)
  })
})

describe('not given', () => {
  test('without a signature it is an interface that is not offered, as below /v1', async () => {
    for (const path of ['/files/file-abc', '/v1/files/file-abc', '/files', '/v1/files']) {
      const response = await fetch(gateway.url + path)
      expect(await errorOf(response)).toEqual({ status: 404, code: 'unsupported_endpoint' })
    }
  })

  test.each(['expires', 'signature'])('with another %s', async (name) => {
    const url = new URL(await host())
    const value = url.searchParams.get(name) ?? ''
    url.searchParams.set(name, value.slice(0, -1) + (value.endsWith('1') ? '2' : '1'))
    expect(await errorOf(await fetch(url))).toEqual({ status: 403, code: 'invalid_signature' })
    url.searchParams.delete(name)
    expect(await errorOf(await fetch(url))).toEqual({ status: 403, code: 'invalid_signature' })
  })

  test('by guessing a name', async () => {
    const url = new URL(await host())
    url.pathname = `/files/${'A'.repeat(32)}.png`
    expect(await errorOf(await fetch(url))).toEqual({ status: 403, code: 'invalid_signature' })
  })

  test('signed with another key', async () => {
    const response = await fetch(await host(png, { secret: 'another key' }))
    expect(await errorOf(response)).toEqual({ status: 403, code: 'invalid_signature' })
  })

  test('after its time', async () => {
    const response = await fetch(await host(png, { agoMs: 24 * 3_600_000 }))
    expect(await errorOf(response)).toEqual({ status: 410, code: 'file_expired' })
  })

  test.each([
    '/files/../encryption.key',
    '/files/..%2fencryption.key',
    '/files/..%2f..%2ftollgate.yaml',
    '/files/%2e%2e%2ftollgate.yaml',
    '/files/....//tollgate.yaml',
    '/files/%00',
    '/files//etc/passwd',
  ])('%s', async (path) => {
    const { search } = new URL(await host())
    for (const query of ['', search]) {
      const { status, body } = await get(path + query)
      expect([403, 404]).toContain(status)
      expect(JSON.parse(body)).toHaveProperty('error')
    }
  })

  test('by other methods', async () => {
    const response = await fetch(await host(), { method: 'DELETE' })
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect(await errorOf(response)).toEqual({ status: 405, code: 'method_not_allowed' })
  })
})

test('what expired while no gateway ran is removed when one starts', async () => {
  const deployment = await deploy({ databaseUrl: null, credits: { acme: '1' } })
  try {
    const folder = join(deployment.dataDir(), 'media')
    const hour = Math.floor(Date.now() / 3_600_000)
    for (const each of [hour - 30, hour - 2, hour + 1])
      await Bun.write(join(folder, String(each), `${'A'.repeat(32)}.png`), png)
    await deployment.start()
    await eventually(() => readdirSync(folder).length === 1 || undefined)
    expect(readdirSync(folder)).toEqual([String(hour + 1)])
  } finally {
    await deployment.remove()
  }
})

test('without a key from its operator a gateway makes one, and keeps it', async () => {
  await using fresh = await startGateway()
  const path = join(fresh.dataDir, 'encryption.key')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(Buffer.from(readFileSync(path, 'utf8'), 'base64')).toHaveLength(32)
})

test('a key that is too short is refused', async () => {
  const short = startGateway({ env: { ENCRYPTION_KEY: 'short' } })
  await expect(short).rejects.toThrow('ENCRYPTION_KEY: expected at least 16 characters')
})
