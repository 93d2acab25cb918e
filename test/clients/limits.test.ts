// Tests limits from a client's view: requests, tokens and concurrency, of a key and of a group, and the headers.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { authorized, eventually } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { expectRefusal, postJson } from '../support/requests.ts'
import { chatReply, hang, json, startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Gateway
const secretOf = (name: string) => `sk-limits-${name}-0123456789`
const models = ['quick', 'stuck', 'wordy']

const keys = [
  { name: 'requests', limits: { requestsPerMinute: 3 } },
  { name: 'tokens', limits: { tokensPerMinute: 200 } },
  { name: 'chunked', limits: { tokensPerMinute: 200 } },
  { name: 'places', limits: { concurrentRequests: 2 } },
  { name: 'mixed', limits: { requestsPerMinute: 100, tokensPerMinute: 100_000 } },
  { name: 'grouped-a', group: 'narrow' },
  { name: 'grouped-b', group: 'narrow' },
  { name: 'crowded-a', group: 'crowded' },
  { name: 'crowded-b', group: 'crowded' },
  { name: 'free' },
]

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.on('stuck', [hang])
  const usage = { prompt_tokens: 100, completion_tokens: 900, total_tokens: 1000 }
  upstream.on('wordy', [json(200, chatReply('Hello', { usage }))])
  gateway = await startGateway({
    config: {
      channels: [{ id: 'main', vendor: 'openai', baseUrl: upstream.url, key: 'sk-up', models }],
      groups: {
        default: {},
        narrow: { limits: { requestsPerMinute: 3 } },
        crowded: { limits: { concurrentRequests: 1 } },
      },
      keys: keys.map((key) => ({ ...key, secret: secretOf(key.name) })),
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

function call(key: string, model = 'quick', signal?: AbortSignal): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: authorized(secretOf(key)),
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    ...(signal && { signal }),
  })
}

async function refused(reply: Response): Promise<void> {
  const { headers } = reply
  const error = await expectRefusal(reply, 429, 'rate_limit_exceeded')
  expect(error.type).toBe('rate_limit_exceeded')
  expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(Number(headers.get('retry-after-ms'))).toBeGreaterThan(0)
  expect(headers.get('x-should-retry')).toBe('true')
}

test('requests a minute: counted down on every reply, then 429', async () => {
  for (const remaining of ['2', '1', '0']) {
    const { status, headers } = await call('requests')
    expect(status).toBe(200)
    expect(headers.get('x-ratelimit-limit-requests')).toBe('3')
    expect(headers.get('x-ratelimit-remaining-requests')).toBe(remaining)
    expect(headers.get('x-ratelimit-reset-requests')).toMatch(/^(\d+m)?\d+(\.\d+)?(ms|s)$/)
    expect(headers.get('x-ratelimit-limit-tokens')).toBeNull()
  }
  const before = upstream.requests.length
  const reply = await call('requests')
  expect(reply.headers.get('x-ratelimit-remaining-requests')).toBe('0')
  const waitMs = Number(reply.headers.get('retry-after-ms'))
  expect(waitMs).toBeGreaterThan(15_000)
  expect(waitMs).toBeLessThanOrEqual(20_000)
  await refused(reply)
  expect(upstream.requests).toHaveLength(before)
})

test('a refusal for another reason also shows the limits', async () => {
  const reply = await call('mixed', 'no-such-model')
  expect(reply.status).toBe(404)
  expect(reply.headers.get('x-ratelimit-limit-requests')).toBe('100')
  expect(reply.headers.get('x-ratelimit-limit-tokens')).toBe('100000')
  const ok = await call('mixed')
  expect(ok.headers.get('x-ratelimit-limit-tokens')).toBe('100000')
  expect(Number(ok.headers.get('x-ratelimit-remaining-tokens'))).toBeLessThan(100_000)
})

test('tokens a minute: what the vendor reported counts against the next request', async () => {
  expect((await call('tokens', 'wordy')).status).toBe(200)
  const reply = await call('tokens', 'wordy')
  expect(reply.headers.get('x-ratelimit-limit-tokens')).toBe('200')
  expect(reply.headers.get('x-ratelimit-remaining-tokens')).toBe('0')
  await refused(reply)
})

test('tokens a minute: a body of unstated length counts as one whose length is stated', async () => {
  const leave = new AbortController()
  const before = upstream.requests.length
  const send = (signal?: AbortSignal): Promise<Response> => {
    const content = 'Hello '.repeat(100)
    const text = JSON.stringify({ model: 'stuck', messages: [{ role: 'user', content }] })
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(text))
        controller.close()
      },
    })
    const headers = authorized(secretOf('chunked'))
    const url = `${gateway.url}/v1/chat/completions`
    return fetch(url, { method: 'POST', headers, body, ...(signal && { signal }) })
  }
  const running = send(leave.signal)
  await upstream.arrived(before + 1)
  await refused(await send())
  leave.abort()
  await Promise.allSettled([running])
  expect(upstream.requests).toHaveLength(before + 1)
})

describe('places', () => {
  test('of a key: a third waits for one of the first two', async () => {
    const leave = new AbortController()
    const before = upstream.requests.length
    const running = [call('places', 'stuck', leave.signal), call('places', 'stuck', leave.signal)]
    await upstream.arrived(before + 2)
    await refused(await call('places'))
    leave.abort()
    await Promise.allSettled(running)
    await served('places')
  })

  test('of a group: shared by its keys', async () => {
    const leave = new AbortController()
    const before = upstream.requests.length
    const running = call('crowded-a', 'stuck', leave.signal)
    await upstream.arrived(before + 1)
    await refused(await call('crowded-b'))
    leave.abort()
    await Promise.allSettled([running])
    await served('crowded-b')
  })

  test.each([
    ['a bad body', '{', 400],
    ['an unknown model', '{"model":"x","messages":[{"role":"user","content":"a"}]}', 404],
    [
      'an out of range value',
      '{"model":"quick","n":0,"messages":[{"role":"user","content":"a"}]}',
      400,
    ],
  ])('are given back after %s', async (_name, body, status) => {
    for (let at = 0; at < 5; at++) {
      const headers = authorized(secretOf('places'))
      const reply = await postJson(`${gateway.url}/v1/chat/completions`, body, headers)
      expect(reply.status).toBe(status)
    }
    expect((await call('places')).status).toBe(200)
  })
})

/** A place is free as soon as the abort has arrived. */
async function served(key: string): Promise<void> {
  await eventually(async () => (await call(key)).status === 200 || undefined)
}

test('requests of a group: shared by its keys', async () => {
  const statuses: number[] = []
  for (const key of ['grouped-a', 'grouped-b', 'grouped-a']) statuses.push((await call(key)).status)
  expect(statuses).toEqual([200, 200, 200])
  await refused(await call('grouped-b'))
  await refused(await call('grouped-a'))
})

test('no limits, no headers', async () => {
  const { status, headers } = await call('free')
  expect(status).toBe(200)
  expect([...headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([])
})

test('a flood on one key: exactly its limit passes', async () => {
  const burst = await startGateway({
    config: {
      channels: [{ id: 'main', vendor: 'openai', baseUrl: upstream.url, key: 'sk-up', models }],
      keys: [{ name: 'a', secret: secretOf('burst'), limits: { requestsPerMinute: 20 } }],
    },
  })
  try {
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const body = { model: 'quick', messages: [{ role: 'user', content: 'Hello' }] }
        const headers = authorized(secretOf('burst'))
        return (await postJson(`${burst.url}/v1/chat/completions`, body, headers)).status
      }),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(statuses.filter((status) => status === 429)).toHaveLength(80)
  } finally {
    await burst.stop()
  }
})
