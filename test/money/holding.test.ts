// Tests how much running requests hold: its bounds, and a vendor that reports more than anybody could hold.

import { describe, expect, test } from 'bun:test'
import { testKey } from '../support/gateway.ts'
import type { Seen } from '../support/scene.ts'
import {
  chatReply,
  delta,
  event,
  json,
  lastChunk,
  send,
  sseHead,
  streamEnd,
  until,
  words,
} from '../support/upstream.ts'
import { inputNano, openShop, outputNano, type Shop, unitNano } from './shop.ts'

const other = 'sk-the-other-key-of-the-account'
const keys = [
  { name: 'test', secret: testKey },
  { name: 'other', secret: other },
]
const asOther = { authorization: `Bearer ${other}` }

/** A stream that runs until `end` is called. */
async function runStream(shop: Shop, model: string) {
  const released = Promise.withResolvers<void>()
  const begun = [send(sseHead), send(words('Hi'))]
  shop.first.on(model, [...begun, until(released.promise), send(streamEnd)])
  const seen = shop.stream({ model })
  await shop.first.arrived(shop.first.requests.length + 1)
  return {
    end() {
      released.resolve()
      return seen
    },
  }
}

function expectBusy(seen: Seen): void {
  expect(seen.status).toBe(429)
  expect(seen.error).toMatchObject({ code: 'insufficient_quota', type: 'insufficient_quota' })
  expect(seen.headers.get('retry-after')).toBe('1')
  expect(seen.headers.get('x-should-retry')).toBe('true')
}

describe('a bound on what may be held at once', () => {
  test('per key: refused while another request of the key runs, admitted after', async () => {
    await using shop = await openShop({ billing: { maxHeldPerKey: '3' }, keys })
    const running = await runStream(shop, 'm-running')
    expectBusy(await shop.stream({ model: 'm-refused' }))
    expect((await shop.stream({ model: 'm-other' }, asOther)).content).toBe('Hello there')
    expect((await running.end()).events).toContain('[DONE]')
    expect((await shop.stream({ model: 'm-after' })).content).toBe('Hello there')
    expect(shop.first.of('m-refused')).toHaveLength(0)
    expect((await shop.rowOf('m-refused')).chargeNano).toBe(0n)
  })

  test('per account: refused whichever of its keys asks', async () => {
    await using shop = await openShop({ billing: { maxHeldPerAccount: '3' }, keys })
    const running = await runStream(shop, 'm-running')
    expectBusy(await shop.stream({ model: 'm-refused' }))
    expectBusy(await shop.stream({ model: 'm-refused' }, asOther))
    await running.end()
    expect((await shop.stream({ model: 'm-after' }, asOther)).content).toBe('Hello there')
    expect(shop.first.of('m-refused')).toHaveLength(0)
  })
})

test('a balance that running requests hold is told apart from one that is too small', async () => {
  await using shop = await openShop({ credit: '3' })
  const running = await runStream(shop, 'm-running')
  expectBusy(await shop.stream({ model: 'm-refused' }))
  await running.end()
  const seen = await shop.chat({ model: 'm-large', max_tokens: 100_000 })
  expect(seen.status).toBe(429)
  expect(seen.headers.get('x-should-retry')).toBe('false')
  expect(seen.headers.get('retry-after')).toBeNull()
  expect(shop.first.of('m-large')).toHaveLength(0)
})

test.each([false, true])(
  'a vendor reports far more than was held (stream %p): the wallet pays to 0, the rest is written off',
  async (stream) => {
    await using shop = await openShop({ credit: '5' })
    const usage = { prompt_tokens: 70_000, completion_tokens: 5_000_000 }
    const end = [
      event(delta({}, 'stop')),
      event({ ...delta({}), choices: [], usage }),
      event('[DONE]'),
      Buffer.from(lastChunk),
    ]
    const streamed = [send(sseHead), send(words('Hi')), send(Buffer.concat(end))]
    shop.first.on('m', stream ? streamed : [json(200, chatReply('Much', { usage }))])
    const seen = await (stream ? shop.stream() : shop.chat({ max_tokens: 10 }))
    expect(seen.status).toBe(200)
    const whole = 70_000n * inputNano + 5_000_000n * outputNano
    const row = await shop.rowOf('m')
    expect(row).toMatchObject({ chargeNano: 5n * unitNano, writeoffNano: whole - 5n * unitNano })
    expect((await shop.wallet()).postedNano).toBe(0n)
    expect((await shop.chat({ model: 'm-next', max_tokens: 10 })).status).toBe(429)
  },
)
