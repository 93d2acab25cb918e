// Tests the result of a video: its content and possible errors in it, remixes, removal.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { authorized, eventually, openaiClient } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import { expectRefusal, postJson } from '../support/requests.ts'
import { json, send, startUpstream } from '../support/upstream.ts'
import { startVideoScene, type VideoScene } from '../support/video-scene.ts'
import { film } from '../support/video-vendor.ts'

let scene: VideoScene
let vendor: VideoScene['vendor']

beforeAll(async () => {
  scene = await startVideoScene()
  vendor = scene.vendor
})
afterEach(() => scene.reset())
afterAll(() => scene.stop())

const client = (key?: string) => scene.client(key)
const url = (path: string) => `${scene.gateway.url}/v1/videos${path}`
const get = (path: string, headers?: Readonly<Record<string, string>>) => scene.get(path, headers)
const made = (body?: Readonly<Record<string, unknown>>) => scene.made(body)
const ended = (id: string) => scene.ended(id)
const rowOf = (id: string) => scene.rowOf(id)

describe('its content', () => {
  test('whole, in part, and in other variants', async () => {
    const { id } = await made()
    const whole = await client().videos.downloadContent(id)
    expect(whole.headers.get('content-type')).toBe('video/mp4')
    expect(new Uint8Array(await whole.arrayBuffer())).toEqual(film)
    const part = await get(`/${id}/content`, { ...authorized(), range: 'bytes=10-19' })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe(`bytes 10-19/${film.length}`)
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(film.slice(10, 20))
    const thumbnail = await client().videos.downloadContent(id, { variant: 'thumbnail' })
    expect(thumbnail.headers.get('content-type')).toBe('image/webp')
    await expectRefusal(await get(`/${id}/content?variant=gif`), 400, 'invalid_request_error')
    const head = await fetch(url(`/${id}/content`), { method: 'HEAD', headers: authorized() })
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'video/mp4'])
  })

  test('bytes that it does not have: 416 with its length, where its vendor tells it', async () => {
    const { id } = await made()
    const ranged = (range: string) => get(`/${id}/content`, { ...authorized(), range })
    for (const told of [`bytes */${film.length}`, null]) {
      const headers: HeadersInit = told === null ? {} : { 'content-range': told }
      vendor.hooks = { content: () => new Response(null, { status: 416, headers }) }
      const reply = await ranged(`bytes=${film.length}-`)
      expect(reply.headers.get('content-range')).toBe(told)
      expect((await expectRefusal(reply, 416, 'invalid_request_error')).param).toBe('range')
    }
  })

  test('a range that is none, or several, means the whole', async () => {
    const { id } = await made()
    const seen: (string | null)[] = []
    vendor.hooks = {
      content: (_, { headers }) => {
        seen.push(headers.get('range'))
        return new Response(film, { headers: { 'content-type': 'video/mp4' } })
      },
    }
    for (const range of ['bytes=19-10', 'bytes=0-1,5-6', 'bytes=-', 'pages=1-2']) {
      const reply = await get(`/${id}/content`, { ...authorized(), range })
      expect([reply.status, (await reply.arrayBuffer()).byteLength]).toEqual([200, film.length])
    }
    expect(seen).toEqual([null, null, null, null])
  })

  const part = { status: 206, headers: { 'content-type': 'video/mp4' } }
  test.each([
    ['that nobody asked for', {}],
    ['that does not say which it is', { range: 'bytes=0-9' }],
  ])('a part %s is not taken for the whole', async (_, range) => {
    const { id } = await made()
    vendor.hooks = { content: () => new Response(film.slice(0, 10), part) }
    const reply = await get(`/${id}/content`, { ...authorized(), ...range })
    await expectRefusal(reply, 503, 'service_unavailable')
  })

  test('before it is made there is none', async () => {
    const { id } = await client().videos.create({ model: 'sora-2', prompt: 'x' })
    const refused = await expectRefusal(await get(`/${id}/content`), 400, 'invalid_request_error')
    expect(refused.message).toContain('not ready')
  })

  const html = { headers: { 'content-type': 'text/html' } }
  const elsewhere = (location: string) => new Response(null, { status: 302, headers: { location } })
  const faults = [
    ['it has expired', () => new Response('gone', { status: 404 }), 404, 'not_found'],
    ['its address has expired', () => new Response('no', { status: 403 }), 404, 'not_found'],
    ['a page in place of it', () => new Response('<html>', html), 503, 'service_unavailable'],
    ['JSON in place of it', () => Response.json({}), 503, 'service_unavailable'],
    ['its vendor fails', () => new Response('x', { status: 500 }), 503, 'service_unavailable'],
    [
      'it is redirected to a private address',
      () => elsewhere('http://169.254.169.254/latest/meta-data'),
      503,
      'service_unavailable',
    ],
    [
      'it is redirected to this machine',
      () => elsewhere(`http://127.0.0.1:${vendor.port + 1}/`),
      503,
      'service_unavailable',
    ],
    [
      'it is redirected to what is no address',
      () => elsewhere('http://[::1/'),
      503,
      'service_unavailable',
    ],
    [
      'it is redirected to a file',
      () => elsewhere('file:///etc/passwd'),
      503,
      'service_unavailable',
    ],
    [
      'it is redirected for ever',
      () => elsewhere(`${vendor.url}/videos/${vendor.job(-1).id}/content`),
      503,
      'service_unavailable',
    ],
  ] as const
  test.each(faults)('%s', async (_, content, status, code) => {
    const { id } = await made()
    vendor.hooks = { content: () => content() }
    await expectRefusal(await get(`/${id}/content`), status, code)
    vendor.hooks = {}
    expect((await get(`/${id}/content`)).status).toBe(200)
  })

  test('a redirect at its own vendor is followed', async () => {
    const { id } = await made()
    vendor.hooks = {
      content: (_, request) =>
        request.url.endsWith('moved')
          ? new Response(film, { headers: { 'content-type': 'video/mp4' } })
          : elsewhere(`${request.url}?moved`),
    }
    const reply = await get(`/${id}/content`)
    expect(new Uint8Array(await reply.arrayBuffer())).toEqual(film)
  })

  test('a client that leaves in the middle lets the vendor go', async () => {
    const { id } = await made()
    const gone = Promise.withResolvers<string>()
    vendor.hooks = {
      content: () =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
            cancel: () => gone.resolve('let go'),
          }),
          { headers: { 'content-type': 'video/mp4' } },
        ),
    }
    const abort = new AbortController()
    const reply = await fetch(url(`/${id}/content`), {
      headers: authorized(),
      signal: abort.signal,
    })
    await reply.body?.getReader().read()
    abort.abort()
    expect(await gone.promise).toBe('let go')
  })
})

describe('remix and removal', () => {
  test('a remix is a video of its own, made where its source was, and paid for', async () => {
    const source = await made({ seconds: '8', size: '1280x720' })
    const remix = await client().videos.remix(source.id, { prompt: 'at night' })
    expect(remix).toMatchObject({
      status: 'queued',
      prompt: 'at night',
      seconds: '8',
      size: '1280x720',
      model: 'sora-2',
      remixed_from_video_id: source.id,
    })
    await ended(remix.id)
    expect(await rowOf(remix.id)).toMatchObject({ chargeNano: 800_000_000n, channel: 'films' })
    expect(vendor.job(-1).body).toMatchObject({ prompt: 'at night' })
  })

  test('what cannot be remixed', async () => {
    const { id } = await client().videos.create({ model: 'sora-2', prompt: 'x' })
    const early = await postJson(url(`/${id}/remix`), { prompt: 'y' })
    await expectRefusal(early, 400, 'invalid_request_error')
    const source = await made()
    for (const body of [{}, { prompt: '' }, [], 'x'])
      await expectRefusal(
        await postJson(url(`/${source.id}/remix`), body),
        400,
        'invalid_request_error',
      )
  })

  test('a client cannot name a job of a vendor’s as the source', async () => {
    await made()
    const job = {
      handle: vendor.job(-1).id,
      model: 'sora-2',
      kept: {},
      seconds: 4,
      size: '720x1280',
    }
    const reply = await postJson(url(''), { model: 'sora-2', prompt: 'x', remixed_job: job })
    expect(reply.status).toBe(200)
    expect(vendor.job(-1).body['remixed_job']).toBeUndefined()
  })

  test('removed when it is done, it is gone here and at its vendor, and stays paid', async () => {
    const { id } = await made()
    const job = vendor.job(-1)
    const removed = await client().videos.delete(id)
    expect(removed).toMatchObject({ id, object: 'video.deleted', deleted: true })
    await expectRefusal(await get(`/${id}`), 404, 'not_found')
    expect(job.deleted).toBeTrue()
    expect((await rowOf(id)).chargeNano).toBe(400_000_000n)
  })

  test('its vendor cannot be asked to remove it: it is still there, and removed later', async () => {
    const { id } = await made()
    const job = vendor.job(-1)
    vendor.hooks = { remove: () => new Response('busy', { status: 500 }) }
    const remove = () => fetch(url(`/${id}`), { method: 'DELETE', headers: authorized() })
    await expectRefusal(await remove(), 503, 'service_unavailable')
    expect((await get(`/${id}`)).status).toBe(200)
    vendor.hooks = {}
    expect((await remove()).status).toBe(200)
    expect(job.deleted).toBeTrue()
  })

  test.each([
    ['refuses to stop', 409],
    ['has no removal', 404],
  ])('one whose vendor %s is not removed while it is made, and paid for', async (_, status) => {
    const { id } = await client().videos.create({ model: 'sora-2', prompt: 'x' })
    const job = vendor.job(-1)
    vendor.hooks = { remove: () => new Response('no', { status }) }
    const remove = () => fetch(url(`/${id}`), { method: 'DELETE', headers: authorized() })
    const refused = await expectRefusal(await remove(), 400, 'invalid_request_error')
    expect(refused.message).toContain('delete it when it has ended')
    job.status = 'completed'
    expect((await remove()).status).toBe(200)
    await expectRefusal(await get(`/${id}`), 404, 'not_found')
    expect(await rowOf(id)).toMatchObject({ status: 200, chargeNano: 400_000_000n })
  })

  test('removed as it is done, before the gateway has noticed: it is paid for', async () => {
    vendor.hintMs = 30_000
    const { id } = await client().videos.create({ model: 'sora-2', prompt: 'x' })
    const job = vendor.job(-1)
    await eventually(() => (job.polls > 0 ? true : undefined))
    job.status = 'completed'
    await client().videos.delete(id)
    expect(job.deleted).toBeTrue()
    expect(await rowOf(id)).toMatchObject({ status: 200, chargeNano: 400_000_000n })
  })

  test('removed while it is made, it costs nothing, and is let go', async () => {
    const { id } = await client().videos.create({ model: 'sora-2', prompt: 'x' })
    const job = vendor.job(-1)
    await client().videos.delete(id)
    await expectRefusal(await get(`/${id}`), 404, 'not_found')
    expect(await rowOf(id)).toMatchObject({
      status: 499,
      chargeNano: 0n,
      errorCode: 'client_closed_request',
    })
    expect(job.deleted).toBeTrue()
  })
})

test('a result that says it has 4 GB is not begun', async () => {
  const huge = await startUpstream()
  const job = { id: 'job_1', object: 'video', status: 'completed' }
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: 4294967296\r\n\r\n'
  huge.on('sora-2', [json(200, job)])
  huge.on('*', [json(200, job)], [send(`${head}some of it`)])
  const channel = { id: 'films', vendor: 'openai', baseUrl: huge.url, key: 'sk-up' }
  await using other = await startGateway({
    config: { channels: [{ ...channel, models: ['sora-2'] }] },
  })
  const { videos } = openaiClient(other.url)
  const begun = await postJson(`${other.url}/v1/videos`, { model: 'sora-2', prompt: 'x' })
  const { id } = (await begun.json()) as { id: string }
  await eventually(async () =>
    (await videos.retrieve(id)).status === 'completed' ? true : undefined,
  )
  const reply = await fetch(`${other.url}/v1/videos/${id}/content`, { headers: authorized() })
  await expectRefusal(reply, 503, 'service_unavailable')
  await huge.close()
})
