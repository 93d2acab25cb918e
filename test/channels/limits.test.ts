// Tests a channel's limits per minute: above them other channels serve, and with Valkey in every process alike.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { type Gateway, startGateway } from '../support/gateway.ts'
import {
  chatReply,
  json,
  startUpstream,
  type Upstream,
  until,
  wellBehaved,
} from '../support/upstream.ts'

const messages = [{ role: 'user', content: 'Hi' }]
const chat = '/v1/chat/completions'
let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.close())

function channel(id: string, models: string[], more: object = {}) {
  const address = { vendor: 'openai-compatible', baseUrl: upstream.url, key: `sk-of-${id}` }
  return { id, ...address, models, ...more }
}

/** The status of one request, and the channel whose key its vendor saw. */
async function ask(gateway: Gateway, model: string) {
  const answer = await gateway.post(chat, { model, messages })
  await answer.text()
  const key = upstream.of(model).at(-1)?.headers.get('authorization')?.split('sk-of-')[1]
  return { status: answer.status, key: answer.status === 200 ? key : null, answer }
}

test('a full channel is passed over; where all are full the client is told when to come back', async () => {
  const limits = { requestsPerMinute: 2 }
  await using gateway = await startGateway({
    config: {
      retry: { maxAttempts: 1 },
      channels: [
        channel('first', ['m'], { limits }),
        channel('second', ['m'], { limits, priority: 1 }),
        channel('free', ['m-free'], {}),
      ],
    },
  })
  const served: unknown[] = []
  for (let at = 0; at < 4; at++) served.push((await ask(gateway, 'm')).key)
  expect(served).toEqual(['first', 'first', 'second', 'second'])
  const { answer } = await ask(gateway, 'm')
  expect(answer.status).toBe(429)
  expect(Number(answer.headers.get('retry-after'))).toBeWithin(1, 31)
  expect(answer.headers.get('x-should-retry')).toBe('true')
  expect(upstream.of('m')).toHaveLength(4)
  for (let at = 0; at < 5; at++) expect((await ask(gateway, 'm-free')).status).toBe(200)
})

test('however many are full, one that has room is found, after a failure too', async () => {
  const limits = { requestsPerMinute: 1 }
  const crowd = Array.from({ length: 30 }, (_, at) => channel(`one${at}`, ['m-crowd'], { limits }))
  await using gateway = await startGateway({
    config: { retry: { maxAttempts: 2 }, channels: crowd },
  })
  const well = Array.from({ length: 27 }, () => wellBehaved)
  upstream.on('m-crowd', ...well, [json(500, {})], wellBehaved)
  const served = new Set<unknown>()
  // The one that failed was asked as well.
  for (const _ of crowd.slice(1)) {
    const { status, key } = await ask(gateway, 'm-crowd')
    expect(status).toBe(200)
    served.add(key)
  }
  expect(served.size).toBe(crowd.length - 1)
  expect(upstream.of('m-crowd')).toHaveLength(crowd.length)
  expect((await ask(gateway, 'm-crowd')).status).toBe(429)
})

test('tokens are taken by an estimate and put right; what fails gives its own back', async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 900, total_tokens: 1_000 }
  upstream.on('m-wordy', [json(200, chatReply('Hello', { usage }))])
  upstream.on('m-broken', [json(500, {})])
  await using gateway = await startGateway({
    config: {
      channels: [
        channel('wordy', ['m-wordy'], { limits: { tokensPerMinute: 900 } }),
        channel('broken', ['m-broken'], { limits: { tokensPerMinute: 60 } }),
        channel('spare', ['m-wordy', 'm-broken'], { priority: 1 }),
      ],
    },
  })
  expect((await ask(gateway, 'm-wordy')).key).toBe('wordy')
  expect((await ask(gateway, 'm-wordy')).key).toBe('spare')
  // Each takes some 20 of 60, and gives them back.
  for (let at = 1; at <= 4; at++) {
    await ask(gateway, 'm-broken')
    const keys = upstream.of('m-broken').map(({ headers }) => headers.get('authorization'))
    expect(keys.filter((key) => key === 'Bearer sk-of-broken')).toHaveLength(at)
  }
})

test('a client that leaves gives back what was taken', async () => {
  const released = Promise.withResolvers<void>()
  upstream.on('m-slow', [until(released.promise)], wellBehaved)
  await using gateway = await startGateway({
    config: { channels: [channel('slow', ['m-slow'], { limits: { tokensPerMinute: 25 } })] },
  })
  const leaving = new AbortController()
  const seen = upstream.requests.length
  const left = gateway.post(chat, { model: 'm-slow', messages }, { signal: leaving.signal })
  const asked = await upstream.arrived(seen + 1)
  expect((await ask(gateway, 'm-slow')).status).toBe(429)
  leaving.abort()
  await expect(left).rejects.toThrow()
  await asked.gone
  released.resolve()
  const prompt = await ask(gateway, 'm-slow')
  expect(prompt.status).toBe(200)
})

test('after a failure, a channel that is full by now is passed over for one that has room', async () => {
  const released = Promise.withResolvers<void>()
  const held = [until(released.promise), ...wellBehaved]
  upstream.on('m-narrow', held, held)
  const down = { id: 'down', vendor: 'openai-compatible', baseUrl: 'http://127.0.0.1:9', key: 'k' }
  const narrow = channel('narrow', [], { priority: 1, concurrency: 2 })
  const models = { m: 'm-narrow' }
  await using gateway = await startGateway({
    config: {
      channels: [
        { ...down, models: ['m'] },
        { ...narrow, models },
        { ...channel('wide', [], { priority: 2 }), models: { m: 'm-wide' } },
      ],
    },
  })
  const answers = Array.from({ length: 6 }, () => gateway.post(chat, { model: 'm', messages }))
  await upstream.arrived(upstream.requests.length + 6)
  expect([upstream.of('m-narrow').length, upstream.of('m-wide').length]).toEqual([2, 4])
  released.resolve()
  for (const answer of answers) expect((await answer).status).toBe(200)
})

test('a gateway whose channels are full is ready', async () => {
  const released = Promise.withResolvers<void>()
  upstream.on('m-full', [until(released.promise), ...wellBehaved])
  const full = channel('full', ['m-full'], { concurrency: 1 })
  await using gateway = await startGateway({ config: { channels: [full] } })
  const answer = gateway.post(chat, { model: 'm-full', messages })
  await upstream.arrived(upstream.requests.length + 1)
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
  expect(await gateway.metrics()).toContain('tollgate_channel_state{channel="full"} 0')
  released.resolve()
  expect((await answer).status).toBe(200)
})

const valkeyUrl = Bun.env['TEST_VALKEY_URL']

test.if(valkeyUrl !== undefined)('two processes with one Valkey share it exactly', async () => {
  const id = `shared-${randomUUID()}`
  const limits = { requestsPerMinute: 4 }
  const config = { valkeyUrl, channels: [channel(id, ['m-shared'], { limits })] }
  await using one = await startGateway({ config })
  await using other = await startGateway({ config })
  for (const gateway of [one, other]) await gateway.logged('"state":"shared"')
  const statuses: number[] = []
  for (let at = 0; at < 3; at++)
    for (const gateway of [one, other]) statuses.push((await ask(gateway, 'm-shared')).status)
  expect(statuses).toEqual([200, 200, 200, 200, 429, 429])
})
