// Tests that the parts of every receipt add up to what was charged and written off, by the card at the time of the
// request.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { usageRow } from '../../test/contract/store.ts'
import { priceRow } from '../../test/support/price-table.ts'
import { tokenPrices } from '../config/prices.ts'
import { createPriceBook } from '../meter/price-book.ts'
import { receiptOf } from './receipt.ts'

const decimal = fc
  .tuple(fc.nat(5_000), fc.nat(999_999_999))
  .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(9, '0')}`)
const priceName = fc.oneof(
  fc.constantFrom(...tokenPrices),
  fc.constantFrom(...tokenPrices).map((kind) => `${kind}>1000`),
  fc.constantFrom('request', 'second', 'image/1024x1024'),
)
const card = fc.dictionary(priceName, decimal, { maxKeys: 12, noNullPrototype: true })
const tokens = fc.record(
  Object.fromEntries(tokenPrices.map((kind) => [kind, fc.nat(3_000_000)])) as Record<
    (typeof tokenPrices)[number],
    fc.Arbitrary<number>
  >,
)
const units = fc.option(
  fc.dictionary(
    fc.constantFrom('request', 'second', 'image/1024x1024', 'unpriced'),
    fc.nat(50_000_000).map((micro) => micro / 1_000_000),
    { noNullPrototype: true },
  ),
)

test('the lines and their rounding are the charge and what was written off, to the nano-unit', () => {
  const parts = fc.record({
    before: card,
    after: card,
    tokens,
    units,
    multiplierPpm: fc.constantFrom(0, 1, 850_000, 1_000_000, 1_333_333, 3_000_000),
    writeoffPercent: fc.nat(100),
  })
  fc.assert(
    fc.property(parts, ({ before, after, tokens, units, multiplierPpm, writeoffPercent }) => {
      const book = createPriceBook([
        priceRow({ version: 1, model: 'm', prices: before, effectiveFrom: 0 }),
        // A later price does not change a receipt.
        priceRow({ version: 2, model: 'm', prices: after, effectiveFrom: 1 }),
      ])
      const wholeNano = book.version(1, multiplierPpm)?.charge(tokens, units) ?? -1n
      const writeoffNano = (wholeNano * BigInt(writeoffPercent)) / 100n
      const row = usageRow({
        ...tokens,
        units,
        multiplierPpm,
        priceVersion: 1,
        chargeNano: wholeNano - writeoffNano,
        writeoffNano,
        heldNano: wholeNano + 5n,
      })
      const receipt = receiptOf(row, book)
      if (receipt === null) throw new Error('no receipt')
      const sum = receipt.lines.reduce((total, line) => total + BigInt(line.amountNano), 0n)
      const roundingNano = BigInt(receipt.roundingNano)
      expect(sum + roundingNano).toBe(row.chargeNano + row.writeoffNano)
      expect(roundingNano).toBeGreaterThanOrEqual(0n)
      // Each line loses less than one nano-unit, and the total is rounded up by less than one.
      expect(roundingNano).toBeLessThanOrEqual(BigInt(receipt.lines.length))
      expect(BigInt(receipt.totalNano)).toBe(wholeNano)
      expect(BigInt(receipt.releasedNano)).toBe(row.heldNano - row.chargeNano)
      for (const { count, priceNano, amountNano } of receipt.lines) {
        const [digits = '', fraction = ''] = count.split('.')
        const micro = BigInt(digits + fraction.padEnd(6, '0'))
        const exact = (micro * BigInt(priceNano) * BigInt(multiplierPpm)) / 10n ** 18n
        expect(BigInt(amountNano)).toBe(exact)
      }
    }),
    { numRuns: 500 },
  )
})

test('a request that was never priced, or by a card that is not known, has none', () => {
  const book = createPriceBook([])
  expect(receiptOf(usageRow({ priceVersion: null }), book)).toBeNull()
  expect(receiptOf(usageRow({ priceVersion: 7 }), book)).toBeNull()
})
