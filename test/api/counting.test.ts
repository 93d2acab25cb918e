// Tests counting tokens without an answer: the limits, models and validation of the counted request apply.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { opaquePrefix } from '../../src/wire/hub/opaque-state.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'

const slowKey = 'sk-slow-0123456789abcdef'
const smallKey = 'sk-small-0123456789abcdef'
let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      channels: [{ id: 'sandbox', vendor: 'sandbox', models: ['sandbox/*'] }],
      groups: {
        default: { models: ['*'] },
        slow: { models: ['*'], limits: { requestsPerMinute: 2 } },
        small: { models: ['sandbox/embedding'] },
      },
      keys: [
        { name: 'test', secret: testKey },
        { name: 'slow', secret: slowKey, group: 'slow' },
        { name: 'small', secret: smallKey, group: 'small' },
      ],
    },
  })
})
afterAll(async () => {
  await gateway.stop()
})

const messages = [{ role: 'user', content: 'Hello there, world' }]
const contents = [{ role: 'user', parts: [{ text: 'Hello there, world' }] }]
const ways = [
  {
    name: 'Gemini',
    path: '/v1beta/models/sandbox/chat:countTokens',
    body: { contents },
    count: 'totalTokens',
  },
  {
    name: 'Responses',
    path: '/v1/responses/input_tokens',
    body: { model: 'sandbox/chat', input: 'Hello there, world' },
    count: 'input_tokens',
  },
  {
    name: 'Anthropic',
    path: '/v1/messages/count_tokens',
    body: { model: 'sandbox/chat', messages },
    count: 'input_tokens',
  },
] as const

function ask(path: string, body: unknown, key = testKey): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

describe.each(ways)('$name', ({ path, body, count }) => {
  test('counts', async () => {
    const reply = await ask(path, body)
    expect(reply.status).toBe(200)
    expect(((await reply.json()) as Record<string, number>)[count]).toBeGreaterThan(2)
  })

  test('asks the rate limiter', async () => {
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) statuses.push((await ask(path, body, slowKey)).status)
    expect(statuses.at(-1)).toBe(429)
    const refused = await ask(path, body, slowKey)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('x-ratelimit-limit-requests')).toBe('2')
  })

  test.each(['', '{', '[]', '"text"', 'null'])('refuses the body %j', async (text) => {
    expect((await ask(path, text)).status).toBe(400)
  })

  test.each(['model', 'other', ...Object.keys(body)])(
    'refuses depth in %s, at once',
    async (name) => {
      const depth = 100_000
      const deep = '['.repeat(depth) + ']'.repeat(depth)
      const { model: _, ...rest } = { model: '', ...body }
      const text = JSON.stringify({ ...rest, [name]: 'deep' }).replace('"deep"', deep)
      const reply = await gateway.post(path, text, { signal: AbortSignal.timeout(3_000) })
      expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('message')])
    },
  )

  test('does not use up an Idempotency-Key', async () => {
    const headers = {
      authorization: `Bearer ${testKey}`,
      'content-type': 'application/json',
      'idempotency-key': `count-${path}`,
    }
    const chat = { model: 'sandbox/chat', messages }
    const asked = { method: 'POST', headers, body: JSON.stringify(chat) }
    expect((await fetch(`${gateway.url}/v1/chat/completions`, asked)).status).toBe(200)
    const count = await fetch(gateway.url + path, { ...asked, body: JSON.stringify(body) })
    expect(count.status).toBe(200)
  })

  test('needs a key', async () => {
    expect((await ask(path, body, 'sk-nobody-0123456789abcdef')).status).toBe(401)
  })
})

describe('a model that is not there, or not for the key', () => {
  test.each([
    ['/v1beta/models/nothing:countTokens', { contents }, testKey],
    ['/v1beta/models/sandbox/chat:countTokens', { contents }, smallKey],
    ['/v1/responses/input_tokens', { model: 'nothing', input: 'a' }, testKey],
    ['/v1/responses/input_tokens', { model: 'sandbox/chat', input: 'a' }, smallKey],
  ])('%s %j', async (path, body, key) => {
    expect((await ask(path, body, key)).status).toBe(404)
  })
})

describe('a Responses request is checked as one that is answered', () => {
  const path = '/v1/responses/input_tokens'
  test.each([
    [{ input: 7 }, 'input'],
    [{ input: [{ type: 'message', role: 'nobody', content: 'a' }] }, 'input[0].role'],
    [{ input: 'a', temperature: 9 }, 'temperature'],
    [{ input: 'a', tools: {} }, 'tools'],
    [{ model: 7, input: 'a' }, 'model'],
    [{ input: 'a', model: 'sandbox/embedding' }, 'model'],
  ])('%j: %s', async (more, param) => {
    const reply = await ask(path, { model: 'sandbox/chat', ...more })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: { param } })
  })

  test('no model is needed to count', async () => {
    for (const model of [{}, { model: null }]) {
      const reply = await ask(path, { input: 'Hello there, world', ...model })
      expect(reply.status).toBe(200)
    }
  })
})

describe('reasoning that Anthropic would refuse', () => {
  const thinking = (signature: string) => [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature },
        { type: 'text', text: 'Hello' },
      ],
    },
    { role: 'user', content: 'And?' },
  ]
  let asked = 0
  let vendor: Bun.Server<undefined>
  let own: Gateway

  beforeAll(async () => {
    vendor = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch() {
        asked += 1
        return Response.json({ input_tokens: 77 })
      },
    })
    const baseUrl = `http://127.0.0.1:${vendor.port}`
    const models = ['claude-sonnet-5']
    own = await startGateway({
      config: { channels: [{ id: 'a', vendor: 'anthropic', baseUrl, key: 'sk-a', models }] },
    })
  })
  afterAll(async () => {
    await own.stop()
    await vendor.stop(true)
  })

  test.each([
    ['its own', 'EqoBCkgIBxABGAIiQL', 77],
    ['unsigned', '', null],
    ['of another channel', `${opaquePrefix}WZvcmVpZ24`, null],
  ] as const)('%s', async (_, signature, count) => {
    asked = 0
    const body = { model: 'claude-sonnet-5', messages: thinking(signature) }
    const reply = await own.post('/v1/messages/count_tokens', body)
    expect(reply.status).toBe(200)
    const { input_tokens: counted } = (await reply.json()) as { input_tokens: number }
    expect([asked, counted]).toEqual([count === null ? 0 : 1, count ?? expect.any(Number)])
  })
})
