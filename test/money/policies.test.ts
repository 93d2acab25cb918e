// Tests who pays when a request ends abnormally: clients that disconnect, vendors that fail, answers without content.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { openSockets } from '../support/gateway.ts'
import {
  chatReply,
  delta,
  event,
  hang,
  json,
  lastChunk,
  reset,
  type Script,
  send,
  sseHead,
  streamEnd,
  until,
  usage,
  words,
} from '../support/upstream.ts'
import { bodyOf, countedInput, inputNano, openShop, outputNano, type Shop } from './shop.ts'

const forty = 'x'.repeat(40)
const usageEvent = (counts: object) => event({ ...delta({}), choices: [], usage: counts })
const streamed = (model: string) => countedInput(bodyOf({ model, stream: true }))
const gone = { status: 499, errorCode: 'client_closed_request' }

/**
 * A client that sends a request, receives `text` of the reply (or only waits until the vendor was called), and
 * disconnects.
 */
async function leave(shop: Shop, model: string, text: string | null): Promise<void> {
  const client = await shop.client({ model, stream: true })
  if (text === null) await shop.first.arrived(shop.first.requests.length + 1)
  else await client.until((received) => received.includes(text))
  const sockets = openSockets(shop.gateway.pid)
  client.destroy()
  // The gateway has noticed when the connection is closed on its side too.
  await eventually(() => openSockets(shop.gateway.pid) < sockets || undefined)
}

describe('a client leaves, policy stop: the vendor is let go', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop({ server: { commitAfterMs: 100, heartbeatMs: 100 } })
  })
  afterAll(async () => shop[Symbol.asyncDispose]())

  test('before its head: nothing is charged', async () => {
    shop.first.on('m-asked', [hang])
    await leave(shop, 'm-asked', null)
    await shop.first.of('m-asked')[0]?.gone
    const row = await shop.rowOf('m-asked')
    expect(row).toMatchObject({ ...gone, usageSource: 'none', chargeNano: 0n, input: 0 })
  })

  test('after its head: the prompt by counting', async () => {
    shop.first.on('m-accepted', [send(sseHead), hang])
    await leave(shop, 'm-accepted', ': keep-alive')
    await shop.first.of('m-accepted')[0]?.gone
    const input = streamed('m-accepted')
    expect(await shop.rowOf('m-accepted')).toMatchObject({
      ...gone,
      usageSource: 'counted',
      input,
      output: 0,
      chargeNano: BigInt(input) * inputNano,
    })
  })

  test('B11, I10: amid the stream: the prompt and what was delivered, by counting', async () => {
    shop.first.on('m-amid', [send(sseHead), send(words(forty)), hang])
    await leave(shop, 'm-amid', forty)
    await shop.first.of('m-amid')[0]?.gone
    const input = streamed('m-amid')
    expect(await shop.rowOf('m-amid')).toMatchObject({
      ...gone,
      usageSource: 'counted',
      input,
      output: 10,
      chargeNano: BigInt(input) * inputNano + 10n * outputNano,
    })
  })

  test('after the usage was seen: what the vendor reported', async () => {
    const said = [words(forty), event(delta({}, 'stop')), usageEvent(usage)]
    shop.first.on('m-reported', [send(sseHead), send(Buffer.concat(said)), hang])
    await leave(shop, 'm-reported', '"finish_reason":"stop"')
    await shop.first.of('m-reported')[0]?.gone
    expect(await shop.rowOf('m-reported')).toMatchObject({
      usageSource: 'reported',
      input: 7,
      output: 5,
      chargeNano: 7n * inputNano + 5n * outputNano,
    })
  })
})

describe('a client leaves, policy drain: the vendor is heard to its end', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop({ billing: { clientLeaves: 'drain' } })
  })
  afterAll(async () => shop[Symbol.asyncDispose]())

  test('the true usage is charged, and marked as drained', async () => {
    const left = Promise.withResolvers<void>()
    shop.first.on('m-drained', [
      send(sseHead),
      send(words(forty)),
      until(left.promise),
      send(words(forty)),
      send(streamEnd),
    ])
    await leave(shop, 'm-drained', forty)
    expect(shop.first.of('m-drained')[0]?.goneMs).toBeNull()
    left.resolve()
    expect(await shop.rowOf('m-drained')).toMatchObject({
      ...gone,
      usageSource: 'drained',
      input: 7,
      output: 5,
      chargeNano: 7n * inputNano + 5n * outputNano,
    })
  })

  test('a vendor that fails meanwhile: what came is counted', async () => {
    const left = Promise.withResolvers<void>()
    shop.first.on('m-broken', [
      send(sseHead),
      send(words(forty)),
      until(left.promise),
      send(words(forty)),
      reset,
    ])
    await leave(shop, 'm-broken', forty)
    left.resolve()
    expect(await shop.rowOf('m-broken')).toMatchObject({
      ...gone,
      usageSource: 'counted',
      input: streamed('m-broken'),
      output: 20,
    })
  })

  test('before its head there is nothing to hear: it is let go', async () => {
    shop.first.on('m-unheard', [hang])
    await leave(shop, 'm-unheard', null)
    await shop.first.of('m-unheard')[0]?.gone
    expect(await shop.rowOf('m-unheard')).toMatchObject({
      ...gone,
      usageSource: 'none',
      chargeNano: 0n,
    })
  })
})

const failing = event({
  error: { message: 'Overloaded.', type: 'server_error', code: 'overloaded' },
})
const failures: readonly [name: string, ending: Script][] = [
  ['a reset', [reset]],
  ['an end without a finish', [send(lastChunk)]],
  ['an error event', [send(failing), send(lastChunk)]],
]

describe.each([
  ['delivered', 10n * outputNano],
  ['free', null],
] as const)('a vendor fails after content, policy %s', (vendorFails, deliveredNano) => {
  test('is charged so, however it fails; without content it is free in any case', async () => {
    await using shop = await openShop({
      billing: { vendorFails },
      server: { commitAfterMs: 50, heartbeatMs: 50 },
      timeouts: { firstEventMs: 300 },
      retry: { maxAttempts: 1 },
    })
    for (const [at, [name, ending]] of failures.entries()) {
      const model = `m-fails-${at}`
      shop.first.on(model, [send(sseHead), send(words(forty)), ...ending])
      const seen = await shop.stream({ model })
      expect(seen.error?.code).toBe('service_unavailable')
      const input = streamed(model)
      const row = await shop.rowOf(model)
      const chargeNano = deliveredNano === null ? 0n : BigInt(input) * inputNano + deliveredNano
      expect({ name, ...row }).toMatchObject({
        name,
        usageSource: 'counted',
        input,
        output: 10,
        chargeNano,
      })
    }
    shop.first.on('m-heartbeats', [send(sseHead), hang])
    const seen = await shop.stream({ model: 'm-heartbeats' })
    expect(seen.comments).toBeGreaterThan(0)
    const row = await shop.rowOf('m-heartbeats')
    expect(row).toMatchObject({ status: 200, usageSource: 'none', chargeNano: 0n })
    // The vendor had accepted it: what it may ask for the prompt is the house's.
    expect(row.vendorCostNano).toBe(BigInt(streamed('m-heartbeats')) * inputNano)
  })
})

const nothing = { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 }
const filtered = [
  send(
    Buffer.concat([
      Buffer.from(sseHead),
      event(delta({ role: 'assistant' })),
      event(delta({}, 'content_filter')),
      usageEvent(nothing),
      event('[DONE]'),
    ]),
  ),
  send(lastChunk),
]
const emptyStream = [
  send(
    Buffer.concat([
      Buffer.from(sseHead),
      event(delta({ role: 'assistant' })),
      event(delta({}, 'stop')),
      usageEvent(nothing),
      event('[DONE]'),
    ]),
  ),
  send(lastChunk),
]

describe.each([
  ['free', 0n],
  ['charged', 7n * inputNano],
] as const)('an answer without content, policy %s', (emptyAnswers, chargeNano) => {
  test('is charged so: whole, streamed, filtered; one with content is charged in any case', async () => {
    await using shop = await openShop({ billing: { emptyAnswers } })
    shop.first.on('m-whole', [json(200, chatReply('', { usage: nothing }))])
    shop.first.on('m-stream', emptyStream)
    shop.first.on('m-filtered', filtered)
    expect((await shop.chat({ model: 'm-whole' })).status).toBe(200)
    expect((await shop.stream({ model: 'm-stream' })).events).toContain('[DONE]')
    expect((await shop.stream({ model: 'm-filtered' })).text).toContain('content_filter')
    for (const model of ['m-whole', 'm-stream', 'm-filtered']) {
      const row = await shop.rowOf(model)
      expect(row).toMatchObject({
        status: 200,
        usageSource: 'reported',
        input: 7,
        output: 0,
        chargeNano,
      })
      expect(row.vendorCostNano).toBe(7n * inputNano)
    }
    await shop.chat({ model: 'm-full' })
    expect((await shop.rowOf('m-full')).chargeNano).toBe(7n * inputNano + 5n * outputNano)
  })
})

test('an answer without content is charged for its prompt unless its operator says otherwise; without a report it is free', async () => {
  await using shop = await openShop()
  shop.first.on('m-empty', [json(200, chatReply('', { usage: nothing }))])
  shop.first.on('m-untold', [json(200, chatReply('', { usage: undefined }))])
  await shop.chat({ model: 'm-empty' })
  await shop.chat({ model: 'm-untold' })
  expect(await shop.rowOf('m-empty')).toMatchObject({ chargeNano: 7n * inputNano })
  expect(await shop.rowOf('m-untold')).toMatchObject({ usageSource: 'counted', chargeNano: 0n })
})

const unbelievable = [
  { prompt_tokens: 1e300, completion_tokens: 5, total_tokens: 12 },
  { prompt_tokens: 7, completion_tokens: -5, total_tokens: 2 },
  { prompt_tokens: 7, completion_tokens: 2.5, total_tokens: 9.5 },
  { prompt_tokens: 'seven', completion_tokens: 5, total_tokens: 12 },
  // More than a model with such a small context can use.
  { prompt_tokens: 700_000_000, completion_tokens: 5, total_tokens: 700_000_005 },
]

test('usage that cannot be is no report: it is counted, marked so, told in the log and metered', async () => {
  await using shop = await openShop({
    logLevel: 'error',
    models: { 'm-*': { context: 8_000, prices: { input: '1000', output: '2000' } } },
  })
  for (const [at, reported] of unbelievable.entries()) {
    const [whole, stream] = [`m-whole-${at}`, `m-stream-${at}`]
    shop.first.on(whole, [json(200, chatReply('x'.repeat(40), { usage: reported }))])
    shop.first.on(stream, [
      send(sseHead),
      send(words('x'.repeat(40))),
      send(event(delta({}, 'stop'))),
      send(usageEvent(reported)),
      send(event('[DONE]')),
      send(lastChunk),
    ])
    expect((await shop.chat({ model: whole })).status).toBe(200)
    expect((await shop.stream({ model: stream })).events.at(-1)).toBe('[DONE]')
    for (const [model, input] of [
      [whole, countedInput(bodyOf({ model: whole }))],
      [stream, streamed(stream)],
    ] as const) {
      const row = await shop.rowOf(model)
      expect({ reported, ...row }).toMatchObject({ reported, usageSource: 'counted', input })
      expect(row.output).toBeGreaterThan(4)
      expect(row.output).toBeLessThanOrEqual(10)
    }
  }
  const metrics = await (await fetch(`${shop.gateway.url}/metrics`)).text()
  const twice = 2 * unbelievable.length
  expect(metrics).toContain(`tollgate_unbelievable_usage_total{channel="first"} ${twice}`)
  const told = () => shop.gateway.stderr.split('reported impossible usage').length - 1
  await eventually(() => told() >= twice || undefined)
  expect(told()).toBe(twice)
})

test('a refusal costs nothing: 400, 401, 429, 500 and 503 of the vendor', async () => {
  await using shop = await openShop({ retry: { maxAttempts: 1 } })
  for (const status of [400, 401, 429, 500, 503]) {
    const model = `m-${status}`
    shop.first.on(model, [json(status, { error: { message: 'No.', type: 'x', code: null } })])
    shop.second.on(model, [json(status, { error: { message: 'No.', type: 'x', code: null } })])
    expect((await shop.chat({ model })).status).toBeGreaterThanOrEqual(400)
    expect(await shop.rowOf(model)).toMatchObject({
      usageSource: 'none',
      chargeNano: 0n,
      writeoffNano: 0n,
      vendorCostNano: 0n,
    })
  }
  expect((await shop.wallet()).postedNano).toBe(1_000_000n * 1_000_000_000n)
})

const kinds: readonly [name: string, script: Script, kind: string, isCosted: boolean][] = [
  ['a 503', [json(503, { error: { message: 'Busy.' } })], 'vendor_error', false],
  ['a reset', [reset], 'reset', true],
  ['a stream cut before content', [send(sseHead), send(lastChunk)], 'cut', true],
]

describe('failover', () => {
  test('B17, I11: k failed attempts cost the client what none do; what their vendors may ask is the house own', async () => {
    await using shop = await openShop()
    await shop.stream({ model: 'm-at-once' })
    const atOnce = await shop.rowOf('m-at-once')
    expect(atOnce).toMatchObject({ failedAttempts: null, vendorCostNano: atOnce.chargeNano })
    for (const [at, [name, script, kind, isCosted]] of kinds.entries()) {
      const model = `m-again-${at}`
      shop.first.on(model, script)
      const seen = await shop.stream({ model })
      expect({ name, content: seen.content }).toEqual({ name, content: 'Hello there' })
      const row = await shop.rowOf(model)
      const costNano = isCosted ? BigInt(streamed(model)) * inputNano : 0n
      expect({ name, ...row }).toMatchObject({
        name,
        attempts: 2,
        channel: 'second',
        chargeNano: atOnce.chargeNano,
        vendorCostNano: atOnce.chargeNano + costNano,
        failedAttempts: [{ channel: 'first', kind, costNano: String(costNano) }],
      })
    }
  })

  test('where no attempt served, all of them are there with what they may cost', async () => {
    await using shop = await openShop()
    shop.first.on('m-never', [reset])
    shop.second.on('m-never', [json(500, { error: { message: 'No.' } })])
    expect((await shop.stream({ model: 'm-never' })).status).toBe(503)
    const costNano = BigInt(streamed('m-never')) * inputNano
    expect(await shop.rowOf('m-never')).toMatchObject({
      chargeNano: 0n,
      vendorCostNano: costNano,
      failedAttempts: [
        { channel: 'first', kind: 'reset', costNano: String(costNano) },
        { channel: 'second', kind: 'vendor_error', costNano: '0' },
      ],
    })
  })
})
