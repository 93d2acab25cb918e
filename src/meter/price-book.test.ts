// Tests which card is in force when: by origin, by moment, by version, and for names without a card.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { priceRow } from '../../test/support/price-table.ts'
import type { PriceRow } from '../store/ledger.ts'
import { createPriceBook } from './price-book.ts'

const one = 1_000_000

/** The version in force; null if there is none. */
function inForce(rows: readonly PriceRow[], model: string, atMs: number): number | null {
  return createPriceBook(rows).find(model, atMs, one)?.version ?? null
}

describe('of several cards', () => {
  test('one that lies ahead waits for its moment', () => {
    const rows = [
      priceRow({ version: 1, model: 'm', effectiveFrom: 10 }),
      priceRow({ version: 2, model: 'm', effectiveFrom: 20 }),
    ]
    const moments = [9, 10, 19, 20, 1e15]
    expect(moments.map((at) => inForce(rows, 'm', at))).toEqual([null, 1, 1, 2, 2])
  })

  test('the later to begin counts, of two that begin at once the later version', () => {
    const rows = [
      priceRow({ version: 1, model: 'm', effectiveFrom: 20 }),
      priceRow({ version: 2, model: 'm', effectiveFrom: 10 }),
      priceRow({ version: 3, model: 'm', effectiveFrom: 10, origin: 'import' }),
    ]
    expect([inForce(rows, 'm', 15), inForce(rows, 'm', 25)]).toEqual([3, 1])
  })

  test('the file stands above a command, a command above the catalogue', () => {
    const shipped = priceRow({ version: 3, model: 'm', origin: 'shipped' })
    const set = priceRow({ version: 2, model: 'm', origin: 'set' })
    const file = priceRow({ version: 1, model: 'm', origin: 'file' })
    expect(inForce([file, set, shipped], 'm', 5)).toBe(1)
    expect(inForce([set, shipped], 'm', 5)).toBe(2)
    expect(inForce([shipped], 'm', 5)).toBe(3)
  })

  test('an empty one withdraws its origin, and the next one counts', () => {
    const rows = [
      priceRow({ version: 1, model: 'm', origin: 'shipped' }),
      priceRow({ version: 2, model: 'm', origin: 'set' }),
      priceRow({ version: 3, model: 'm', origin: 'file' }),
      priceRow({ version: 4, model: 'm', origin: 'file', effectiveFrom: 10, prices: {} }),
      priceRow({ version: 5, model: 'm', origin: 'import', effectiveFrom: 20, prices: {} }),
    ]
    expect([9, 10, 20].map((at) => inForce(rows, 'm', at))).toEqual([3, 2, 1])
  })

  test('the same as by searching all rows anew, whatever they are', () => {
    const row = fc.record({
      model: fc.constantFrom('a', 'b'),
      effectiveFrom: fc.nat(5),
      origin: fc.constantFrom('file', 'shipped', 'set', 'import'),
      empty: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(row, { maxLength: 12 }), fc.nat(6), (made, at) => {
        const rows = made.map(({ empty, ...given }, index) =>
          priceRow({ ...given, version: index + 1, ...(empty && { prices: {} }) }),
        )
        expect(inForce(rows, 'a', at)).toBe(searched(rows, 'a', at))
      }),
      { numRuns: 1_000 },
    )
  })
})

/** The rule written out: sorted by moment and version, the last of the first origin that has prices. */
function searched(rows: readonly PriceRow[], model: string, at: number): number | null {
  const begun = rows
    .filter((row) => row.model === model && row.effectiveFrom <= at)
    .toSorted((a, b) => a.effectiveFrom - b.effectiveFrom || a.version - b.version)
  for (const origins of ['file', 'set import', 'shipped']) {
    const last = begun.findLast(({ origin }) => origins.split(' ').includes(origin))
    if (last !== undefined && Object.keys(last.prices).length > 0) return last.version
  }
  return null
}

describe('a pattern', () => {
  const rows = [
    priceRow({ version: 1, model: 'gpt-*', origin: 'file' }),
    priceRow({ version: 2, model: 'gpt-4*', origin: 'file', effectiveFrom: 10 }),
    priceRow({ version: 3, model: 'gpt-4o', origin: 'shipped', effectiveFrom: 20 }),
    priceRow({ version: 4, model: 'o*', origin: 'set' }),
  ]

  test('prices what has no card of its own, the longest first', () => {
    expect(inForce(rows, 'gpt-3.5', 50)).toBe(1)
    expect([inForce(rows, 'gpt-4o', 5), inForce(rows, 'gpt-4o', 15)]).toEqual([1, 2])
    expect(inForce(rows, 'gpt-4o', 25)).toBe(3)
    expect(inForce(rows, 'claude', 50)).toBeNull()
  })

  test('counts where it is declared or shipped, a shipped one last', () => {
    expect(inForce(rows, 'o3', 50)).toBeNull()
    const shipped = ['gpt-4.1*', 'p+*'].map((model, index) =>
      priceRow({ version: 5 + index, model, origin: 'shipped' }),
    )
    expect(inForce([...rows, ...shipped], 'gpt-4.1-nano', 50)).toBe(2)
    expect(inForce([...rows, ...shipped], 'p+q=1', 50)).toBe(6)
  })

  test('that is withdrawn leaves what it covered to a shorter one', () => {
    const withdrawn = priceRow({
      version: 5,
      model: 'gpt-4*',
      origin: 'file',
      effectiveFrom: 30,
      prices: {},
    })
    expect(inForce([...rows, withdrawn], 'gpt-4.1', 40)).toBe(1)
  })
})

describe('rates', () => {
  const rows = [1, 2].map((version) => priceRow({ version, model: 'm', effectiveFrom: version }))
  const book = createPriceBook(rows)
  const usage = { input: 1_000, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

  test('I9: a version is found for ever, at any multiplier', () => {
    expect(book.version(1, one)?.charge(usage, null)).toBe(1_000_000n)
    expect(book.version(1, 2 * one)?.charge(usage, null)).toBe(2_000_000n)
    expect(book.find('m', 5, one)?.version).toBe(2)
    expect(book.version(3, one)).toBeNull()
  })

  test('are made once for each multiplier', () => {
    expect(book.find('m', 5, 1_500_000)).toBe(book.version(2, 1_500_000))
    expect(book.find('m', 5, 1_500_000)).not.toBe(book.find('m', 5, one))
  })

  test('a card that is none is refused before anything is priced by the book', () => {
    const broken = priceRow({ version: 3, model: 'm', prices: { tokens: '1' } })
    expect(() => createPriceBook([...rows, broken])).toThrow('tokens')
  })
})
