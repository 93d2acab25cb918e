// Tests what a channel changes in requests, as its vendor gets them, and what is held for them.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const poorKey = 'sk-poor-0123456789abcdef'
const messages = [{ role: 'user', content: 'Hi' }]
let upstream: Upstream
let gateway: Gateway

beforeAll(async () => {
  upstream = await startUpstream()
  const channel = (id: string, models: string[], parameters: unknown, more: object = {}) => ({
    id,
    vendor: 'openai-compatible',
    baseUrl: upstream.url,
    key: 'sk-vendor-secret-0001',
    dialect: 'openai-chat',
    models,
    ...(parameters !== undefined && { parameters }),
    ...more,
  })
  gateway = await startGateway({
    config: {
      channels: [
        channel('plain', ['plain'], undefined),
        channel('changed', ['changed'], {
          set: { temperature: 0, 'thinking.type': 'disabled', service_tier: 'flex' },
          remove: ['logit_bias'],
          defaults: { top_p: 0.5, seed: 7 },
        }),
        channel('short', ['short'], { set: { max_tokens: 10 } }),
        channel('long', ['long', 'either'], { set: { max_tokens: 100_000 } }),
        channel('unsaid', ['unsaid'], { defaults: { max_tokens: 100_000 } }),
        channel('usual', ['either'], undefined),
      ],
      keys: [
        { name: 'test', secret: 'sk-test-0123456789abcdef' },
        { name: 'poor', secret: poorKey, account: 'poor' },
      ],
      // Enough for some thousand tokens of output.
      accounts: { poor: { credit: '0.01' } },
    },
  })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream.close()
})

async function sentOf(path: string, body: Record<string, unknown>): Promise<string> {
  const seen = upstream.requests.length
  const answer = await gateway.post(path, body)
  expect(answer.status).toBe(200)
  await answer.text()
  return upstream.requests[seen]?.body.toString('utf8') ?? ''
}

const chat = '/v1/chat/completions'

test('a channel that changes nothing gets the bytes as they were sent', async () => {
  const body = { model: 'plain', messages, temperature: 1, logit_bias: {} }
  expect(await sentOf(chat, body)).toBe(JSON.stringify(body))
})

test('what the client sent is set, left out and given, also on streams', async () => {
  const body = { model: 'changed', messages, temperature: 1, logit_bias: {}, seed: null }
  expect(JSON.parse(await sentOf(chat, body))).toEqual({
    model: 'changed',
    messages,
    temperature: 0,
    thinking: { type: 'disabled' },
    service_tier: 'flex',
    top_p: 0.5,
    seed: 7,
  })
  const streamed = JSON.parse(await sentOf(chat, { ...body, stream: true, top_p: 0.1 }))
  expect(streamed).toMatchObject({
    temperature: 0,
    top_p: 0.1,
    stream: true,
    stream_options: { include_usage: true },
  })
})

test('a request in another format is changed in its vendor’s own words', async () => {
  const body = { model: 'short', max_tokens: 500, messages }
  const sent = JSON.parse(await sentOf('/v1/messages', body))
  expect(sent).toMatchObject({ model: 'short', max_tokens: 10 })
  expect(sent).not.toHaveProperty('max_completion_tokens')
})

test('as much is held as the longest reply that a channel may be asked for', async () => {
  const status = async (model: string, limit: object) => {
    const headers = { authorization: `Bearer ${poorKey}` }
    const answer = await gateway.post(chat, { model, messages, ...limit }, { headers })
    await answer.text()
    return answer.status
  }
  const large = { max_tokens: 100_000 }
  expect(await status('plain', large)).toBe(429)
  expect(await status('plain', { max_tokens: 10 })).toBe(200)
  // The channel asks for less, and for more, than the client did.
  expect(await status('short', large)).toBe(200)
  expect(await status('short', { max_completion_tokens: 100_000 })).toBe(200)
  expect(await status('long', { max_tokens: 10 })).toBe(429)
  expect(await status('unsaid', {})).toBe(429)
  expect(await status('unsaid', { max_tokens: 10 })).toBe(200)
  expect(await status('either', { max_tokens: 10 })).toBe(429)
})
