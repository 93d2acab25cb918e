// Tests that output which no vendor counted costs no more than the reply that the client's limit allows.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  bodyOf,
  countedInput,
  inputNano,
  openShop,
  outputNano,
  type Shop,
  unitNano,
} from '../money/shop.ts'
import {
  chatReply,
  delta,
  event,
  forever,
  json,
  lastChunk,
  send,
  sseHead,
  words,
} from '../support/upstream.ts'

/** 600 bytes. */
const piece = 'understandably '.repeat(40)
const uncounted = Buffer.concat([event(delta({}, 'stop')), event('[DONE]'), Buffer.from(lastChunk)])

const secretOf = (account: string) => `sk-of-the-account-${account}`
const of = (account: string) => ({ authorization: `Bearer ${secretOf(account)}` })

let shop: Shop
beforeAll(async () => {
  // A stream of 400 tokens and its prompt, but no 450.
  shop = await openShop({
    accounts: { short: { credit: '0.85' }, other: { credit: '1' } },
    keys: ['default', 'short', 'other'].map((name) => ({
      name,
      account: name,
      group: 'default',
      secret: secretOf(name),
    })),
  })
})
afterAll(async () => shop[Symbol.asyncDispose]())

test('a whole reply whose vendor reports no usage costs no more than max_tokens', async () => {
  shop.first.on('m-whole', [json(200, chatReply(piece, { usage: null }))])
  await shop.chat({ model: 'm-whole', max_tokens: 100 }, of('default'))
  const input = countedInput(bodyOf({ model: 'm-whole', max_tokens: 100 }))
  expect(await shop.rowOf('m-whole')).toMatchObject({
    usageSource: 'counted',
    output: 100,
    chargeNano: BigInt(input) * inputNano + 100n * outputNano,
  })
})

test('the limit applies to each of several replies', async () => {
  shop.first.on('m-several', [json(200, chatReply(piece, { usage: null }))])
  await shop.chat({ model: 'm-several', max_tokens: 70, n: 2 }, of('default'))
  expect(await shop.rowOf('m-several')).toMatchObject({ usageSource: 'counted', output: 140 })
})

test('a stream whose balance covers its limit is not stopped', async () => {
  const pieces = [1, 2, 3].map(() => send(words(piece)))
  shop.first.on('m-stream', [send(sseHead), ...pieces, send(uncounted)])
  const seen = await shop.stream({ model: 'm-stream', max_tokens: 400 }, of('short'))
  expect(seen.error).toBeNull()
  expect(seen.content).toBe(piece.repeat(3))
  expect(await shop.rowOf('m-stream')).toMatchObject({
    errorCode: null,
    output: 400,
    writeoffNano: 0n,
  })
})

test('a vendor that exceeds the limit by far is counted by what it sent', async () => {
  shop.first.on('m-ignored', [json(200, chatReply(piece, { usage: null }))])
  await shop.chat({ model: 'm-ignored', max_tokens: 1 }, of('default'))
  expect(await shop.rowOf('m-ignored')).toMatchObject({ usageSource: 'counted', output: 150 })
})

test('a stream far past its limit is stopped when the balance is used up', async () => {
  shop.first.on('m-endless', [send(sseHead), forever(words(piece))])
  const seen = await shop.stream({ model: 'm-endless', max_tokens: 1 }, of('other'))
  expect(seen.error).toMatchObject({ code: 'insufficient_quota' })
  const { chargeNano, writeoffNano } = await shop.rowOf('m-endless')
  expect([chargeNano < unitNano, writeoffNano]).toEqual([true, 0n])
})
