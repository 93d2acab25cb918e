// Videos through a real gateway: what a vendor of OpenAI's format is asked, what clients are shown, and what it costs.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { toFile } from 'openai'
import { authorized, eventually, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { expectRefusal, postJson } from '../support/requests.ts'
import { png } from '../support/samples.ts'
import { film, startVideoVendor, type VideoVendor } from '../support/video-vendor.ts'

let vendor: VideoVendor
let gateway: Gateway
const otherKey = 'sk-other-0123456789abcdef'
/** Of one second, by size. */
const priceNano = { '720x1280': 100_000_000n, '1024x1792': 500_000_000n }

beforeAll(async () => {
  vendor = startVideoVendor()
  const sora = { kind: 'video', prices: { second: '100000' } }
  const pro = { kind: 'video', prices: { 'second/720p': '300000', 'second/1024p': '500000' } }
  gateway = await startGateway({
    config: {
      channels: [
        {
          id: 'films',
          vendor: 'openai',
          baseUrl: vendor.url,
          key: 'sk-up-0123456789',
          models: {
            'sora-2': 'sora-2',
            'sora-2-pro': 'sora-2-pro',
            'my-film': 'sora-9',
            'film-portrait': 'sora-2',
            'film-landscape': 'sora-2',
            unpriced: 'sora-unknown',
            chatty: 'gpt',
          },
        },
      ],
      models: {
        '*': {},
        'sora-2': sora,
        'sora-2-pro': pro,
        'my-film': sora,
        'film-portrait': sora,
        'film-landscape': sora,
        unpriced: { kind: 'video' },
        chatty: { kind: 'chat', prices: { input: '1', output: '1' } },
      },
      keys: [
        { name: 'test', secret: testKey },
        { name: 'other', secret: otherKey, account: 'other' },
        { name: 'poor', secret: 'sk-poor-0123456789abcdef', account: 'poor' },
      ],
      accounts: { poor: { credit: '0.39' } },
    },
  })
})
afterEach(() => {
  vendor.hooks = {}
  vendor.first = 'queued'
  vendor.hintMs = 50
})
afterAll(async () => {
  await gateway.stop()
  await vendor.stop()
})

const client = (key = testKey) => openaiClient(gateway.url, { key })
const url = (path: string) => `${gateway.url}/v1/videos${path}`
const get = (path: string, headers: Readonly<Record<string, string>> = authorized()) =>
  fetch(url(path), { headers })

async function made(body: Readonly<Record<string, unknown>> = {}) {
  vendor.first = 'completed'
  const video = await client().videos.create({
    model: 'sora-2',
    prompt: 'a cat',
    ...body,
  } as Parameters<ReturnType<typeof client>['videos']['create']>[0])
  return ended(video.id)
}

async function ended(id: string) {
  return eventually(async () => {
    const video = await client().videos.retrieve(id)
    return video.status === 'completed' || video.status === 'failed' ? video : undefined
  })
}

const rowOf = (id: string) => gateway.row(`req_${id.slice('video_'.length)}`)

describe('the lifecycle', () => {
  test('queued, in progress, completed: with the official SDK, a form with an image', async () => {
    const image = await toFile(png(8, 8), 'cat.png', { type: 'image/png' })
    const video = await client().videos.create({
      model: 'sora-2',
      prompt: 'a cat',
      seconds: '8',
      size: '720x1280',
      input_reference: image,
    })
    expect(video).toMatchObject({
      object: 'video',
      model: 'sora-2',
      status: 'queued',
      progress: 0,
      completed_at: null,
      expires_at: null,
      prompt: 'a cat',
      size: '720x1280',
      seconds: '8',
      remixed_from_video_id: null,
      error: null,
    })
    expect(video.id).toMatch(/^video_[0-9a-f]{28}$/)
    const job = vendor.job(-1)
    expect(job.body).toMatchObject({
      model: 'sora-2',
      prompt: 'a cat',
      seconds: '8',
      size: '720x1280',
    })
    expect(job.body['input_reference']).toMatchObject({ file: 'cat.png' })
    job.status = 'in_progress'
    job.progress = 37
    const under = await eventually(async () => {
      const { data, response } = await client().videos.retrieve(video.id).withResponse()
      return data.status === 'in_progress' ? { data, response } : undefined
    })
    expect(under.data.progress).toBe(37)
    expect(Number(under.response.headers.get('openai-poll-after-ms'))).toBeGreaterThan(0)
    job.status = 'completed'
    const done = await ended(video.id)
    expect(done).toMatchObject({ status: 'completed', progress: 100, expires_at: 1_763_786_500 })
    expect(done.completed_at).toBeNumber()
    const row = await rowOf(video.id)
    expect(row).toMatchObject({
      operation: 'video',
      status: 200,
      units: { 'second/720x1280': 8 },
      chargeNano: 8n * priceNano['720x1280'],
      vendorCostNano: 8n * priceNano['720x1280'],
      usageSource: 'reported',
      channel: 'films',
      modelAsked: 'sora-2',
    })
  })

  test('an image by its address, in a form and in JSON', async () => {
    const reference = { image_url: 'https://pictures.example/cat.png' }
    const { videos } = client()
    const body = { model: 'sora-2', prompt: 'a cat' } as const
    await videos.create({ ...body, input_reference: reference })
    expect(JSON.stringify(vendor.job(-1).body)).toContain('https://pictures.example/cat.png')
    await postJson(url(''), { ...body, input_reference: reference })
    expect(vendor.job(-1).body['input_reference']).toEqual(reference)
  })

  test('what its vendor could not make has failed, and costs nothing', async () => {
    const { id } = await client().videos.create({ model: 'sora-2', prompt: 'a cat' })
    vendor.job(-1).status = 'failed'
    const video = await ended(id)
    expect(video.status).toBe('failed')
    expect(video.error).toEqual({ code: 'moderation_blocked', message: 'not this one' })
    expect(await rowOf(id)).toMatchObject({ status: 500, chargeNano: 0n, units: null })
    const refused = await expectRefusal(await get(`/${id}/content`), 400, 'invalid_request_error')
    expect(refused.message).toContain('has failed')
  })

  test('a job that its vendor refuses is no video', async () => {
    vendor.hooks = {
      create: () =>
        Response.json({ error: { message: 'a bad prompt', code: 'bad' } }, { status: 400 }),
    }
    const reply = await postJson(url(''), { model: 'sora-2', prompt: 'x' })
    const refused = await expectRefusal(reply, 400, 'bad')
    expect(refused.message).toContain('a bad prompt')
    const row = await gateway.row(reply.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({ status: 400, chargeNano: 0n, operation: 'video' })
  })

  test('a success that names no job is none', async () => {
    vendor.hooks = { create: () => Response.json({ status: 'queued' }) }
    const reply = await postJson(url(''), { model: 'sora-2', prompt: 'x' })
    await expectRefusal(reply, 503, 'service_unavailable')
    const row = await gateway.row(reply.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({ status: 503, chargeNano: 0n })
  })

  test('a client that leaves before the reply finds its video in the list', async () => {
    const asked = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    vendor.hooks = {
      create: async () => {
        asked.resolve()
        await goOn.promise
        return undefined
      },
    }
    const abort = new AbortController()
    const body = JSON.stringify({ model: 'sora-2', prompt: 'left alone' })
    const left = fetch(url(''), {
      method: 'POST',
      headers: authorized(),
      body,
      signal: abort.signal,
    })
    await asked.promise
    abort.abort()
    await left.catch(() => undefined)
    goOn.resolve()
    await eventually(async () => {
      const { data } = await client().videos.list({ limit: 5 })
      return data.some(({ prompt }) => prompt === 'left alone') ? true : undefined
    })
  })

  test('the same Idempotency-Key gives the same video', async () => {
    const before = vendor.jobs.length
    const headers = { ...authorized(), 'idempotency-key': crypto.randomUUID() }
    const body = { model: 'sora-2', prompt: 'once' }
    const first = await (await postJson(url(''), body, headers)).json()
    const again = await postJson(url(''), body, headers)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.json()).toEqual(first)
    expect(vendor.jobs.length).toBe(before + 1)
  })

  test('W55: a poll with an empty body, 202 or an error is no end', async () => {
    const replies = [
      () => new Response(null, { status: 202 }),
      () => new Response('<html>', { status: 502 }),
      () => new Response('busy', { status: 429, headers: { 'retry-after-ms': '20' } }),
    ]
    vendor.first = 'completed'
    vendor.hooks = { poll: () => replies.shift()?.() }
    const { id } = await client().videos.create({ model: 'sora-2', prompt: 'a cat' })
    const video = await eventually(async () => {
      const seen = await client().videos.retrieve(id)
      return seen.status === 'completed' ? seen : undefined
    }, 20_000)
    expect(video.error).toBeNull()
    expect(replies).toEqual([])
  }, 30_000)
})

describe('what it costs', () => {
  test('by second and size: an exact size, its lines, any second', async () => {
    const cases = [
      ['sora-2', '1280x720', '4', 4n * 100_000_000n],
      ['sora-2-pro', '1280x720', '8', 8n * 300_000_000n],
      ['sora-2-pro', '1024x1792', '12', 12n * priceNano['1024x1792']],
      // What has no price of its own costs what the dearest does.
      ['sora-2-pro', '1920x1080', '4', 4n * 500_000_000n],
    ] as const
    for (const [model, size, seconds, chargeNano] of cases) {
      const { id } = await made({ model, size, seconds })
      expect([model, size, (await rowOf(id)).chargeNano]).toEqual([model, size, chargeNano])
    }
  })

  test('without size and length it is the model’s usual, and said to its vendor', async () => {
    const video = await made()
    expect(video).toMatchObject({ seconds: '4', size: '720x1280' })
    expect(vendor.job(-1).body).toMatchObject({ seconds: '4', size: '720x1280' })
    expect((await rowOf(video.id)).chargeNano).toBe(4n * 100_000_000n)
  })

  test('what an account has not is refused before its vendor is asked', async () => {
    const before = vendor.jobs.length
    const poor = authorized('sk-poor-0123456789abcdef')
    const reply = await postJson(url(''), { model: 'sora-2', prompt: 'x' }, poor)
    await expectRefusal(reply, 429, 'insufficient_quota')
    const capped = { model: 'sora-2', prompt: 'x', seconds: '12', max_cost: '0.5' }
    await expectRefusal(await postJson(url(''), capped), 400, 'invalid_request_error')
    expect(vendor.jobs.length).toBe(before)
  })

  test('a model without a price is refused', async () => {
    const reply = await postJson(url(''), { model: 'unpriced', prompt: 'x' })
    await expectRefusal(reply, 503, 'service_unavailable')
  })
})

describe('what is refused', () => {
  const body = { model: 'sora-2', prompt: 'a cat' }
  const bad = [
    [{ ...body, prompt: '' }, 'prompt', '1 to 32000'],
    [{ ...body, prompt: 'x'.repeat(32_001) }, 'prompt', '32000'],
    [{ model: 'sora-2' }, 'prompt', 'required'],
    [{ ...body, prompt: 7 }, 'prompt', 'string'],
    [{ prompt: 'x' }, 'model', 'model'],
    [{ ...body, seconds: 4 }, 'seconds', 'string'],
    [{ ...body, seconds: '5' }, 'seconds', '4, 8, 12'],
    [{ ...body, seconds: '4.5' }, 'seconds', 'whole'],
    [{ ...body, size: '1x1x1' }, 'size', '1280x720'],
    [{ ...body, size: '1024x1792' }, 'size', '720x1280, 1280x720'],
    [{ ...body, model: 'film-portrait', size: '1280x720' }, 'size', 'one of 720x1280'],
    [{ ...body, model: 'film-landscape', size: '720x1280' }, 'size', 'one of 1280x720'],
    [{ ...body, input_reference: 'cat.png' }, 'input_reference', 'object'],
    [{ ...body, input_reference: { file_id: 'f' } }, 'input_reference.file_id', 'keeps no files'],
    [
      { ...body, input_reference: { image_url: 'file:///x' } },
      'input_reference.image_url',
      'https',
    ],
    [{ ...body, model: 'chatty' }, 'model', 'chat/completions'],
  ] as const
  test.each(bad)('%j', async (sent, param, said) => {
    const reply = await postJson(url(''), sent)
    const refused = await expectRefusal(reply, 400, 'invalid_request_error')
    expect(refused.param).toBe(param)
    expect(refused.message).toContain(said)
  })

  test('portrait and landscape models make what they are called', async () => {
    const portrait = await made({ model: 'film-portrait' })
    const landscape = await made({ model: 'film-landscape' })
    expect([portrait.size, landscape.size]).toEqual(['720x1280', '1280x720'])
  })

  test('a model that nobody described takes any size and length', async () => {
    const video = await made({ model: 'my-film', size: '640x480', seconds: '7' })
    expect([video.size, video.seconds]).toEqual(['640x480', '7'])
  })

  test('what is not offered, and other methods', async () => {
    for (const path of ['/edits', '/extensions', '/characters'])
      await expectRefusal(await postJson(url(path), {}), 404, 'unsupported_endpoint')
    const put = await fetch(url(''), { method: 'PUT', headers: authorized() })
    await expectRefusal(put, 405, 'method_not_allowed')
    await expectRefusal(await get('', {}), 401, 'invalid_api_key')
    await expectRefusal(await postJson(url(''), body, {}), 401, 'invalid_api_key')
  })
})

describe('whose it is', () => {
  test('another account’s, or an unknown one, is not found', async () => {
    const { id } = await made()
    const other = authorized(otherKey)
    for (const [path, headers] of [
      [`/${id}`, other],
      [`/${id}/content`, other],
      ['/video_nothing', authorized()],
      [`/${vendor.job(-1).id}`, authorized()],
    ] as const) {
      await expectRefusal(await get(path, headers), 404, 'not_found')
    }
    const removed = await fetch(url(`/${id}`), { method: 'DELETE', headers: other })
    await expectRefusal(removed, 404, 'not_found')
    const remixed = await postJson(url(`/${id}/remix`), { prompt: 'x' }, other)
    await expectRefusal(remixed, 404, 'not_found')
    expect((await client(otherKey).videos.list()).data).toEqual([])
    expect((await get(`/${id}`)).status).toBe(200)
  })

  test('the list, page by page, in either order', async () => {
    const mine: string[] = []
    for (let at = 0; at < 3; at += 1) {
      const reply = await postJson(url(''), { model: 'sora-2', prompt: 'x' }, authorized(otherKey))
      mine.push(((await reply.json()) as { id: string }).id)
    }
    const all: string[] = []
    for await (const video of client(otherKey).videos.list({ limit: 2 })) all.push(video.id)
    expect(all).toEqual(mine.toReversed())
    const page = await get('?limit=2&order=asc', authorized(otherKey))
    expect(await page.json()).toMatchObject({
      object: 'list',
      first_id: mine[0],
      last_id: mine[1],
      has_more: true,
    })
    const rest = await get(`?order=asc&after=${mine[1]}`, authorized(otherKey))
    expect(await rest.json()).toMatchObject({ first_id: mine[2], has_more: false })
    for (const query of ['limit=101', 'limit=-1', 'limit=x', 'order=up', 'after=video_x'])
      await expectRefusal(await get(`?${query}`), 400, 'invalid_request_error')
  })
})

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
    const gone = Promise.withResolvers<void>()
    vendor.hooks = {
      content: () =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
            cancel: () => gone.resolve(),
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
    await gone.promise
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
    await eventually(() => (job.deleted ? true : undefined))
    expect((await rowOf(id)).chargeNano).toBe(400_000_000n)
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
    await eventually(() => (job.deleted ? true : undefined))
  })
})

test('a client that asks all the time does not make the gateway do so', async () => {
  vendor.hintMs = 30_000
  const { id } = await client().videos.create({ model: 'sora-2', prompt: 'x' })
  const job = vendor.job(-1)
  await eventually(() => (job.polls > 0 ? true : undefined))
  for (let at = 0; at < 50; at += 1) await (await get(`/${id}`)).text()
  expect(job.polls).toBe(1)
})
