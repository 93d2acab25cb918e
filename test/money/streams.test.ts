// Tests streams that cost more than was held for them: they continue while there is money, and end properly when it
// runs out.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { testKey } from '../support/gateway.ts'
import type { Seen } from '../support/scene.ts'
import {
  chatReply,
  delta,
  event,
  forever,
  json,
  lastChunk,
  type Script,
  send,
  sseHead,
  words,
} from '../support/upstream.ts'
import {
  bodyOf,
  countedInput,
  inputNano,
  openShop,
  outputNano,
  type Shop,
  unitNano,
} from './shop.ts'

const piece = 'x'.repeat(256)
const quantumNano = 256n * outputNano
/** Covers the initial hold, and little more. */
const creditOf = (name: string) => (name === 'several choices' ? 5n : 3n)
const finished = (output: number) => [
  event(delta({}, 'stop')),
  event({ ...delta({}), choices: [], usage: { prompt_tokens: 7, completion_tokens: output } }),
  event('[DONE]'),
  Buffer.from(lastChunk),
]

test('a stream longer than its hold completes where there is money', async () => {
  await using shop = await openShop()
  const pieces = Array.from({ length: 100 }, () => send(words(piece)))
  shop.first.on('m', [send(sseHead), ...pieces, send(Buffer.concat(finished(6_400)))])
  const seen = await shop.stream({ stream_options: { include_usage: true } })
  expect(seen.content).toBe(piece.repeat(100))
  expect(seen.events.at(-1)).toBe('[DONE]')
  expect(await shop.rowOf('m')).toMatchObject({
    errorCode: null,
    chargeNano: 7n * inputNano + 6_400n * outputNano,
    writeoffNano: 0n,
  })
})

/** Ends with the gateway's error in place of a normal end. */
function expectStopped(seen: Seen, message: string): void {
  expect(seen.status).toBe(200)
  expect(seen.broken).toBe(false)
  expect(seen.error).toMatchObject({ code: 'insufficient_quota', type: 'insufficient_quota' })
  expect(seen.error?.message).toContain(message)
  expect(seen.events).not.toContain('[DONE]')
  expect(seen.events.at(-1)).toStartWith('{"error":')
}

const endless: readonly [name: string, delta: object][] = [
  ['text', delta({ content: piece })],
  ['reasoning', delta({ reasoning_content: piece })],
  ['tool calls', delta({ tool_calls: [{ index: 0, function: { arguments: piece } }] })],
  [
    'several choices',
    {
      ...delta({}),
      choices: [0, 1].map((index) => ({
        index,
        delta: { content: piece.slice(128) },
        finish_reason: null,
      })),
    },
  ],
]

const accounts = Object.fromEntries(
  endless.map(([name], at) => [`a${at}`, { credit: String(creditOf(name)) }]),
)
const secretOf = (at: number) => `sk-account-number-${at}-secret`
const keys = [
  { name: 'test', secret: testKey },
  ...endless.map((_, at) => ({ name: `k${at}`, account: `a${at}`, secret: secretOf(at) })),
]
const as = (at: number) => ({ authorization: `Bearer ${secretOf(at)}` })

test('an endless stream is stopped where the balance ends, and what was delivered is charged', async () => {
  await using shop = await openShop({ accounts, keys })
  for (const [at, [name, part]] of endless.entries()) {
    const model = `m-endless-${at}`
    shop.first.on(model, [send(sseHead), forever(event(part), 1)])
    const seen = await shop.stream({ model, ...(name === 'several choices' && { n: 2 }) }, as(at))
    expectStopped(seen, "no more of this account's balance")
    await shop.first.of(model)[0]?.gone
    const delivered = (seen.text.match(/x{64,}/g) ?? []).join('').length
    const row = await shop.rowOf(model)
    expect({ name, ...row }).toMatchObject({
      name,
      status: 200,
      errorCode: 'insufficient_quota',
      usageSource: 'counted',
      output: Math.ceil(delivered / 4),
    })
    expect(row.writeoffNano).toBeLessThanOrEqual(quantumNano)
    expect(delivered).toBeGreaterThan(0)
    const { postedNano } = await shop.wallet(`a${at}`)
    expect(postedNano).toBe(creditOf(name) * unitNano - row.chargeNano)
    expect(postedNano).toBeGreaterThanOrEqual(0n)
    // Data that arrived at once and costs more than what is left is not delivered in part.
    expect(postedNano).toBeLessThan((creditOf(name) * unitNano) / 2n)
  }
}, 20_000)

test('fifty endless streams of one account share what it has: none overdraws it', async () => {
  await using shop = await openShop({ credit: '30' })
  shop.first.on('m', [send(sseHead), forever(words(piece), 5)])
  const seen = await Promise.all(Array.from({ length: 50 }, () => shop.stream()))
  const admitted = seen.filter(({ status }) => status === 200)
  expect(admitted.length).toBeGreaterThan(5)
  for (const each of admitted) expectStopped(each, "no more of this account's balance")
  for (const { status, error } of seen.filter((each) => each.status !== 200))
    expect({ status, code: error?.code }).toEqual({ status: 429, code: 'insufficient_quota' })
  await shop.checkBooks()
  const rows = await shop.gateway.usage()
  const charged = rows.reduce((sum, { chargeNano }) => sum + chargeNano, 0n)
  const writtenOff = rows.reduce((sum, { writeoffNano }) => sum + writeoffNano, 0n)
  expect(charged).toBeLessThanOrEqual(30n * unitNano)
  expect((await shop.wallet()).postedNano).toBe(30n * unitNano - charged)
  expect(writtenOff).toBeLessThanOrEqual(BigInt(admitted.length) * quantumNano)
}, 20_000)

const cap = 500_000_000n

async function expectCapped(shop: Shop, model: string, seen: Seen): Promise<void> {
  expectStopped(seen, 'max_cost is reached')
  const received = shop.first.of(model)[0]
  expect(received?.body.toString()).not.toContain('max_cost')
  expect(JSON.parse(received?.body.toString() ?? '')).toMatchObject({ model, stream: true })
  await received?.gone
  const row = await shop.rowOf(model)
  expect(row.chargeNano).toBeLessThanOrEqual(cap)
  expect(row.chargeNano).toBeGreaterThan(cap / 2n)
  expect(row.writeoffNano).toBe(0n)
}

describe('max_cost', () => {
  const endlessly: Script = [send(sseHead), forever(words('four', 'more'), 1)]
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop[Symbol.asyncDispose]())

  test('stops a stream at it, and the charge is never above it', async () => {
    for (const model of ['m-number', 'm-string', 'm-header', 'm-both'])
      shop.first.on(model, endlessly)
    await expectCapped(shop, 'm-number', await shop.stream({ model: 'm-number', max_cost: 0.5 }))
    await expectCapped(shop, 'm-string', await shop.stream({ model: 'm-string', max_cost: '0.5' }))
    const header = { 'x-tollgate-max-cost': '0.5' }
    await expectCapped(shop, 'm-header', await shop.stream({ model: 'm-header' }, header))
    // The value in the body takes precedence.
    const both = await shop.stream(
      { model: 'm-both', max_cost: 0.5 },
      { 'x-tollgate-max-cost': '9' },
    )
    await expectCapped(shop, 'm-both', both)
  }, 20_000)

  test('above what the stream costs changes nothing, and the vendor never sees it', async () => {
    expect((await shop.stream({ max_cost: 100 })).content).toBe('Hello there')
    expect((await shop.stream({ model: 'm-null', max_cost: null })).content).toBe('Hello there')
    expect((await shop.chat({ model: 'm-whole', max_cost: '1', max_tokens: 9 })).status).toBe(200)
    for (const { body } of shop.first.requests) expect(body.toString()).not.toContain('max_cost')
    expect((await shop.rowOf('m-whole')).chargeNano).toBe(7n * inputNano + 5n * outputNano)
  })

  test('a whole reply is refused where it may cost more, and never charged more', async () => {
    const seen = await shop.chat({ model: 'm-dear', max_cost: '0.5' })
    expect(seen.status).toBe(400)
    expect(seen.error).toMatchObject({ code: 'invalid_request_error', param: 'max_cost' })
    const most = (await shop.chat({ model: 'm-more', max_tokens: 100, max_cost: '0.2' })).status
    expect(most).toBe(400)
    expect([...shop.first.of('m-dear'), ...shop.first.of('m-more')]).toEqual([])
    // A vendor that exceeds max_tokens: the client does not pay for the excess.
    const usage = { prompt_tokens: 7, completion_tokens: 1_000 }
    shop.first.on('m-over', [json(200, chatReply('Much', { usage }))])
    const over = await shop.chat({ model: 'm-over', max_tokens: 100, max_cost: '0.5' })
    expect(over.headers.get('x-tollgate-cost')).toBe('0.5')
    expect(await shop.rowOf('m-over')).toMatchObject({
      chargeNano: cap,
      writeoffNano: 7n * inputNano + 1_000n * outputNano - cap,
    })
  })

  test('that leaves a stream no room for output is refused: a prompt is not done for nothing', async () => {
    const model = 'm-prompt'
    await shop.checkBooks()
    const before = (await shop.wallet()).postedNano
    const promptNano = BigInt(countedInput(bodyOf({ model, stream: true }))) * inputNano
    for (const max_cost of ['0', '0.000000001', `0.0${promptNano}`]) {
      const seen = await shop.stream({ model, max_cost })
      expect({ max_cost, status: seen.status }).toEqual({ max_cost, status: 400 })
      expect(seen.error?.param).toBe('max_cost')
    }
    expect(shop.first.of(model)).toHaveLength(0)
    expect((await shop.wallet()).postedNano).toBe(before)
  })

  test('of a wrong form is refused by its name', async () => {
    for (const max_cost of [-1, '-1', 'free', '', true, [1], { a: 1 }, '1.0000000001', '1e3']) {
      const { status, error } = await shop.stream({ model: 'm-wrong', max_cost })
      expect({ max_cost, status, ...error }).toMatchObject({
        max_cost,
        status: 400,
        code: 'invalid_request_error',
        param: 'max_cost',
      })
    }
    for (const value of ['-1', 'much', '0x10', '1,5']) {
      const { status, error } = await shop.stream(
        { model: 'm-wrong' },
        { 'x-tollgate-max-cost': value },
      )
      expect({ value, status, param: error?.param }).toEqual({
        value,
        status: 400,
        param: 'x-tollgate-max-cost',
      })
    }
    expect(shop.first.of('m-wrong')).toHaveLength(0)
  })
})
