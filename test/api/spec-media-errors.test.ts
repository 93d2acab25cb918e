// Tests the specification's table of errors on every endpoint other than text: status, code, form, field, and when to
// try again.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { expectRefusal } from '../support/requests.ts'
import { png, wav } from '../support/samples.ts'
import { hang, json, reply, type Step, startUpstream, type Upstream } from '../support/upstream.ts'

type Fields = Readonly<Record<string, unknown>>

interface Endpoint {
  readonly path: string
  readonly kind: string
  /** A request that is right except for its model. */
  readonly fields: Fields
  readonly file?: readonly [field: string, file: File]
  /** What a vendor answers to it. */
  readonly answer: Step
  /** Requests with a wrong field, by that field; `undefined` leaves it out. */
  readonly wrong: readonly (readonly [param: string, Fields])[]
}

const picture = () => new File([Uint8Array.from(png(8, 8))], 'cat.png', { type: 'image/png' })
const sound = () => new File([Uint8Array.from(wav(1))], 'a.wav', { type: 'audio/wav' })
const drawn = { created: 1, data: [{ b64_json: png(8, 8).toString('base64') }] }
const transcript = { text: 'Hello', usage: { type: 'duration', seconds: 1 } }
const inNoModel = [
  ['model', { model: undefined }],
  ['model', { model: '' }],
] as const

const endpoints: readonly Endpoint[] = [
  {
    path: '/v1/images/generations',
    kind: 'image',
    fields: { prompt: 'a cat' },
    answer: json(200, drawn),
    wrong: [
      ...inNoModel,
      ['model', { model: 7 }],
      ['prompt', { prompt: undefined }],
      ['prompt', { prompt: '' }],
      ['prompt', { prompt: ['a cat'] }],
      ['n', { n: 0 }],
      ['size', { size: 1024 }],
      ['quality', { quality: true }],
      ['response_format', { response_format: 'png' }],
      ['background', { background: 'red' }],
      ['output_format', { output_format: 'bmp' }],
      ['output_compression', { output_compression: 101 }],
      ['partial_images', { stream: true, partial_images: 4 }],
    ],
  },
  {
    path: '/v1/images/edits',
    kind: 'image',
    fields: { prompt: 'a cat' },
    file: ['image', picture()],
    answer: json(200, drawn),
    wrong: [
      ...inNoModel,
      ['prompt', { prompt: undefined }],
      ['image', { image: undefined }],
      ['image', { image: sound() }],
      ['n', { n: 'many' }],
      ['mask', { mask: 'here' }],
    ],
  },
  {
    path: '/v1/images/variations',
    kind: 'image',
    fields: {},
    file: ['image', picture()],
    answer: json(200, drawn),
    wrong: [...inNoModel, ['image', { image: undefined }], ['n', { n: '11' }]],
  },
  {
    path: '/v1/audio/transcriptions',
    kind: 'transcription',
    fields: {},
    file: ['file', sound()],
    answer: json(200, transcript),
    wrong: [
      ...inNoModel,
      ['file', { file: undefined }],
      ['file', { file: picture() }],
      ['file', { file: 'speech.wav' }],
      ['response_format', { response_format: 'docx' }],
      ['temperature', { temperature: '2' }],
      ['temperature', { temperature: 'warm' }],
      ['timestamp_granularities', { 'timestamp_granularities[]': 'word' }],
    ],
  },
  {
    path: '/v1/audio/translations',
    kind: 'transcription',
    fields: {},
    file: ['file', sound()],
    answer: json(200, transcript),
    wrong: [
      ...inNoModel,
      ['file', { file: undefined }],
      ['response_format', { response_format: 'diarized_json' }],
    ],
  },
  {
    path: '/v1/audio/speech',
    kind: 'speech',
    fields: { input: 'Hello', voice: 'alloy' },
    answer: reply(200, wav(1), 'content-type: audio/mpeg'),
    wrong: [
      ...inNoModel,
      ['input', { input: undefined }],
      ['input', { input: '' }],
      ['voice', { voice: undefined }],
      ['speed', { speed: 5 }],
      ['response_format', { response_format: 'midi' }],
    ],
  },
  {
    path: '/v1/moderations',
    kind: 'moderation',
    fields: { input: 'Hello' },
    answer: json(200, { id: 'modr-1', model: 'm', results: [{ flagged: false, categories: {} }] }),
    wrong: [...inNoModel.slice(1), ['input', { input: undefined }], ['input', { input: [] }]],
  },
  {
    path: '/v1/videos',
    kind: 'video',
    fields: { prompt: 'a cat' },
    answer: json(200, { id: 'job', object: 'video', status: 'queued' }),
    wrong: [
      ...inNoModel,
      ['prompt', { prompt: undefined }],
      ['seconds', { seconds: 'long' }],
      ['size', { size: 'tall' }],
    ],
  },
  {
    path: '/v1/embeddings',
    kind: 'embedding',
    fields: { input: 'Hello' },
    answer: json(200, {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }),
    wrong: [...inNoModel, ['input', { input: undefined }], ['input', { input: '' }]],
  },
]

/** One of anything costs 1, except what is counted in tokens. */
const prices: Readonly<Record<string, Fields>> = {
  image: { image: '1000000' },
  transcription: { second: '1000000' },
  speech: { character: '200000' },
  moderation: { request: '1000000' },
  video: { second: '250000' },
  embedding: { input: '1000' },
}

const faults = ['busy', 'broken', 'away', 'garbled'] as const
const nameOf = ({ path }: Endpoint) => path.replace('/v1/', '').replace('/', '-')
const slowModel = (endpoint: Endpoint) => `slow-${nameOf(endpoint)}`
const secretOf = (name: string) => `sk-${name}-0123456789abcdef`
const limited = (endpoint: Endpoint) => `limited-${nameOf(endpoint)}`
const tight = (endpoint: Endpoint) => `tight-${nameOf(endpoint)}`

let upstream: Upstream
let gateway: Gateway

beforeAll(async () => {
  upstream = await startUpstream()
  const all = ['right', 'slow', ...faults]
  const models = endpoints.flatMap((endpoint) =>
    all.map((name) => [`${name}-${nameOf(endpoint)}`, endpoint.kind] as const),
  )
  const url = upstream.url
  gateway = await startGateway({
    config: {
      retry: { maxAttempts: 1 },
      // A failure of one must not affect the health of another.
      channels: models.map(([name]) => ({
        id: name,
        vendor: 'openai',
        baseUrl: name.startsWith('away') ? 'http://127.0.0.1:9/v1' : `${url}/${name}`,
        key: 'sk-upstream-0123456789',
        models: [name],
      })),
      models: Object.fromEntries(
        models.map(([name, kind]) => [name, { kind, prices: prices[kind] }]),
      ),
      keys: [
        { name: 'test', secret: testKey },
        { name: 'poor', secret: secretOf('poor'), account: 'poor' },
        { name: 'narrow', secret: secretOf('narrow'), models: ['nothing-here'] },
        ...endpoints.flatMap((endpoint) => [
          {
            name: limited(endpoint),
            secret: secretOf(limited(endpoint)),
            limits: { requestsPerMinute: 1 },
          },
          { name: tight(endpoint), secret: secretOf(tight(endpoint)), account: tight(endpoint) },
        ]),
      ],
      accounts: {
        poor: { credit: '0' },
        ...Object.fromEntries(endpoints.map((endpoint) => [tight(endpoint), { credit: '1.5' }])),
      },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

/** Sends a request; with `key` null, without a key. */
function send(
  { path, fields, file }: Endpoint,
  changes: Fields,
  key: string | null = testKey,
  signal: AbortSignal | null = null,
): Promise<Response> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
  const all: Fields = { ...fields, ...(file && { [file[0]]: file[1] }), ...changes }
  const given = Object.entries(all).filter(([, value]) => value !== undefined)
  if (file === undefined) {
    headers['content-type'] = 'application/json'
    const body = JSON.stringify(Object.fromEntries(given))
    return fetch(gateway.url + path, { method: 'POST', headers, body, signal })
  }
  const body = new FormData()
  for (const [name, value] of given) body.set(name, value instanceof File ? value : String(value))
  return fetch(gateway.url + path, { method: 'POST', headers, body, signal })
}

/** The requests for work that vendors got: the state of a running video is queried with other methods. */
function posts(): number {
  return upstream.requests.filter(({ method }) => method === 'POST').length
}

/** The model's name is only read from JSON: forms get the same answer. */
function answers(model: string, step: Step): void {
  upstream.on('*', [step])
  upstream.on(model, [step])
}

interface Expected {
  readonly status: number
  readonly code: string
  readonly type?: string
  readonly retry: boolean
  /** Whether it says when to try again. */
  readonly after?: boolean
}

async function expectError(reply: Response, { status, code, type, retry, after }: Expected) {
  const { headers } = reply
  const error = await expectRefusal(reply, status, code)
  expect(error.type).toBe(type ?? 'invalid_request_error')
  expect(headers.get('x-should-retry')).toBe(String(retry))
  const seconds = headers.get('retry-after')
  if (after === true) expect(Number(seconds)).toBeGreaterThanOrEqual(1)
  else expect(seconds).toBeNull()
  expect(JSON.stringify(error)).not.toContain('0123456789')
  return error
}

/** The row of a request that cost nothing. */
async function expectFree(reply: Response, more: Fields = {}): Promise<void> {
  const row = await gateway.row(reply.headers.get('x-request-id') ?? '')
  expect(row).toMatchObject({ chargeNano: 0n, writeoffNano: 0n, status: reply.status, ...more })
}

const rows = endpoints.map((endpoint) => [endpoint.path, endpoint] as const)

describe('200', () => {
  test.each(rows)('%s, so that what follows fails for its own reason', async (_, endpoint) => {
    const model = `right-${nameOf(endpoint)}`
    answers(model, endpoint.answer)
    expect((await send(endpoint, { model })).status).toBe(200)
  })
})

describe('400', () => {
  const cases = endpoints.flatMap((endpoint) =>
    endpoint.wrong.map(([param, changes]) => [endpoint.path, param, changes, endpoint] as const),
  )

  test.each(cases)('%s, %s: %p', async (_, param, changes, endpoint) => {
    const before = posts()
    const reply = await send(endpoint, { model: `right-${nameOf(endpoint)}`, ...changes })
    const expected = { status: 400, code: 'invalid_request_error', retry: false }
    const error = await expectError(reply, expected)
    expect(error.param).toBe(param)
    expect(posts()).toBe(before)
  })
})

describe('401', () => {
  const keys = [
    ['no key', null],
    ['another key', secretOf('unknown')],
  ] as const
  const cases = endpoints.flatMap((endpoint) =>
    keys.map(([name, key]) => [endpoint.path, name, key, endpoint] as const),
  )

  test.each(cases)('%s, %s', async (_, _name, key, endpoint) => {
    const before = posts()
    const reply = await send(endpoint, { model: `right-${nameOf(endpoint)}` }, key)
    await expectError(reply, { status: 401, code: 'invalid_api_key', retry: false })
    expect(posts()).toBe(before)
  })

  test.each([
    ['GET', '/v1/videos'],
    ['GET', '/v1/videos/video_1'],
    ['DELETE', '/v1/videos/video_1'],
    ['GET', '/v1/videos/video_1/content'],
    ['POST', '/v1/videos/video_1/remix'],
  ])('%s %s', async (method, path) => {
    for (const headers of [{}, { authorization: `Bearer ${secretOf('unknown')}` }]) {
      const reply = await fetch(gateway.url + path, { method, headers })
      await expectError(reply, { status: 401, code: 'invalid_api_key', retry: false })
    }
  })
})

describe('404', () => {
  test.each(rows)('%s', async (_, endpoint) => {
    const expected = { status: 404, code: 'model_not_found', retry: false }
    const before = posts()
    const unknown = await expectError(await send(endpoint, { model: 'no-such-model' }), expected)
    const model = `right-${nameOf(endpoint)}`
    const outside = await expectError(await send(endpoint, { model }, secretOf('narrow')), expected)
    expect([unknown.param, outside.param]).toEqual(['model', 'model'])
    expect(unknown.message).toContain('no-such-model')
    expect(outside.message).toContain(model)
    expect(posts()).toBe(before)
  })

  test.each([
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/content'],
    ['POST', '/remix'],
  ])('a video that is not there: %s %s', async (method, rest) => {
    const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' }
    const body = method === 'POST' ? { body: '{"prompt":"a cat"}' } : {}
    const url = `${gateway.url}/v1/videos/video_0123${rest}`
    const reply = await fetch(url, { method, headers, ...body })
    await expectRefusal(reply, 404, 'not_found')
  })
})

describe('429', () => {
  const quota = { status: 429, code: 'insufficient_quota', type: 'insufficient_quota' } as const

  test.each(rows)('insufficient_quota: %s, an empty account', async (_, endpoint) => {
    const before = posts()
    const reply = await send(endpoint, { model: `right-${nameOf(endpoint)}` }, secretOf('poor'))
    await expectError(reply, { ...quota, retry: false })
    expect(posts()).toBe(before)
    await expectFree(reply, { attempts: 0 })
  })

  const held = rows.filter(([, { kind }]) => kind !== 'transcription' && kind !== 'embedding')
  test.each(held)('insufficient_quota: %s, its money is held', async (_, endpoint) => {
    const model = slowModel(endpoint)
    answers(model, hang)
    const before = posts()
    const leaving = new AbortController()
    const running = send(endpoint, { model }, secretOf(tight(endpoint)), leaving.signal)
    const early = running.then(async (reply) => Promise.reject(new Error(await reply.text())))
    early.catch(() => undefined)
    await Promise.race([eventually(() => posts() > before || undefined), early])
    const reply = await send(endpoint, { model }, secretOf(tight(endpoint)))
    await expectError(reply, { ...quota, retry: true, after: true })
    expect(posts()).toBe(before + 1)
    leaving.abort()
    await expect(running).rejects.toThrow()
  })

  test.each(rows)('rate_limit_exceeded: %s, by the key’s own limit', async (_, endpoint) => {
    const key = secretOf(limited(endpoint))
    const model = `right-${nameOf(endpoint)}`
    answers(model, endpoint.answer)
    await (await send(endpoint, { model }, key)).text()
    const before = posts()
    const reply = await send(endpoint, { model }, key)
    const expected = { status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_exceeded' }
    await expectError(reply, { ...expected, retry: true, after: true })
    expect(posts()).toBe(before)
  })
})

describe('what vendors do', () => {
  const error = { message: 'It did not work.', type: 'server_error', code: null }
  const unavailable = { status: 503, code: 'service_unavailable', type: 'service_unavailable' }
  const outcomes = [
    [
      'busy',
      json(429, { error }, 'retry-after: 7'),
      { status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_exceeded', after: true },
    ],
    ['broken', json(500, { error }), { status: 500, code: 'server_error', type: 'server_error' }],
    ['away', null, { ...unavailable, after: true }],
    ['garbled', json(200, 'nothing of the kind'), { ...unavailable, after: true }],
  ] as const
  const cases = outcomes.flatMap(([fault, step, expected]) =>
    endpoints.map(
      (endpoint) => [expected.status, fault, endpoint.path, step, expected, endpoint] as const,
    ),
  )

  test.each(cases)('%p, %s: %s', async (_, fault, _path, step, expected, endpoint) => {
    const model = `${fault}-${nameOf(endpoint)}`
    if (step !== null) answers(model, step)
    const reply = await send(endpoint, { model })
    const { headers } = reply
    await expectError(reply, { ...expected, retry: true })
    if (fault === 'busy') expect(headers.get('retry-after')).toBe('7')
    await expectFree(reply, { attempts: 1 })
  })
})
