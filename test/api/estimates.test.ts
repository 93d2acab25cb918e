// Tests asking what a request would cost: nothing is sent, held, charged or recorded for the answer.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'

const poorKey = 'sk-poor-0123456789abcdef'
let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      channels: [{ id: 'sandbox', vendor: 'sandbox', models: ['sandbox/*'] }],
      models: { 'sandbox/chat': { prices: { input: '3', output: '10' } } },
      groups: { default: { models: ['*'], multiplier: '2' } },
      keys: [
        { name: 'test', secret: testKey },
        { name: 'poor', secret: poorKey, account: 'poor' },
      ],
      accounts: { poor: { credit: '0' } },
    },
  })
})
afterAll(() => gateway.stop())

interface Answer {
  readonly input_tokens: number
  readonly max_output_tokens: number
  readonly min_cost: string
  readonly max_cost: string
}

const estimate = { 'x-tollgate-cost': 'estimate' }

async function ask(path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const reply = await gateway.post(path, body, { headers: { ...estimate, ...headers } })
  return { status: reply.status, body: (await reply.json()) as Answer }
}

const messages = [{ role: 'user', content: 'Hello there, world' }]
const model = 'sandbox/chat'
const chat = { model, messages, max_tokens: 100 }

test('the least and the most that a chat may cost, with the price of its group', async () => {
  const { status, body } = await ask('/v1/chat/completions', chat)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    object: 'cost_estimate',
    model,
    currency: 'USD',
    input_tokens: Math.ceil(JSON.stringify(chat).length / 4),
    max_output_tokens: 100,
    price_version: expect.any(Number),
  })
  const inputCost = (body.input_tokens * 3 * 2) / 1e6
  expect(Number(body.min_cost)).toBeCloseTo(inputCost, 9)
  expect(Number(body.max_cost)).toBeGreaterThan(inputCost + (100 * 10 * 2) / 1e6)
})

test('a stream is estimated as the whole reply that it becomes', async () => {
  const whole = await ask('/v1/chat/completions', { model, messages })
  const stream = await ask('/v1/chat/completions', { model, messages, stream: true })
  expect(stream.body.max_output_tokens).toBe(whole.body.max_output_tokens)
})

const others: readonly [string, string, object][] = [
  ['Anthropic', '/v1/messages', chat],
  ['Responses', '/v1/responses', { model, input: 'Hello', max_output_tokens: 50 }],
  [
    'Gemini',
    `/v1beta/models/${model}:streamGenerateContent`,
    { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
  ],
  ['embeddings', '/v1/embeddings', { model: 'sandbox/embedding', input: 'Hello' }],
  ['images', '/v1/images/generations', { model: 'sandbox/image', prompt: 'a cat', n: 2 }],
  ['speech', '/v1/audio/speech', { model: 'sandbox/speech', input: 'Hello', voice: 'alloy' }],
  ['videos', '/v1/videos', { model: 'sandbox/video', prompt: 'a cat' }],
]

test.each(others)('%s is estimated in the same form', async (_, path, body) => {
  const reply = await ask(path, body)
  expect(reply.status).toBe(200)
  const { min_cost: least, max_cost: most } = reply.body
  expect(Number(least)).toBeGreaterThan(0)
  expect(Number(most)).toBeGreaterThanOrEqual(Number(least))
})

test('each picture asked for counts', async () => {
  const picture = { model: 'sandbox/image', prompt: 'a cat' }
  const one = await ask('/v1/images/generations', { ...picture, n: 1 })
  const three = await ask('/v1/images/generations', { ...picture, n: 3 })
  expect(Number(three.body.min_cost)).toBeCloseTo(3 * Number(one.body.min_cost), 9)
})

test('no money is needed, and no request is recorded', async () => {
  const poor = { authorization: `Bearer ${poorKey}` }
  expect(await ask('/v1/chat/completions', chat, poor)).toMatchObject({ status: 200 })
  const refused = await gateway.post('/v1/chat/completions', chat, { headers: poor })
  expect(refused.status).toBe(429)
  await gateway.row(refused.headers.get('x-request-id') ?? '')
  const rows = await gateway.usage()
  expect(rows.filter(({ account }) => account === 'poor')).toHaveLength(1)
})

test('a key for repeated requests is not used up', async () => {
  const key = { 'idempotency-key': 'once' }
  expect(await ask('/v1/chat/completions', chat, key)).toEqual(
    await ask('/v1/chat/completions', chat, key),
  )
  const made = await ask('/v1/chat/completions', chat, { ...key, 'x-tollgate-cost': 'true' })
  expect(made.body).toMatchObject({ object: 'chat.completion' })
})

describe('refusals are those of the request itself', () => {
  test('a model that is not there', async () => {
    const reply = await ask('/v1/chat/completions', { ...chat, model: 'nope' })
    expect(reply).toMatchObject({ status: 404, body: { error: { code: 'model_not_found' } } })
  })

  test('a body that is wrong', async () => {
    const reply = await ask('/v1/chat/completions', { ...chat, max_tokens: -1 })
    expect(reply).toMatchObject({ status: 400, body: { error: { param: 'max_tokens' } } })
  })

  test('a realtime session', async () => {
    const reply = await fetch(`${gateway.url}/v1/realtime?model=sandbox/realtime`, {
      headers: {
        authorization: `Bearer ${testKey}`,
        ...estimate,
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: { param: 'x-tollgate-cost' } })
  })
})
