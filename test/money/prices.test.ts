// Tests which price a request is charged by, from outside: the version at admission, the group, the prompt's tier, and
// no price.

import { describe, expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { testKey } from '../support/gateway.ts'
import { request } from '../support/scene.ts'
import { chatReply, json, send, sseHead, streamEnd, until, words } from '../support/upstream.ts'
import { inputNano, openShop, outputNano, type Shop, unitNano } from './shop.ts'

/** The usage that the vendors report unless a test sets another. */
const usualNano = 7n * inputNano + 5n * outputNano

async function setPrice(shop: Shop, model: string, output: string): Promise<number> {
  const now = Date.now()
  const [version = 0] = await shop.withStore((store) =>
    store.prices.append([
      {
        model,
        effectiveFrom: now,
        prices: { input: '1000', output },
        origin: 'set',
        source: 'test',
        sourceDate: null,
        actor: 'test',
        createdAt: now,
      },
    ]),
  )
  return version
}

/** Waits until this version is used, and returns the version by which a request is admitted. */
async function inForce(shop: Shop, version: number): Promise<void> {
  await eventually(async () => {
    const seen = await shop.chat({ model: 'm-pinned' })
    return seen.headers.get('x-tollgate-price-version') === String(version) || undefined
  })
}

test('I9: a price that changes while a request runs does not change what it costs', async () => {
  await using shop = await openShop()
  const before = await setPrice(shop, 'm-pinned', '4000')
  await inForce(shop, before)
  const released = Promise.withResolvers<void>()
  const slow = [send(sseHead), send(words('Hi')), until(released.promise), send(streamEnd)]
  const asked = shop.first.requests.length
  shop.first.on('m-pinned', slow, [json(200, chatReply())])
  const running = shop.stream({ model: 'm-pinned' })
  await shop.first.arrived(asked + 1)
  const after = await setPrice(shop, 'm-pinned', '8000')
  await inForce(shop, after)
  released.resolve()
  const { requestId } = await running
  expect(await shop.gateway.row(requestId)).toMatchObject({
    priceVersion: before,
    chargeNano: 7n * inputNano + 5n * 2n * outputNano,
  })
  const next = await shop.chat({ model: 'm-pinned' })
  expect(await shop.gateway.row(next.requestId)).toMatchObject({
    priceVersion: after,
    chargeNano: 7n * inputNano + 5n * 4n * outputNano,
  })
})

test("the group's multiplier is on the charge, not on what the vendor asks", async () => {
  const secret = 'sk-a-key-of-the-dear-group'
  await using shop = await openShop({
    groups: { dear: { multiplier: '1.25' } },
    keys: [
      { name: 'test', secret: testKey },
      { name: 'dear', group: 'dear', secret },
    ],
  })
  await shop.chat({ model: 'm-usual' })
  await shop.chat({ model: 'm-dear' }, { authorization: `Bearer ${secret}` })
  expect(await shop.rowOf('m-usual')).toMatchObject({
    chargeNano: usualNano,
    multiplierPpm: 1_000_000,
  })
  expect(await shop.rowOf('m-dear')).toMatchObject({
    chargeNano: (usualNano * 5n) / 4n,
    multiplierPpm: 1_250_000,
    vendorCostNano: usualNano,
  })
})

test('some models of a group have a multiplier of their own, the longest that fits', async () => {
  await using shop = await openShop({
    groups: {
      default: {
        multiplier: '1.25',
        modelMultipliers: { 'm-sale*': '0.5', 'm-sale-now': '0.333333', 'm-gift': '0' },
      },
    },
  })
  for (const [model, multiplierPpm, chargeNano] of [
    ['m-dear', 1_250_000, (usualNano * 5n) / 4n],
    ['m-sale-next', 500_000, usualNano / 2n],
    // Rounded up once.
    ['m-sale-now', 333_333, (usualNano * 333_333n + 999_999n) / 1_000_000n],
    ['m-gift', 0, 0n],
  ] as const) {
    await shop.chat({ model })
    const row = await shop.rowOf(model)
    expect(row).toMatchObject({ multiplierPpm, chargeNano, vendorCostNano: usualNano })
  }
})

test('a long prompt is charged by its tier, one at the edge is not', async () => {
  await using shop = await openShop({
    models: { 'm-tiers': { prices: { input: '1000', 'input>100': '3000', output: '2000' } } },
  })
  for (const [prompt, priceNano] of [
    [100, inputNano],
    [101, 3n * inputNano],
  ] as const) {
    const usage = { prompt_tokens: prompt, completion_tokens: 5 }
    shop.first.on('m-tiers', [json(200, chatReply('Hello', { usage }))])
    const { requestId } = await shop.chat({ model: 'm-tiers' })
    const { chargeNano } = await shop.gateway.row(requestId)
    expect(chargeNano).toBe(BigInt(prompt) * priceNano + 5n * outputNano)
  }
})

test('a price per request is beside the tokens; of a request that is free it is not asked', async () => {
  const prices = { input: '1000', output: '2000', request: '500000' }
  await using shop = await openShop({
    models: { 'm-counted': { prices } },
    retry: { maxAttempts: 1 },
  })
  const served = await shop.chat({ model: 'm-counted' })
  expect(await shop.gateway.row(served.requestId)).toMatchObject({
    chargeNano: usualNano + unitNano / 2n,
    units: { request: 1 },
  })
  shop.first.on('m-counted', [json(500, { error: { message: 'No.' } })])
  const failed = await shop.chat({ model: 'm-counted' })
  expect(await shop.gateway.row(failed.requestId)).toMatchObject({ chargeNano: 0n, units: null })
})

describe('a model without a price', () => {
  const models = {
    '*': {},
    'm*': {},
    'm-output': { prices: { output: '1' } },
    'm-vectors': { kind: 'embedding', prices: { output: '1' } },
  }

  test('is refused with words for the caller and the operator, and no vendor is asked', async () => {
    await using shop = await openShop({ models })
    for (const [model, words] of [
      ['m-none', 'has no price and'],
      ['m-output', 'has no price for input and'],
    ] as const) {
      for (const seen of [await shop.chat({ model }), await shop.stream({ model })]) {
        expect(seen.status).toBe(503)
        expect(seen.error).toMatchObject({ code: 'service_unavailable', param: 'model' })
        expect(seen.error?.message).toContain(`The model '${model}' ${words}`)
        expect(seen.headers.get('x-should-retry')).toBe('false')
        expect(await shop.gateway.row(seen.requestId)).toMatchObject({
          status: 503,
          chargeNano: 0n,
        })
      }
      await shop.gateway.logged(`tollgate price set '${model}'`)
    }
    expect(await shop.gateway.metrics()).toMatch(/^tollgate_unpriced\w* 4$/m)
    expect(shop.first.requests).toHaveLength(0)
  })

  test('of another kind lacks what that kind needs', async () => {
    await using shop = await openShop({ models })
    const body = { model: 'm-vectors', input: 'Hello' }
    const seen = await request(shop.gateway, body, '/v1/embeddings')
    expect(seen.status).toBe(503)
    expect(seen.error?.message).toContain("The model 'm-vectors' has no price for input")
    expect(shop.first.requests).toHaveLength(0)
  })
})
