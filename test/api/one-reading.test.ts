// Tests that a request is read in only one way, from a user's view: what is refused by name, what is left out, and what
// is held.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { authorized } from '../support/clients.ts'
import { type Gateway, startGateway, testKey } from '../support/gateway.ts'
import { expectRefusal, postJson } from '../support/requests.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
const chat = '/v1/chat/completions'
const poor = 'sk-poor-0123456789abcdef'

beforeAll(async () => {
  upstream = await startUpstream()
  const baseUrl = upstream.url
  gateway = await startGateway({
    config: {
      channels: [
        { id: 'main', vendor: 'openai-compatible', baseUrl, key: 'sk-up', models: ['m'] },
        { id: 'claude', vendor: 'anthropic', baseUrl, key: 'sk-up', models: ['claude'] },
        { id: 'sandbox', vendor: 'sandbox', models: { 'sandbox/*': 'sandbox/*' } },
      ],
      keys: [
        { name: 'test', secret: testKey },
        { name: 'poor', secret: poor, account: 'poor' },
      ],
      // 2 for a million tokens of output: enough for some 500.
      accounts: { poor: { credit: '0.001' } },
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

const messages = [{ role: 'user', content: 'Hello' }]
const body = { model: 'm', messages }

function sent(): Record<string, unknown> {
  return JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '') as Record<string, unknown>
}

describe('names', () => {
  const endpoints: readonly (readonly [string, object])[] = [
    [chat, { model: 'sandbox/chat', messages }],
    ['/v1/completions', { model: 'sandbox/completion', prompt: 'Hello' }],
    ['/v1/embeddings', { model: 'sandbox/embedding', input: 'Hello' }],
    ['/v1/responses', { model: 'sandbox/chat', input: 'Hello' }],
    ['/v1/responses/compact', { model: 'sandbox/chat', input: 'Hello' }],
    ['/v1/responses/input_tokens', { model: 'sandbox/chat', input: 'Hello' }],
    ['/v1/messages', { model: 'sandbox/chat', messages, max_tokens: 9 }],
    ['/v1/messages/count_tokens', { model: 'sandbox/chat', messages }],
    ['/v1/rerank', { model: 'sandbox/chat', query: 'a', documents: ['a'] }],
    ['/v1/moderations', { model: 'sandbox/moderation', input: 'Hello' }],
    ['/v1/images/generations', { model: 'sandbox/image', prompt: 'a cat' }],
    ['/v1/audio/speech', { model: 'sandbox/speech', input: 'Hello', voice: 'alloy' }],
    ['/v1/videos', { model: 'sandbox/video', prompt: 'a cat' }],
    ['/v1beta/models/sandbox%2Fchat:generateContent', { contents: [{ parts: [{ text: 'a' }] }] }],
    ['/v1beta/models/sandbox%2Fembedding:embedContent', { content: { parts: [{ text: 'a' }] } }],
    ['/v1beta/models/sandbox%2Fchat:countTokens', { contents: [{ parts: [{ text: 'a' }] }] }],
  ]
  const awkward = ['a"b', 'a\\b', 'a\nb', 'a\u0000b', '\ud800', '__proto__', '', 'é', '\u2028']

  test.each(endpoints)('%s takes a name that JSON must escape as any other', async (path, base) => {
    const plain = await postJson(gateway.url + path, { ...base, x: { y: 1 } })
    for (const name of awkward) {
      const text = `${JSON.stringify(base).slice(0, -1)},${JSON.stringify(name)}:{${JSON.stringify(name)}:1}}`
      const reply = await postJson(gateway.url + path, text)
      expect([name, reply.status]).toEqual([name, plain.status])
    }
    expect(plain.status).toBeLessThan(500)
  })

  test.each(endpoints.filter(([path]) => !/count|input_tokens/.test(path)))(
    '%s refuses a member named twice by its path, before any vendor is asked',
    async (path, base) => {
      const text = `${JSON.stringify(base).slice(0, -1)},"x":[{"y":1,"z":2,"y":3}]}`
      const reply = await postJson(gateway.url + path, text)
      expect(reply.status).toBe(400)
      expect(await reply.text()).toContain('x[0].y may be given only once')
    },
  )

  test('a Go reader would take it for another: refused by name', async () => {
    const before = upstream.requests.length
    for (const name of ['Model', 'MAX_TOKENS', 'N', 'Stream', 'max_to\u212aens', 'Messages']) {
      const reply = await postJson(gateway.url + chat, { ...body, [name]: 1 })
      expect((await expectRefusal(reply, 400, 'invalid_request_error')).param).toBe(name)
    }
    expect(upstream.requests).toHaveLength(before)
  })

  test('60 MB with a name twice are refused in little more memory than they take', async () => {
    const many = '{"role":"user","content":"a"},'.repeat(2_000_000)
    const text = `{"model":"m","max_tokens":1,"messages":[${many}{"role":"user","content":"a"}],"max_tokens":2}`
    const reply = await postJson(gateway.url + chat, text)
    expect((await expectRefusal(reply, 400, 'invalid_request_error')).param).toBe('max_tokens')
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]
    expect(Number(peak) * 1024).toBeLessThan(600_000_000)
  })
})

describe('limits', () => {
  test('two that differ are refused, as OpenAI refuses both; two alike are one', async () => {
    const before = upstream.requests.length
    const both = { ...body, max_completion_tokens: 1, max_tokens: 4_000 }
    const reply = await postJson(gateway.url + chat, both)
    expect((await expectRefusal(reply, 400, 'invalid_request_error')).param).toBe('max_tokens')
    expect(upstream.requests).toHaveLength(before)
    expect((await postJson(gateway.url + chat, { ...both, max_tokens: 1 })).status).toBe(200)
  })

  /** Whether the money of the poor account covers it. */
  async function covered(more: object): Promise<boolean> {
    const reply = await fetch(gateway.url + chat, {
      method: 'POST',
      headers: authorized(poor),
      body: JSON.stringify({ ...body, ...more }),
    })
    if (reply.status === 200) return true
    await expectRefusal(reply, 429, 'insufficient_quota')
    return false
  }

  test('what some vendor reads as a limit or a count is held for', async () => {
    expect(await covered({ max_tokens: 10 })).toBe(true)
    expect(await covered({ max_tokens: 10, max_new_tokens: 20 })).toBe(true)
    for (const more of [
      { max_new_tokens: 4_000 },
      { n_predict: 4_000 },
      { min_tokens: 4_000 },
      { options: { num_predict: 4_000 } },
      { extra_body: { options: { num_predict: 4_000 } } },
      { extra_body: { max_tokens: 4_000 } },
      { best_of: 100 },
      { generationConfig: { candidateCount: 100 } },
    ])
      expect([more, await covered({ max_tokens: 10, ...more })]).toEqual([more, false])
  })

  test('0 is no limit: it is held for as where none is given', async () => {
    expect(await covered({})).toBe(false)
    expect(await covered({ max_tokens: 0 })).toBe(false)
    expect(await covered({ max_completion_tokens: 0 })).toBe(false)
  })

  test.each([
    ['n_predict', -1],
    ['n_predict', 0],
    ['max_new_tokens', '4000'],
    ['best_of', '3'],
    ['models', ['m', 'dear']],
    ['fallbacks', [{ model: 'dear' }]],
  ])('%s: %j is refused by name', async (name, value) => {
    const reply = await postJson(gateway.url + chat, { ...body, [name]: value })
    expect((await expectRefusal(reply, 400, 'invalid_request_error')).param).toBe(name)
  })

  test('an object of settings names no model, stream or tier of its own', async () => {
    for (const inside of [{ model: 'dear' }, { stream: true }, { service_tier: 'priority' }]) {
      const reply = await postJson(gateway.url + chat, { ...body, extra_body: inside })
      const [name = ''] = Object.keys(inside)
      const { param } = await expectRefusal(reply, 400, 'invalid_request_error')
      expect(param).toBe(`extra_body.${name}`)
    }
  })
})

describe('tiers', () => {
  test.each([
    ['service_tier', 'priority'],
    ['service_tier', 'fast'],
    ['service_tier', { type: 'priority' }],
    ['serviceTier', 'scale'],
    ['speed', 'fast'],
  ])('%s: %j has a price of its own: it is left out and named', async (name, value) => {
    const reply = await postJson(gateway.url + chat, { ...body, [name]: value })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('x-tollgate-dropped')).toBe(name)
    expect(sent()).toEqual(body)
  })

  test('on the translated path and on a stream too', async () => {
    const more = { service_tier: 'priority', speed: 'fast', stream: true, max_tokens: 5 }
    const reply = await postJson(gateway.url + chat, { ...body, model: 'claude', ...more })
    await reply.text()
    expect(sent()).not.toHaveProperty('service_tier')
    expect(sent()).not.toHaveProperty('speed')
    expect(sent()).toHaveProperty('max_tokens', 5)
  })

  test.each(['auto', 'default', 'flex'])('%s costs no more: it goes on as it is', async (tier) => {
    const asked = { ...body, service_tier: tier }
    const reply = await postJson(gateway.url + chat, asked)
    expect(reply.headers.get('x-tollgate-dropped')).toBeNull()
    expect(sent()).toEqual(asked)
  })

  test('where the work is done is not left out in silence', async () => {
    const asked = { model: 'claude', messages, max_tokens: 5, inference_geo: 'us' }
    const reply = await postJson(`${gateway.url}/v1/messages`, asked)
    expect(reply.status).toBe(400)
    expect(await reply.text()).toContain('inference_geo must be global')
  })
})
