// Tests after which refusals another channel is tried, as configured on a channel, and what failed attempts cost.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../support/gateway.ts'
import {
  event,
  json,
  lastChunk,
  type Script,
  send,
  sseHead,
  startUpstream,
  type Upstream,
  wellBehaved,
  words,
} from '../support/upstream.ts'

const refusal = (status: number, message: string, ...fields: string[]): Script => [
  json(status, { error: { message, type: 'invalid_request_error' } }, ...fields),
]
let first: Upstream
let second: Upstream
let gateway: Gateway

beforeAll(async () => {
  first = await startUpstream()
  second = await startUpstream()
  const channel = (id: string, url: string, more: object) => ({
    id,
    vendor: 'openai-compatible',
    baseUrl: url,
    key: `sk-vendor-secret-${id}`,
    ...more,
  })
  const prices = { input: '1000', output: '2000' }
  const retryStatuses = { add: [400, 408], remove: [500, 429] }
  gateway = await startGateway({
    config: {
      channels: [
        channel('usual', first.url, { models: ['usual'] }),
        channel('set', first.url, {
          models: ['m-*', 'alone'],
          retryStatuses,
          costMultiplier: '0.5',
        }),
        channel('next', second.url, { models: ['usual', 'm-*'], priority: 1 }),
      ],
      models: { 'm-*': { prices }, alone: { prices } },
    },
  })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await Promise.all([first.close(), second.close()])
})

async function ask(model: string, more: object = {}) {
  const messages = [{ role: 'user', content: 'Hi' }]
  const answer = await gateway.post('/v1/chat/completions', { model, messages, ...more })
  const text = await answer.text()
  const row = await gateway.row(answer.headers.get('x-request-id') ?? '')
  return { answer, text, row, others: second.of(model).length }
}

test('without a word on it a 400 is the client’s answer', async () => {
  first.on('usual', refusal(400, 'not this way'))
  const { answer, text, others } = await ask('usual')
  expect([answer.status, others]).toEqual([400, 0])
  expect(text).toContain('not this way')
})

test('after an added status another channel serves, which is told in the record', async () => {
  first.on('m-added', refusal(400, 'not this way'))
  const { answer, row, others } = await ask('m-added')
  expect([answer.status, others]).toEqual([200, 1])
  expect(row.failedAttempts).toMatchObject([
    { channel: 'set', kind: 'rejected', status: 400, then: 'next_channel' },
  ])
})

test('where the last refuses too, its words are the client’s answer', async () => {
  first.on('m-both', refusal(400, 'not this way'))
  second.on('m-both', refusal(400, 'nor this way'))
  const { answer, text } = await ask('m-both')
  expect(answer.status).toBe(400)
  expect(text).toContain('nor this way')
  expect(text).not.toContain('not this way')
})

test('after a removed status none does, and retry-after is kept', async () => {
  first.on('m-failing', refusal(500, 'broken'))
  const failed = await ask('m-failing')
  expect([failed.answer.status, failed.others]).toEqual([500, 0])
  expect(failed.row.failedAttempts).toMatchObject([
    { channel: 'set', kind: 'vendor_error', then: 'status_not_retried' },
  ])
  first.on('m-limited', refusal(429, 'slowly', 'retry-after: 7'))
  const limited = await ask('m-limited')
  expect([limited.answer.status, limited.others]).toEqual([429, 0])
  expect(limited.answer.headers.get('retry-after')).toBe('7')
  // It cools down all the same: the next request goes to the other.
  first.on('m-limited', wellBehaved)
  const next = await ask('m-limited')
  expect([next.answer.status, next.others]).toEqual([200, 1])
})

test('a reply that has begun is not taken over', async () => {
  const error = event({ error: { message: 'not this way', code: 400, type: 'invalid_request' } })
  first.on('m-begun', [send(sseHead), send(words('Hi')), send(error), send(lastChunk)])
  const { text, others, row } = await ask('m-begun', { stream: true })
  expect(text).toContain('"Hi"')
  expect(text).toContain('error')
  expect(others).toBe(0)
  expect(row.attempts).toBe(1)
})

/** A stream that is cut before any content, although its vendor has reported tokens. */
const cutStream: Script = [
  send(sseHead),
  send(event({ choices: [], usage: { prompt_tokens: 1_000, completion_tokens: 0 } })),
  send(lastChunk),
]
const halfNano = 500_000_000n

test('where no attempt served, each is recorded once, at what its channel pays', async () => {
  first.on('alone', cutStream)
  expect((await ask('alone', { stream: true })).row).toMatchObject({
    status: 503,
    chargeNano: 0n,
    vendorCostNano: halfNano,
    failedAttempts: [{ channel: 'set', kind: 'cut', costNano: String(halfNano) }],
  })
})

test('where another served, its cost comes on top', async () => {
  first.on('m-cut', cutStream)
  const { row } = await ask('m-cut', { stream: true })
  expect(row).toMatchObject({ status: 200, channel: 'next' })
  expect(row.vendorCostNano).toBe(row.chargeNano + halfNano)
  expect(row.failedAttempts).toMatchObject([{ costNano: String(halfNano) }])
})
