// What the file and the catalogue say of prices is written down once, and followed when it changes.

import { describe, expect, test } from 'bun:test'
import { memoryPrices } from '../../test/support/price-table.ts'
import type { ModelConfig } from '../config/types.ts'
import type { PriceTable } from '../store/ledger.ts'
import { ensurePrices, type ShippedCard } from './ensure-prices.ts'
import { createPriceBook } from './price-book.ts'

type Prices = Readonly<Record<string, string>>

const unsaid: ModelConfig = {
  kind: null,
  context: null,
  maxOutput: null,
  vision: null,
  ownedBy: null,
  prices: null,
  timeouts: {},
}
const declare = (models: Readonly<Record<string, Prices | null>>) =>
  Object.fromEntries(Object.entries(models).map(([id, prices]) => [id, { ...unsaid, prices }]))
const ship = (prices: Prices): ShippedCard => ({
  model: 'm',
  prices,
  source: 'https://vendor.example/prices',
  sourceDate: '2026-11-01',
})

async function versionAt(table: PriceTable, model: string, atMs: number): Promise<number | null> {
  return createPriceBook(await table.all()).find(model, atMs, 1_000_000)?.version ?? null
}

describe('at the first start', () => {
  test('what is shipped and what is declared is written down, with where it is from', async () => {
    const table = memoryPrices()
    const rows = await ensurePrices(
      table,
      declare({ 'own-*': { input: '3' }, silent: null }),
      [ship({ input: '1' })],
      500,
    )
    expect(rows).toEqual(await table.all())
    expect(rows).toEqual([
      {
        ...ship({ input: '1' }),
        version: 1,
        origin: 'shipped',
        effectiveFrom: 0,
        actor: null,
        createdAt: 500,
      },
      {
        version: 2,
        model: 'own-*',
        prices: { input: '3' },
        origin: 'file',
        source: 'configuration',
        sourceDate: null,
        effectiveFrom: 0,
        actor: null,
        createdAt: 500,
      },
    ])
    expect(await versionAt(table, 'own-model', 1)).toBe(2)
  })
})

describe('at a later one', () => {
  test('nothing is written where nothing changed, however it is spelt', async () => {
    const table = memoryPrices()
    await ensurePrices(table, declare({ m: { input: '0.15', output: '1' } }), [], 1)
    await ensurePrices(table, declare({ m: { output: '1.00', input: '0.150' } }), [], 2)
    expect(await table.newest()).toBe(1)
  })

  test.each<[string, Prices]>([
    ['a price that differs', { input: '2', output: '1' }],
    ['a price that is new', { input: '1', output: '1', reasoning: '1' }],
    ['a price that is gone', { input: '1' }],
    ['another name', { input: '1', cachedInput: '1' }],
  ])('%s makes a version that holds from now', async (_, prices) => {
    const table = memoryPrices()
    await ensurePrices(table, declare({ m: { input: '1', output: '1' } }), [], 1)
    const rows = await ensurePrices(table, declare({ m: prices }), [], 100)
    expect(rows.at(-1)).toMatchObject({ version: 2, prices, effectiveFrom: 100, createdAt: 100 })
    expect([await versionAt(table, 'm', 99), await versionAt(table, 'm', 100)]).toEqual([1, 2])
  })

  test('a declared card that is gone is withdrawn once, and what is shipped counts again', async () => {
    const table = memoryPrices()
    const shipped = [ship({ input: '1' })]
    await ensurePrices(table, declare({ m: { input: '9' } }), shipped, 1)
    expect(await versionAt(table, 'm', 50)).toBe(2)
    for (const declared of [declare({}), declare({ m: null })]) {
      const rows = await ensurePrices(table, declared, shipped, 100)
      expect(rows.length).toBe(3)
      expect(rows.at(-1)).toMatchObject({ model: 'm', prices: {}, origin: 'file' })
    }
    expect(await versionAt(table, 'm', 100)).toBe(1)
    await ensurePrices(table, declare({ m: { input: '9' } }), shipped, 200)
    expect(await versionAt(table, 'm', 200)).toBe(4)
  })

  test('a shipped card that is gone stays: the model may be served yet', async () => {
    const table = memoryPrices()
    await ensurePrices(table, {}, [ship({ input: '1' })], 1)
    await ensurePrices(table, {}, [], 2)
    expect(await table.newest()).toBe(1)
  })

  test('P8: with the clock set back no card comes into force before the one it follows', async () => {
    const table = memoryPrices()
    await ensurePrices(table, declare({ m: { input: '1' } }), [], 5_000)
    expect(await versionAt(table, 'm', 10)).toBe(1)
    await ensurePrices(table, declare({ m: { input: '2' } }), [], 9_000)
    await ensurePrices(table, declare({ m: { input: '3' } }), [], 10)
    expect(await versionAt(table, 'm', 8_999)).toBe(1)
    expect(await versionAt(table, 'm', 9_000)).toBe(3)
  })
})
