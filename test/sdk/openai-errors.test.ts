// Tests refusals and faults with the official openai SDK: its error classes, its retries, its abort.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { ask, openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { isLong } from '../support/long.ts'
import {
  chatReply,
  forever,
  json,
  send,
  sseHead,
  startUpstream,
  type Upstream,
  words,
} from '../support/upstream.ts'
import { type Stage, sandbox, startStage } from './upstreams.ts'

let stage: Stage
let client: OpenAI

beforeAll(async () => {
  stage = await startStage()
  client = openaiClient(stage.gateway.url)
})
afterAll(() => stage.close())

async function failure(call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof OpenAI.APIError)) throw new Error(`not an API error: ${String(error)}`)
  return error
}

describe("the SDK's classes", () => {
  test('401', async () => {
    const wrong = openaiClient(stage.gateway.url, { key: 'sk-wrong-key-0123456789' })
    const error = await failure(wrong.models.list())
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
    expect(error.code).toBe('invalid_api_key')
    expect(error.requestID).toMatch(/^req/)
    expect(error.message).not.toContain('sk-wrong-key')
  })

  test('404', async () => {
    const error = await failure(
      client.chat.completions.create({ model: 'no-such-model', messages: ask('Hello') }),
    )
    expect(error).toBeInstanceOf(OpenAI.NotFoundError)
    expect(error.code).toBe('model_not_found')
    expect(await failure(client.models.retrieve('no-such-model'))).toBeInstanceOf(
      OpenAI.NotFoundError,
    )
  })

  test('400 names the parameter', async () => {
    const error = await failure(
      client.chat.completions.create({
        model: sandbox.chat,
        messages: ask('Hello'),
        temperature: 3,
      }),
    )
    expect(error).toBeInstanceOf(OpenAI.BadRequestError)
    expect(error.param).toBe('temperature')
    expect(error.type).toBe('invalid_request_error')
    expect(error.code).toBe('invalid_request_error')
  })

  test('404 for what is not offered', async () => {
    const error = await failure(client.files.list())
    expect(error).toBeInstanceOf(OpenAI.NotFoundError)
    expect(error.code).toBe('unsupported_endpoint')
  })
})

describe('chaos at the vendor', () => {
  const outcomes = [
    ['ratelimited', OpenAI.RateLimitError, 429, 'rate_limit_exceeded'],
    ['broken', OpenAI.InternalServerError, 500, 'server_error'],
    ['malformed', OpenAI.InternalServerError, 503, 'service_unavailable'],
    ['disconnected', OpenAI.InternalServerError, 503, 'service_unavailable'],
  ] as const

  test.each(outcomes)('%s', async (kind, type, status, code) => {
    for (const stream of [false, true]) {
      const error = await failure(
        client.chat.completions.create({
          model: `chaos-${kind}`,
          messages: ask('Hello'),
          stream,
        } as OpenAI.ChatCompletionCreateParamsNonStreaming),
      )
      expect(error).toBeInstanceOf(type)
      expect(error.status).toBe(status)
      expect(error.code).toBe(code)
      if (status === 429) expect(Number(error.headers?.get('retry-after'))).toBeGreaterThan(0)
    }
  })
})

describe('retries of the SDK', () => {
  let upstream: Upstream
  let gateway: Gateway

  beforeAll(async () => {
    upstream = await startUpstream()
    const channel = { vendor: 'openai', baseUrl: upstream.url, key: 'sk-up-0123456789' }
    const kinds = ['credentials', 'busy', 'endless']
    gateway = await startGateway({
      config: {
        channels: kinds.map((kind) => ({ ...channel, id: kind, models: [kind] })),
        keys: [{ name: 'sdk', secret: testKey }],
      },
    })
  })
  afterAll(async () => {
    await gateway.stop()
    await upstream.close()
  })

  test("x-should-retry: false stops them: the operator's mistake is not asked for three times", async () => {
    upstream.on('credentials', [
      json(401, { error: { message: 'bad key sk-up-0123456789', code: 'invalid_api_key' } }),
    ])
    const patient = openaiClient(gateway.url, { maxRetries: 2 })
    const error = await failure(
      patient.chat.completions.create({ model: 'credentials', messages: ask('Hello') }),
    )
    expect(error.status).toBe(503)
    expect(error.message).not.toContain('sk-up')
    expect(upstream.of('credentials')).toHaveLength(1)
  })

  test('429 is tried again after the time it names, and then served', async () => {
    const busy = { error: { message: 'slow down', code: 'rate_limit_exceeded' } }
    upstream.on('busy', [json(429, busy, 'retry-after: 1')], [json(200, chatReply())])
    const patient = openaiClient(gateway.url, { maxRetries: 2 })
    const reply = await patient.chat.completions.create({ model: 'busy', messages: ask('Hello') })
    expect(reply.choices[0]?.message.content).toBe('Hello')
    const [first, second] = upstream.of('busy').map(({ atMs }) => atMs)
    expect(upstream.of('busy')).toHaveLength(2)
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(900)
  })

  test('abort() of a stream lets the vendor go', async () => {
    upstream.on('endless', [send(sseHead), forever(words('word '), 5)])
    const running = await openaiClient(gateway.url).chat.completions.create({
      model: 'endless',
      messages: ask('Hello'),
      stream: true,
    })
    let chunks = 0
    let abortedMs = 0
    for await (const _chunk of running) {
      chunks++
      if (chunks < 3) continue
      abortedMs = performance.now()
      running.controller.abort()
    }
    const [request] = upstream.of('endless')
    await request?.gone
    expect(request?.goneBy).not.toBeNull()
    if (isLong) expect((request?.goneMs ?? Number.NaN) - abortedMs).toBeLessThan(200)
  })
})
