// Tests each video vendor in its own format: the request, the progress of its job, and where its result is fetched
// from.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { toFile } from 'openai'
import type { JsonObject } from '../../src/wire/ir.ts'
import { authorized, eventually, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { expectRefusal, postJson } from '../support/requests.ts'
import { png } from '../support/samples.ts'
import { film } from '../support/video-vendor.ts'

interface Asked {
  readonly method: string
  readonly path: string
  readonly authorization: string | null
  readonly googleKey: string | null
  readonly body: JsonObject
}

let server: Bun.Server<undefined>
let gateway: Gateway
let asked: Asked[] = []
/** The answers by method and path, one after another; the last one is repeated. */
let replies: Record<string, (() => Response)[]> = {}

const origin = () => `http://127.0.0.1:${server.port}`
const key = 'key-0123456789abcdef'

async function answer(request: Request): Promise<Response> {
  const url = new URL(request.url)
  const path = url.pathname + url.search
  const text = await request.text()
  const { headers, method } = request
  asked.push({
    method,
    path,
    authorization: headers.get('authorization'),
    googleKey: headers.get('x-goog-api-key'),
    body: text === '' ? {} : (JSON.parse(text) as JsonObject),
  })
  const list = replies[`${method} ${path}`] ?? []
  const reply = list.length > 1 ? list.shift() : list[0]
  return reply?.() ?? new Response('nothing here', { status: 404 })
}

const json =
  (body: unknown, status = 200) =>
  () =>
    Response.json(body, { status })
const video = () => new Response(film, { headers: { 'content-type': 'video/mp4' } })

beforeAll(async () => {
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
  const channel = (vendor: string, models: readonly string[], secret = key) => ({
    id: vendor,
    vendor,
    baseUrl: `${origin()}/${vendor}`,
    key: secret,
    models,
  })
  const names = [
    'veo-3.1-generate-preview',
    'grok-imagine-video',
    'kling-v2-6',
    'MiniMax-Hailuo-02',
    'fal-ai/veo3.1',
    'bytedance/seedance-2.0/text-to-video',
    'wan2.7-i2v',
  ]
  const priced = { kind: 'video', prices: { second: '100000' } }
  gateway = await startGateway({
    config: {
      channels: [
        channel('google', ['veo-3.1-generate-preview']),
        channel('xai', ['grok-imagine-video']),
        channel('kling', ['kling-v2-6'], 'access:secret-0123456789'),
        channel('dashscope', ['wan2.7-i2v']),
        channel('minimax', ['MiniMax-Hailuo-02']),
        channel('fal', ['fal-ai/veo3.1', 'bytedance/seedance-2.0/text-to-video']),
      ],
      models: Object.fromEntries(names.map((name) => [name, priced])),
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await server.stop(true)
})

const client = () => openaiClient(gateway.url)

/** Starts a video; `scripts` are the answers of its vendor. */
async function begin(
  scripts: typeof replies,
  body: Readonly<Record<string, unknown>>,
): Promise<string> {
  asked = []
  replies = scripts
  const begun = await client().videos.create(body as never)
  expect(begun.status).toBe('queued')
  return begun.id
}

async function ended(id: string) {
  return eventually(async () => {
    const seen = await client().videos.retrieve(id)
    return seen.status === 'completed' || seen.status === 'failed' ? seen : undefined
  }, 20_000)
}

async function contentOf(id: string): Promise<Uint8Array> {
  return new Uint8Array(await (await client().videos.downloadContent(id)).arrayBuffer())
}

const chargeOf = async (id: string) =>
  (await gateway.row(`req_${id.slice('video_'.length)}`)).chargeNano

const image = () => toFile(png(8, 8), 'cat.png', { type: 'image/png' })
const base64 = png(8, 8).toString('base64')

describe('Veo', () => {
  const model = 'veo-3.1-generate-preview'
  const start = `POST /google/v1beta/models/${model}:predictLongRunning`
  const poll = `GET /google/v1beta/models/${model}/operations/op1`
  const name = `models/${model}/operations/op1`

  test('an operation with an image, its file fetched with the key and through a redirect', async () => {
    const uri = `${origin()}/google/files/f1:download?alt=media`
    const done = {
      done: true,
      response: { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } },
    }
    const id = await begin(
      {
        [start]: [json({ name })],
        [poll]: [json({ name }), json({ name, ...done })],
        'GET /google/files/f1:download?alt=media': [
          () => Response.redirect(`${origin()}/google/moved`, 302),
        ],
        'GET /google/moved': [video],
      },
      { model, prompt: 'a cat', seconds: '8', size: '1080x1920', input_reference: await image() },
    )
    expect(asked[0]).toMatchObject({
      googleKey: key,
      body: {
        instances: [
          { prompt: 'a cat', image: { bytesBase64Encoded: base64, mimeType: 'image/png' } },
        ],
        parameters: { aspectRatio: '9:16', durationSeconds: 8, resolution: '1080p' },
      },
    })
    const seen = await ended(id)
    expect(seen.status).toBe('completed')
    expect(seen.expires_at).toBeGreaterThan(Date.now() / 1000 + 86_400)
    expect(await contentOf(id)).toEqual(film)
    expect(asked.at(-2)).toMatchObject({
      path: '/google/files/f1:download?alt=media',
      googleKey: key,
    })
    expect(await chargeOf(id)).toBe(800_000_000n)
  }, 30_000)

  test('filtered, it has failed; an error of the operation too', async () => {
    const filtered = {
      done: true,
      response: {
        generateVideoResponse: {
          raiMediaFilteredCount: 1,
          raiMediaFilteredReasons: ['It was filtered.'],
        },
      },
    }
    const failed = { done: true, error: { code: 13, message: 'It broke.' } }
    for (const [end, error] of [
      [filtered, { code: 'moderation_blocked', message: 'It was filtered.' }],
      [failed, { code: 'google_13', message: 'It broke.' }],
    ] as const) {
      const id = await begin(
        { [start]: [json({ name })], [poll]: [json(end)] },
        { model, prompt: 'x' },
      )
      expect((await ended(id)).error).toEqual(error)
      expect(await chargeOf(id)).toBe(0n)
    }
  }, 30_000)
})

describe('xAI', () => {
  const model = 'grok-imagine-video'
  const start = 'POST /xai/videos/generations'
  const poll = 'GET /xai/videos/r1'

  test('W55: 202 with a body and without, then done; fewer seconds cost less', async () => {
    const url = `${origin()}/results/x.mp4`
    const id = await begin(
      {
        [start]: [json({ request_id: 'r1' })],
        [poll]: [
          () => new Response(null, { status: 202 }),
          json({ status: 'pending', progress: 41 }, 202),
          json({
            status: 'done',
            progress: 100,
            video: { url, duration: 5, respect_moderation: true },
          }),
        ],
        'GET /results/x.mp4': [video],
      },
      { model, prompt: 'a cat', seconds: '7', size: '480x854', input_reference: await image() },
    )
    expect(asked[0]).toMatchObject({
      authorization: `Bearer ${key}`,
      body: {
        model,
        prompt: 'a cat',
        duration: 7,
        aspect_ratio: '9:16',
        resolution: '480p',
        image: { url: `data:image/png;base64,${base64}` },
      },
    })
    expect((await ended(id)).status).toBe('completed')
    expect(await contentOf(id)).toEqual(film)
    expect(asked.at(-1)).toMatchObject({ path: '/results/x.mp4', authorization: null })
    expect(await chargeOf(id)).toBe(500_000_000n)
  }, 30_000)

  test('W55: blocked by moderation, failed and expired are videos that failed', async () => {
    for (const [end, code] of [
      [
        { status: 'done', video: { url: 'https://x.example/v', respect_moderation: false } },
        'moderation_blocked',
      ],
      [{ status: 'failed', error: { code: 'oops', message: 'no' } }, 'oops'],
      [{ status: 'expired' }, 'video_expired'],
    ] as const) {
      const id = await begin(
        { [start]: [json({ request_id: 'r1' })], [poll]: [json(end)] },
        { model, prompt: 'x' },
      )
      expect((await ended(id)).error?.code).toBe(code)
      expect(await chargeOf(id)).toBe(0n)
    }
  }, 30_000)
})

describe('Kling', () => {
  const model = 'kling-v2-6'
  const task = (data: object) =>
    json({ code: 0, message: 'SUCCEED', data: { task_id: 't1', ...data } })

  test('a task of a text, by a token that its key signs', async () => {
    const url = `${origin()}/results/k.mp4`
    const videos = [{ id: 'v', url, duration: '10' }]
    const id = await begin(
      {
        'POST /kling/videos/text2video': [task({ task_status: 'submitted' })],
        'GET /kling/videos/text2video/t1': [
          task({ task_status: 'succeed', task_result: { videos } }),
        ],
        'GET /results/k.mp4': [video],
      },
      { model, prompt: 'a cat', seconds: '10', size: '1920x1080' },
    )
    expect(asked[0]?.body).toEqual({
      model_name: model,
      prompt: 'a cat',
      duration: '10',
      mode: 'pro',
      aspect_ratio: '16:9',
    })
    const [head = '', claims = '', signature] = (asked[0]?.authorization ?? '').slice(7).split('.')
    const decoded = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))
    expect(decoded.iss).toBe('access')
    expect(decoded.exp).toBeGreaterThan(Date.now() / 1000)
    const hmac = createHmac('sha256', 'secret-0123456789').update(`${head}.${claims}`)
    expect(signature).toBe(hmac.digest('base64url'))
    expect((await ended(id)).status).toBe('completed')
    expect(await contentOf(id)).toEqual(film)
    expect(asked.at(-1)?.authorization).toBeNull()
    expect(await chargeOf(id)).toBe(1_000_000_000n)
  }, 30_000)

  test('a task of an image that fails', async () => {
    const id = await begin(
      {
        'POST /kling/videos/image2video': [task({ task_status: 'submitted' })],
        'GET /kling/videos/image2video/t1': [
          task({ task_status: 'failed', task_status_msg: 'Not this one.' }),
        ],
      },
      { model, prompt: 'a cat', size: '720x1280', input_reference: await image() },
    )
    expect(asked[0]?.body).toEqual({
      model_name: model,
      prompt: 'a cat',
      duration: '5',
      image: base64,
    })
    expect((await ended(id)).error?.message).toBe('Not this one.')
  }, 30_000)

  test('its errors are known by their codes', async () => {
    for (const [code, status] of [
      [1201, 400],
      [1302, 429],
    ] as const) {
      replies = { 'POST /kling/videos/text2video': [json({ code, message: 'why' }, status)] }
      const reply = await postJson(`${gateway.url}/v1/videos`, { model, prompt: 'x' })
      expect([code, reply.status]).toEqual([code, status])
      await reply.text()
    }
  })
})

describe('MiniMax', () => {
  const model = 'MiniMax-Hailuo-02'
  const ok = { base_resp: { status_code: 0, status_msg: 'success' } }
  const poll = 'GET /minimax/query/video_generation?task_id=77'

  test('a task, then a file, whose address is asked for each time', async () => {
    const file = { file: { file_id: 9, download_url: `${origin()}/results/m.mp4` }, ...ok }
    const id = await begin(
      {
        'POST /minimax/video_generation': [json({ task_id: '77', ...ok })],
        [poll]: [json({ task_id: '77', status: 'Success', file_id: '9', ...ok })],
        'GET /minimax/files/retrieve?file_id=9': [json(file)],
        'GET /results/m.mp4': [video],
      },
      {
        model,
        prompt: 'a cat',
        seconds: '6',
        size: '1366x768',
        input_reference: { image_url: 'https://pictures.example/cat.png' },
      },
    )
    expect(asked[0]?.body).toEqual({
      model,
      prompt: 'a cat',
      duration: 6,
      resolution: '768P',
      first_frame_image: 'https://pictures.example/cat.png',
    })
    expect((await ended(id)).status).toBe('completed')
    expect(await contentOf(id)).toEqual(film)
    replies['GET /minimax/files/retrieve?file_id=9'] = [json({ file: {}, ...ok })]
    const gone = await fetch(`${gateway.url}/v1/videos/${id}/content`, { headers: authorized() })
    await expectRefusal(gone, 404, 'not_found')
  }, 30_000)

  test('it fails, and errors that come with a success', async () => {
    const id = await begin(
      {
        'POST /minimax/video_generation': [json({ task_id: '77', ...ok })],
        [poll]: [json({ status: 'Fail', ...ok })],
      },
      { model, prompt: 'x' },
    )
    expect((await ended(id)).status).toBe('failed')
    const refused = { base_resp: { status_code: 1026, status_msg: 'sensitive' } }
    replies = { 'POST /minimax/video_generation': [json(refused)] }
    const reply = await postJson(`${gateway.url}/v1/videos`, { model, prompt: 'x' })
    expect(reply.status).toBe(400)
    await reply.text()
  }, 30_000)
})

describe('fal', () => {
  const model = 'fal-ai/veo3.1'
  const queue = () => ({
    request_id: 'q1',
    status_url: `${origin()}/fal/requests/q1/status`,
    response_url: `${origin()}/fal/requests/q1`,
  })

  test('a job of the queue', async () => {
    const url = `${origin()}/results/f.mp4`
    const id = await begin(
      {
        'POST /fal/fal-ai/veo3.1': [json(queue())],
        'GET /fal/requests/q1/status': [
          json({ status: 'IN_QUEUE' }),
          json({ status: 'IN_PROGRESS' }),
          json({ status: 'COMPLETED' }),
        ],
        'GET /fal/requests/q1': [json({ video: { url, content_type: 'video/mp4' } })],
        'GET /results/f.mp4': [video],
      },
      { model, prompt: 'a cat', seconds: '8', size: '1280x720' },
    )
    expect(asked[0]).toMatchObject({
      authorization: `Key ${key}`,
      body: { prompt: 'a cat', duration: '8s', aspect_ratio: '16:9', resolution: '720p' },
    })
    expect((await ended(id)).status).toBe('completed')
    expect(await contentOf(id)).toEqual(film)
    expect(asked.at(-1)?.authorization).toBeNull()
  }, 30_000)

  test('what the model refuses has failed; a queue elsewhere is not believed', async () => {
    const id = await begin(
      {
        'POST /fal/fal-ai/veo3.1': [json(queue())],
        'GET /fal/requests/q1/status': [json({ status: 'COMPLETED' })],
        'GET /fal/requests/q1': [json({ detail: 'A bad prompt.' }, 422)],
      },
      { model, prompt: 'x' },
    )
    expect((await ended(id)).error).toEqual({ code: 'fal_refused', message: 'A bad prompt.' })
    replies = {
      'POST /fal/fal-ai/veo3.1': [json({ ...queue(), status_url: 'https://evil.example/s' })],
    }
    const reply = await postJson(`${gateway.url}/v1/videos`, { model, prompt: 'x' })
    await expectRefusal(reply, 503, 'service_unavailable')
  }, 30_000)

  test('a model of texts takes no image, and no video is made of another', async () => {
    const text = 'bytedance/seedance-2.0/text-to-video'
    const body = { model: text, prompt: 'x' }
    const reference = { image_url: 'https://pictures.example/cat.png' }
    const sent = await postJson(`${gateway.url}/v1/videos`, { ...body, input_reference: reference })
    const refused = await expectRefusal(sent, 400, 'invalid_request_error')
    expect(refused.param).toBe('input_reference')
    const id = await begin(
      {
        [`POST /fal/${text}`]: [json(queue())],
        'GET /fal/requests/q1/status': [json({ status: 'COMPLETED' })],
        'GET /fal/requests/q1': [json({ video: { url: 'https://x.example/v' } })],
      },
      body,
    )
    await ended(id)
    const remix = await postJson(`${gateway.url}/v1/videos/${id}/remix`, { prompt: 'y' })
    const said = await expectRefusal(remix, 400, 'invalid_request_error')
    expect(said.message).toContain('cannot remix')
    const thumbnail = `${gateway.url}/v1/videos/${id}/content?variant=thumbnail`
    const variant = await fetch(thumbnail, { headers: authorized() })
    expect((await expectRefusal(variant, 400, 'invalid_request_error')).param).toBe('variant')
  }, 30_000)
})

describe('Wan', () => {
  const model = 'wan2.7-i2v'
  const start = 'POST /dashscope/api/v1/services/aigc/video-generation/video-synthesis'
  const poll = 'GET /dashscope/api/v1/tasks/t1'
  const task = (output: object) => json({ output: { task_id: 't1', ...output } })

  test('a task of an image, asked for until it has succeeded', async () => {
    const video_url = `${origin()}/results/w.mp4`
    const id = await begin(
      {
        [start]: [task({ task_status: 'PENDING' })],
        [poll]: [task({ task_status: 'RUNNING' }), task({ task_status: 'SUCCEEDED', video_url })],
        'GET /results/w.mp4': [video],
      },
      {
        model,
        prompt: 'a cat',
        seconds: '7',
        size: '1080x1920',
        input_reference: { image_url: 'https://pictures.example/cat.png' },
      },
    )
    expect(asked[0]?.body).toEqual({
      model,
      input: {
        prompt: 'a cat',
        media: [{ type: 'first_frame', url: 'https://pictures.example/cat.png' }],
      },
      parameters: { resolution: '1080P', ratio: '9:16', duration: 7, watermark: false },
    })
    expect((await ended(id)).status).toBe('completed')
    expect(await contentOf(id)).toEqual(film)
    expect(asked.at(-1)?.authorization).toBeNull()
    expect(await chargeOf(id)).toBe(700_000_000n)
  }, 30_000)

  test('one that fails, and one that its vendor has forgotten', async () => {
    const refused = { task_status: 'FAILED', code: 'DataInspectionFailed', message: 'Not this.' }
    for (const [end, error] of [
      [refused, { code: 'DataInspectionFailed', message: 'Not this.' }],
      [
        { task_status: 'UNKNOWN' },
        { code: 'task_unknown', message: 'The vendor could not make this video.' },
      ],
    ] as const) {
      const id = await begin(
        { [start]: [task({ task_status: 'PENDING' })], [poll]: [task(end)] },
        { model, prompt: 'x' },
      )
      expect((await ended(id)).error).toEqual(error)
      expect(await chargeOf(id)).toBe(0n)
    }
  }, 30_000)
})
