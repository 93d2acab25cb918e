// Tests that prices of the file and the catalogue are recorded once, and again when they change.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { memoryPrices } from '../../test/support/price-table.ts'
import type { ModelConfig } from '../config/types.ts'
import type { PriceTable } from '../store/ledger.ts'
import { ensurePrices, type ShippedCard } from './ensure-prices.ts'
import { commandNode, priceConflicts } from './file-prices.ts'
import { createPriceBook } from './price-book.ts'

type Prices = Readonly<Record<string, string>>

const unset: ModelConfig = {
  kind: null,
  context: null,
  maxOutput: null,
  vision: null,
  ownedBy: null,
  prices: null,
  timeouts: {},
}
const declare = (models: Readonly<Record<string, Prices | null>>) =>
  Object.fromEntries(Object.entries(models).map(([id, prices]) => [id, { ...unset, prices }]))
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

describe('of several nodes', () => {
  const at = (node: string, revision = 0) => ({ node, revision })
  const wrote = async (table: PriceTable) =>
    (await table.all()).map(({ prices }) => prices['input'])
  const one = declare({ m: { input: '1' } })
  const two = declare({ m: { input: '2' } })

  test('the first file to price a model counts; one that differs later does not', async () => {
    const table = memoryPrices()
    await ensurePrices(table, one, [], 1, at('a'))
    await ensurePrices(table, two, [], 2, at('b'))
    await ensurePrices(table, declare({}), [], 3, at('c'))
    await ensurePrices(table, two, [], 4, at('a'))
    expect(await wrote(table)).toEqual(['1'])
    // A model without any price contradicts no file.
    await ensurePrices(table, declare({ m: { input: '2' }, n: { input: '3' } }), [], 5, at('b'))
    expect(await wrote(table)).toEqual(['1', '3'])
  })

  test('a raised revision counts whole, one that is behind never, an equal one only alone', async () => {
    const table = memoryPrices()
    await ensurePrices(table, one, [], 1, at('a'))
    await ensurePrices(table, one, [], 1, at('b'))
    await ensurePrices(table, two, [], 2, at('b', 1))
    await ensurePrices(table, one, [], 3, at('a'))
    await ensurePrices(table, one, [], 4, at('a', 1))
    expect(await wrote(table)).toEqual(['1', '2'])
    await ensurePrices(table, declare({}), [], 5, at('a', 2))
    expect(await wrote(table)).toEqual(['1', '2', undefined])
  })

  test('a file that is alone counts where it changed, and not where it was overruled', async () => {
    const table = memoryPrices()
    await ensurePrices(table, one, [], 1)
    await ensurePrices(table, two, [], 2)
    await ensurePrices(table, one, [], 3)
    expect(await wrote(table)).toEqual(['1', '2', '1'])
    const note = { node: commandNode, revision: 0, cards: {} }
    const [row] = await table.all()
    if (row === undefined) throw new Error('nothing was written')
    await table.appendAfter(3, [{ ...row, prices: { input: '9' } }], note)
    await ensurePrices(table, one, [], 4)
    await ensurePrices(table, two, [], 5)
    expect(await wrote(table)).toEqual(['1', '2', '1', '9'])
    await ensurePrices(table, declare({ m: { input: '9' } }), [], 6)
    await ensurePrices(table, two, [], 7)
    expect(await wrote(table)).toEqual(['1', '2', '1', '9', '2'])
  })

  test('an older version brings no older shipped price back, an alias is as good as its file', async () => {
    const table = memoryPrices()
    const day = (sourceDate: string, input: string) => ({ ...ship({ input }), sourceDate })
    await ensurePrices(table, {}, [day('2026-11-01', '1')], 1, at('a'))
    await ensurePrices(table, {}, [day('2026-11-09', '2')], 2, at('b'))
    await ensurePrices(table, {}, [day('2026-11-01', '1')], 3, at('a'))
    await ensurePrices(table, {}, [day('2026-11-09', '3')], 4, at('b'))
    await ensurePrices(table, {}, [day('2026-11-09', '2')], 5, at('a'))
    await ensurePrices(table, {}, [day('2026-11-10', '2')], 6, at('a'))
    expect(await wrote(table)).toEqual(['1', '2', '3', '2'])
    const alias = (input: string) => ({ ...ship({ input }), model: 'fast', alias: true as const })
    await ensurePrices(table, {}, [alias('5')], 7, at('a'))
    await ensurePrices(table, {}, [alias('6')], 8, at('b'))
    await ensurePrices(table, {}, [alias('7')], 9, at('b', 1))
    expect(await wrote(table)).toEqual(['1', '2', '3', '2', '5', '7'])
  })

  test('an alias costs what its present models cost, or has no price', async () => {
    const table = memoryPrices()
    const own = [ship({ input: '1' })]
    const alias = (input: string | null, ...unpriced: string[]) => [
      ...own,
      { ...ship(input === null ? {} : { input }), model: 'fast', alias: true as const, unpriced },
    ]
    const price = async () => {
      const rows = await table.all()
      const rate = createPriceBook(rows).find('fast', 100, 1_000_000)
      return rate === null ? null : rows[rate.version - 1]?.prices['input']
    }
    const steps: [readonly ShippedCard[], string | null][] = [
      [alias('1'), '1'],
      [alias(null), null],
      [alias('2'), '2'],
      [alias(null, 'unknown'), null],
      [alias('1'), '1'],
      // The channel is removed, and made again with another model.
      [own, '1'],
      [alias('3'), '3'],
      // The model itself has left the catalogue.
      [alias(null, 'm'), '3'],
      [alias('4'), '4'],
    ]
    for (const [index, [cards, expected]] of steps.entries()) {
      await ensurePrices(table, {}, cards, index)
      expect(await price()).toBe(expected)
    }
    const conflicts = async (cards: readonly ShippedCard[]) =>
      priceConflicts(await table.all(), {}, cards.slice(1)).map(({ file }) => file)
    expect(await conflicts(alias('4'))).toEqual([])
    // With a second node the change waits for a higher revision, and is reported.
    await ensurePrices(table, {}, alias('4'), 20, at('other'))
    await ensurePrices(table, {}, alias('5'), 21)
    expect(await price()).toBe('4')
    expect(await conflicts(alias('5'))).toEqual([{ input: '5' }])
    expect(await conflicts(alias(null))).toEqual([null])
    expect(await conflicts(alias(null, 'm'))).toEqual([])
    // A price set by a command is charged whatever the alias stands for.
    const set = (await table.all()).map((row) => ({ ...row, origin: 'set' as const }))
    expect(priceConflicts([...(await table.all()), ...set], {}, alias('5').slice(1))).toEqual([])
    await ensurePrices(table, {}, alias(null), 22, { node: 'local', revision: 1 })
    expect(await price()).toBeNull()
  })

  test('whatever nodes do, only a file that agreed or was raised changes what counts', async () => {
    const step = fc.record({
      node: fc.constantFrom('a', 'b', 'c'),
      input: fc.constantFrom('1', '2', '3'),
      revision: fc.constantFrom(0, 0, 0, 1, 2),
    })
    const run = async (steps: readonly { node: string; input: string; revision: number }[]) => {
      const table = memoryPrices()
      const seen = new Set<string>()
      let [counts, highest]: [string | null, number] = [null, 0]
      for (const { node, input, revision } of steps) {
        const alone = [...seen].every((each) => each === node)
        await ensurePrices(table, declare({ m: { input } }), [], 1, at(node, revision))
        const now = (await wrote(table)).at(-1) ?? null
        if (now !== counts)
          expect(
            counts === null || revision > highest || (alone && revision === highest),
          ).toBeTrue()
        if (revision > highest || counts === null) expect(now).toBe(input)
        seen.add(node)
        ;[counts, highest] = [now, Math.max(highest, revision)]
      }
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), run))
  })
})
