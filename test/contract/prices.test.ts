// The contract of the table of prices, and of the stored currency of a deployment.

import { expect, test } from 'bun:test'
import type { PriceRow } from '../../src/store/ledger.ts'
import { RowRefused } from '../../src/store/store.ts'
import { onEachEngine } from './engines.ts'

function card(change: Partial<PriceRow> = {}): Omit<PriceRow, 'version'> {
  return {
    model: 'gpt-4o-mini',
    effectiveFrom: 1_763_700_000_000,
    prices: { input: '0.15', cachedInput: '0.075', output: '0.60' },
    origin: 'file',
    source: 'https://example.com/prices',
    sourceDate: '2026-11-01',
    actor: null,
    createdAt: 1_763_700_000_001,
    ...change,
  }
}

onEachEngine('the table of prices', (start, kind) => {
  test('cards come back as they went in, in the order of their versions', async () => {
    const { store } = await start()
    expect(await store.prices.newest()).toBe(0)
    const cards = [
      card(),
      card({ prices: {}, origin: 'set', actor: 'o\'hara "?"', sourceDate: null }),
      card({ model: 'o4*', prices: { 'input>200000': '1.25', 'image/1024x1024': '0.04' } }),
    ]
    expect(await store.prices.append(cards)).toEqual([1, 2, 3])
    expect(await store.prices.append([card({ origin: 'import' })])).toEqual([4])
    expect(await store.prices.append([])).toEqual([])
    expect(await store.prices.newest()).toBe(4)
    expect(await store.prices.all()).toEqual(
      [...cards, card({ origin: 'import' })].map((each, index) => ({
        ...each,
        version: index + 1,
      })),
    )
  })

  test('an append is whole or not at all, and leaves no gap', async () => {
    const { store } = await start()
    const bad = card({ origin: 'guessed' as 'file' })
    await expect(store.prices.append([card(), bad])).rejects.toBeInstanceOf(RowRefused)
    expect(await store.prices.all()).toEqual([])
    expect(await store.prices.append([card()])).toEqual([1])
  })

  test('many appends at once number their cards one after another', async () => {
    const { store, open } = await start()
    // SQLite's wait for another connection would block the one thread that both use.
    const stores = kind === 'sqlite' ? [store] : [store, await open(), await open()]
    const appends = Array.from({ length: 30 }, (_, index) => {
      const cards = Array.from({ length: 1 + (index % 3) }, () => card({ source: `from ${index}` }))
      return stores[index % stores.length]?.prices.append(cards)
    })
    const versions = (await Promise.all(appends)).flatMap((each) => each ?? [])
    expect(versions.toSorted((a, b) => a - b)).toEqual(versions.map((_, index) => index + 1))
    for (const row of await store.prices.all()) {
      const [index] = /\d+/.exec(row.source) ?? []
      expect((await appends[Number(index)])?.includes(row.version)).toBe(true)
    }
  })

  test('a card is never changed or removed', async () => {
    const { store, engine } = await start()
    await store.prices.append([card()])
    const statements = [
      `UPDATE price SET prices = '{}'`,
      'DELETE FROM price',
      ...(kind === 'postgres' ? ['TRUNCATE price'] : []),
    ]
    for (const sql of statements) {
      await expect(engine.run(sql, [])).rejects.toThrow('price is append-only')
    }
    expect(await store.prices.all()).toEqual([{ ...card(), version: 1 }])
  })
})

onEachEngine('prices written by several', (start, kind) => {
  test('of many who append after the same version, one does', async () => {
    const { store, open } = await start()
    await store.prices.append([card()])
    const stores = kind === 'sqlite' ? [store] : [store, await open(), await open()]
    const appends = Array.from({ length: 9 }, (_, index) =>
      stores[index % stores.length]?.prices.appendAfter(1, [card(), card()]),
    )
    const done = (await Promise.all(appends)).filter((versions) => versions !== null)
    expect(done).toEqual([[2, 3]])
    expect(await store.prices.all()).toHaveLength(3)
  })
})

onEachEngine('what files said', (start) => {
  test('is kept with what is appended, one note for each node, and not where another was quicker', async () => {
    const { store } = await start()
    const note = {
      node: 'a',
      revision: 2,
      cards: { 'file m': { input: '1' }, 'file __proto__': {} },
    }
    const next = { node: 'a', revision: 3, cards: {} }
    const other = { node: 'b', revision: 0, cards: {} }
    expect(await store.prices.appendAfter(0, [card()], note)).toEqual([1])
    expect(await store.prices.files()).toEqual([note])
    expect(await store.prices.appendAfter(0, [card()], next)).toBeNull()
    expect(await store.prices.files()).toEqual([note])
    expect(await store.prices.appendAfter(1, [], other)).toEqual([])
    expect(await store.prices.appendAfter(1, [], next)).toEqual([])
    expect(await store.prices.files()).toEqual([next, other])
    expect(await store.prices.newest()).toBe(1)
  })
})

onEachEngine('the currency', (start) => {
  test('the currency of the first start is remembered, and another one refused', async () => {
    const { store, open } = await start()
    expect(await store.deployment.currency()).toBeNull()
    await store.deployment.rememberCurrency('EUR')
    await store.deployment.rememberCurrency('EUR')
    const other = await open()
    expect(await other.deployment.currency()).toBe('EUR')
    await expect(other.deployment.rememberCurrency('USD')).rejects.toThrow(
      'The data counts in EUR, the configuration says USD',
    )
    expect(await store.deployment.currency()).toBe('EUR')
  })
})

onEachEngine('the groups', (start) => {
  test('those of the configuration served last are known to every process', async () => {
    const { store, open } = await start()
    expect(await store.deployment.groups()).toEqual([])
    await store.deployment.rememberGroups(['vip', 'default'])
    const other = await open()
    expect(await other.deployment.groups()).toEqual(['default', 'vip'])
    await other.deployment.rememberGroups(['default'])
    expect(await store.deployment.groups()).toEqual(['default'])
  })
})
