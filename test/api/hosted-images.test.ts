// Tests a vendor that answers with addresses, behind a real gateway: its results reach the client, and nothing else
// does.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { startBucket } from '../support/bucket.ts'
import { eventually } from '../support/clients.ts'
import { type Gateway, residentBytes, startGateway } from '../support/gateway.ts'

const model = 'grok-imagine-image'
const vendorKey = 'xai-vendor-secret-7c3e'
const beginning = Buffer.from('89504e470d0a1a0a', 'hex')
const png = Buffer.concat([beginning, Buffer.alloc(3_000_000, 'pixels of a picture')])
/** The price of one image by the card below. */
const priceNano = 20_000_000n

/** A vendor whose `prompt` says where its result is; its files are beside its API. */
class ImageVendor implements AsyncDisposable {
  calls = 0
  readonly fetches: { readonly path: string; readonly headers: Headers }[] = []
  /** Files whose download was broken off. */
  readonly left = Promise.withResolvers<void>()
  private readonly server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => this.answer(request),
  })

  get url(): string {
    return `http://127.0.0.1:${this.server.port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop(true)
  }

  private async answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (request.method === 'POST') {
      this.calls++
      const { prompt, n = 1 } = (await request.json()) as { prompt: string; n?: number }
      const url = URL.canParse(prompt) ? prompt : this.url + prompt
      return Response.json({ data: Array.from({ length: n }, () => ({ url })) })
    }
    this.fetches.push({ path: pathname, headers: request.headers })
    return this.file(pathname, request.signal)
  }

  private file(path: string, signal: AbortSignal): Response {
    const type = (name: string) => ({ headers: { 'content-type': name } })
    if (path === '/picture.png') return new Response(png, type('binary/octet-stream'))
    if (path === '/page.html') return new Response('<html>Sign in</html>', type('text/html'))
    if (path === '/empty.png') return new Response('', type('image/png'))
    if (path === '/long.mp4') return new Response(endless(300_000_000), type('video/mp4'))
    if (path === '/endless.png') return new Response(endless(4 * 1024 ** 3), type('image/png'))
    if (path === '/stuck.png') {
      signal.addEventListener('abort', () => this.left.resolve())
      const pull = (controller: ReadableStreamDefaultController) => {
        controller.enqueue(beginning)
        return new Promise<void>(() => undefined)
      }
      return new Response(new ReadableStream({ pull }), type('image/png'))
    }
    return new Response('<Error>AccessDenied</Error>', { status: 403 })
  }
}

function endless(bytes: number): ReadableStream {
  const piece = Buffer.alloc(262_144)
  let left = bytes
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close()
      controller.enqueue(left === bytes ? Buffer.concat([beginning, piece]) : piece)
      left -= piece.length
    },
  })
}

function configOf(vendor: ImageVendor, more: Readonly<Record<string, unknown>> = {}) {
  const channel = { vendor: 'xai', baseUrl: `${vendor.url}/v1`, key: vendorKey, models: [model] }
  return {
    channels: [
      { ...channel, id: 'first' },
      { ...channel, id: 'second', weight: 0 },
    ],
    models: { [model]: { kind: 'image', prices: { image: '20000' } } },
    ...more,
  }
}

interface Body {
  readonly data: readonly { readonly url?: string; readonly b64_json?: string }[]
  readonly error?: { readonly code: string; readonly message: string }
}

async function draw(gateway: Gateway, prompt: string, more = {}, signal?: AbortSignal) {
  const body = { model, prompt, ...more }
  const options = signal === undefined ? {} : { signal }
  const response = await gateway.post('/v1/images/generations', body, options)
  const text = await response.text()
  expect(text).not.toContain(vendorKey)
  const requestId = response.headers.get('x-request-id') ?? ''
  return { status: response.status, requestId, text, ...(JSON.parse(text) as Body) }
}

describe('what a vendor made', () => {
  let vendor: ImageVendor
  let gateway: Gateway
  beforeAll(async () => {
    vendor = new ImageVendor()
    gateway = await startGateway({
      config: configOf(vendor, { media: { maxResultBytes: 500_000_000 } }),
    })
  })
  afterAll(async () => {
    await gateway.stop()
    await vendor[Symbol.asyncDispose]()
  })

  test('is hosted, and comes back as it was', async () => {
    const { data, requestId } = await draw(gateway, '/picture.png', {
      response_format: 'url',
      n: 2,
    })
    const urls = data.map(({ url }) => url ?? '')
    expect(new Set(urls).size).toBe(2)
    for (const url of urls) {
      expect(url).toStartWith(`${gateway.url}/files/`)
      const response = await fetch(url)
      expect(response.headers.get('content-type')).toBe('image/png')
      expect(png.equals(await response.bytes())).toBe(true)
    }
    for (const { headers } of vendor.fetches)
      expect([...headers.values()].join()).not.toContain(vendorKey)
    expect(await gateway.row(requestId)).toMatchObject({ status: 200, chargeNano: 2n * priceNano })
  })

  test('is fetched for clients that want its bytes', async () => {
    const { data } = await draw(gateway, '/picture.png', { response_format: 'b64_json' })
    expect(png.equals(Buffer.from(data[0]?.b64_json ?? '', 'base64'))).toBe(true)
  })

  test('goes to the disk as it comes: 300 MB are never in memory', async () => {
    const before = residentBytes(gateway.pid)
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, residentBytes(gateway.pid))
    }, 20)
    const { data } = await draw(gateway, '/long.mp4', { response_format: 'url' })
    const head = await fetch(data[0]?.url ?? '', { method: 'HEAD' })
    let bytes = 0
    for await (const chunk of (await fetch(data[0]?.url ?? '')).body ?? []) bytes += chunk.length
    clearInterval(watch)
    expect(bytes).toBe(Number(head.headers.get('content-length')))
    expect(bytes).toBeGreaterThan(300_000_000)
    expect(most - before).toBeLessThan(120_000_000)
  })

  test.each([
    ['has expired', '/gone.png'],
    ['is a page', '/page.html'],
    ['is empty', '/empty.png'],
    ['is larger than any result', '/endless.png'],
    ['is at no address', 'ftp://files.example/picture.png'],
    ['is inside', 'http://127.0.0.1:9/picture.png'],
    ['is at the machine that tells secrets', 'http://169.254.169.254/latest/meta-data'],
  ])('that %s is a clear refusal, which costs nothing', async (_, prompt) => {
    const calls = vendor.calls
    const { status, error, requestId, text } = await draw(gateway, prompt)
    expect({ status, code: error?.code }).toEqual({ status: 503, code: 'service_unavailable' })
    expect(text).not.toContain('127.0.0.1')
    const row = await gateway.row(requestId)
    expect(row).toMatchObject({ chargeNano: 0n, status: 503, attempts: 1 })
    // The vendor has done its work, so no other vendor is asked to do it again.
    expect(vendor.calls).toBe(calls + 1)
  })

  test('and sends elsewhere inside is refused', async () => {
    using elsewhere = Bun.serve({ port: 0, fetch: () => new Response(png) })
    const { origin } = new URL(elsewhere.url)
    using away = Bun.serve({ port: 0, fetch: () => Response.redirect(origin, 302) })
    const refused = await draw(gateway, new URL(away.url).href)
    expect(refused.status).toBe(503)
  })

  test('is let go when its client leaves', async () => {
    const leaving = new AbortController()
    const drawn = draw(gateway, '/stuck.png', {}, leaving.signal)
    await eventually(() => vendor.fetches.some(({ path }) => path === '/stuck.png') || undefined)
    leaving.abort()
    await expect(drawn).rejects.toThrow()
    await vendor.left.promise
  })
})

test('addresses begin with the public address, where there is one', async () => {
  await using vendor = new ImageVendor()
  const server = { publicUrl: 'https://gate.example/ai/' }
  await using gateway = await startGateway({ config: configOf(vendor, { server }) })
  const { data } = await draw(gateway, '/picture.png', { response_format: 'url' })
  expect(data[0]?.url).toStartWith('https://gate.example/ai/files/')
  const { pathname, search } = new URL(data[0]?.url ?? '')
  const response = await fetch(gateway.url + pathname.replace('/ai', '') + search)
  expect(png.equals(await response.bytes())).toBe(true)
})

test('a store that speaks S3 serves them where there is one, and its failing is no fault of the vendor', async () => {
  await using vendor = new ImageVendor()
  await using bucket = startBucket()
  const { url: endpoint, name, accessKeyId } = bucket
  const s3 = { endpoint, bucket: name, accessKeyId, secretAccessKey: '${S3_SECRET}' }
  await using gateway = await startGateway({
    config: configOf(vendor, { media: { store: { s3 } } }),
    env: { S3_SECRET: bucket.secretAccessKey },
  })
  const { data, text } = await draw(gateway, '/picture.png', { response_format: 'url' })
  expect(data[0]?.url).toStartWith(`${endpoint}/${name}/tollgate/`)
  expect(text).not.toContain(bucket.secretAccessKey)
  expect(png.equals(await (await fetch(data[0]?.url ?? '')).bytes())).toBe(true)
  bucket.failing = 503
  const refused = await draw(gateway, '/picture.png', { response_format: 'url' })
  expect(refused).toMatchObject({ status: 503, error: { code: 'service_unavailable' } })
  expect(await gateway.row(refused.requestId)).toMatchObject({ chargeNano: 0n, attempts: 1 })
  expect(gateway.stderr).not.toContain(bucket.secretAccessKey)
})

test('a disk that is full hosts nothing, and the request costs nothing', async () => {
  await using vendor = new ImageVendor()
  const media = { maxStoredBytes: png.length + 1_000_000 }
  await using gateway = await startGateway({ config: configOf(vendor, { media }) })
  const asked = { response_format: 'url' }
  expect((await draw(gateway, '/picture.png', asked)).status).toBe(200)
  const refused = await draw(gateway, '/picture.png', asked)
  expect(refused.status).toBe(503)
  expect(refused.error?.message).toContain('the gateway has no room')
  expect(await gateway.row(refused.requestId)).toMatchObject({ chargeNano: 0n, attempts: 1 })
  for (const _ of [2, 3])
    expect((await draw(gateway, '/picture.png', asked)).error?.message).toContain('no room')
  const made = vendor.calls
  const again = await draw(gateway, '/picture.png', asked)
  expect(again).toMatchObject({ status: 503, error: { param: 'response_format' } })
  expect(vendor.calls).toBe(made)
  expect(await gateway.row(again.requestId)).toMatchObject({ vendorCostNano: 0n })
  expect((await draw(gateway, '/picture.png', { response_format: 'b64_json' })).status).toBe(200)
})
