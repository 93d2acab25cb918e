// Tests percentiles calculated from histograms: each is always in the bucket of the true value.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { histogramBounds } from '../store/rollup-table.ts'
import { percentileOf } from './statistics-metrics.ts'

const cellsOf = (values: readonly number[]): number[] => {
  const cells = Array.from({ length: histogramBounds.length + 1 }, () => 0)
  for (const value of values) {
    const place = histogramBounds.findIndex((bound) => value < bound)
    const cell = place < 0 ? histogramBounds.length : place
    cells[cell] = (cells[cell] ?? 0) + 1
  }
  return cells
}

test('a percentile of nothing is nothing', () => {
  expect(percentileOf(cellsOf([]), 0.5)).toBeNull()
})

test('a percentile lies in the cell of the value that has its rank', () => {
  const values = fc.array(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(values, fc.constantFrom(0.5, 0.95, 0.99), (given, share) => {
      const sorted = given.toSorted((one, other) => one - other)
      const real = sorted[Math.ceil(share * sorted.length) - 1] ?? 0
      const place = histogramBounds.findIndex((bound) => real < bound)
      const low = place === 0 ? 0 : (histogramBounds.at(place === -1 ? -1 : place - 1) ?? 0)
      const high = place === -1 ? low : (histogramBounds[place] ?? low)
      const found = percentileOf(cellsOf(given), share) ?? -1
      expect(found).toBeGreaterThanOrEqual(low)
      expect(found).toBeLessThanOrEqual(high)
    }),
  )
})

test('it is exact at the bounds, and what has no bound is told as the last', () => {
  expect(percentileOf(cellsOf([100, 120, 130, 159]), 1)).toBe(160)
  expect(percentileOf(cellsOf(Array.from({ length: 100 }, () => 999_999)), 0.5)).toBe(250_000)
})
