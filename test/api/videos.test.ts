// Tests videos through a real gateway: what a vendor of OpenAI's format is sent, what clients get, and what it costs.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { toFile } from 'openai'
import { authorized, eventually } from '../support/clients.ts'
import { expectRefusal, postJson } from '../support/requests.ts'
import { png } from '../support/samples.ts'
import { otherKey, poorKey, startVideoScene, type VideoScene } from '../support/video-scene.ts'

/** The price of one second, by size. */
const priceNano = { '720x1280': 100_000_000n, '1024x1792': 500_000_000n }

let scene: VideoScene
let vendor: VideoScene['vendor']
let gateway: VideoScene['gateway']

beforeAll(async () => {
  scene = await startVideoScene()
  ;({ vendor, gateway } = scene)
})
afterEach(() => scene.reset())
afterAll(() => scene.stop())

const client = (key?: string) => scene.client(key)
const url = (path: string) => `${scene.gateway.url}/v1/videos${path}`
const get = (path: string, headers?: Readonly<Record<string, string>>) => scene.get(path, headers)
const made = (body?: Readonly<Record<string, unknown>>) => scene.made(body)
const ended = (id: string) => scene.ended(id)
const rowOf = (id: string) => scene.rowOf(id)

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

  test('what its vendor says of a failure comes without the key, and not by the megabyte', async () => {
    const { id } = await client().videos.create({ model: 'sora-2', prompt: 'a cat' })
    const message = `Incorrect API key provided: sk-up-0123456789. ${'x'.repeat(1 << 20)}`
    const error = { code: 'invalid_api_key', message }
    vendor.hooks = { poll: (job) => Response.json({ id: job.id, status: 'failed', error }) }
    const video = await ended(id)
    expect(video.error?.message).toStartWith('Incorrect API key provided: ')
    expect(video.error?.message).toHaveLength(1_000)
    expect(
      JSON.stringify([video, await rowOf(id)], (_, each) => each?.toString() ?? null),
    ).not.toContain('sk-up-')
  })

  test('a vendor that asks to be polled after 0 ms is polled as one that asks nothing', async () => {
    vendor.hintMs = 0
    const { id } = await client().videos.create({ model: 'sora-2', prompt: 'a cat' })
    const job = vendor.job(-1)
    const polledMs: number[] = []
    vendor.hooks = { polled: () => void polledMs.push(performance.now()) }
    const [first, second] = await eventually(() => (polledMs.length > 1 ? polledMs : undefined))
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(500)
    job.status = 'completed'
    await ended(id)
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

  const long = 'x'.repeat(2_000_000)

  test.each([
    ['no job', { status: 'queued' }],
    ['a job by an id of 2 MB', { id: long, status: 'queued' }],
  ])('a success that names %s is none', async (_, job) => {
    vendor.hooks = { create: () => Response.json(job) }
    const reply = await postJson(url(''), { model: 'sora-2', prompt: 'x' })
    await expectRefusal(reply, 503, 'service_unavailable')
    const row = await gateway.row(reply.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({ status: 503, chargeNano: 0n })
  })

  test('a large answer begins a video like any other', async () => {
    vendor.hooks = { create: () => Response.json({ id: 'video_large', thumbnail: long }) }
    const reply = await postJson(url(''), { model: 'sora-2', prompt: 'x' })
    expect(reply.status).toBe(200)
    expect(await reply.json()).toMatchObject({ object: 'video', status: 'queued' })
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
    const video = await eventually(async () => {
      const { data } = await client().videos.list({ limit: 5 })
      return data.find(({ prompt }) => prompt === 'left alone')
    })
    expect(video.model).toBe('sora-2')
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
      // A size without its own price costs as much as the most expensive one.
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
    const poor = authorized(poorKey)
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
    [{ ...body, n: 5 }, 'n', '1'],
    [{ ...body, num_videos: 2 }, 'num_videos', 'one video'],
    [{ ...body, duration: 60 }, 'duration', 'use seconds'],
    [{ ...body, resolution: '4k' }, 'resolution', 'use size'],
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
    [{ ...body, stream: true }, 'stream', 'not possible'],
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

test('a client that asks all the time does not make the gateway do so', async () => {
  vendor.hintMs = 30_000
  const { id } = await client().videos.create({ model: 'sora-2', prompt: 'x' })
  const job = vendor.job(-1)
  await eventually(() => (job.polls > 0 ? true : undefined))
  for (let at = 0; at < 50; at += 1) await (await get(`/${id}`)).text()
  expect(job.polls).toBe(1)
})
