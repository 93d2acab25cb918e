// Tests prices over time: steps where they changed, gaps where there were none, in readable units.

import { expect, test } from 'bun:test'
import { type PriceChange, pricesOverTime } from './price-steps.ts'

const hourMs = 3_600_000
const nowMs = Date.parse('2027-01-31T12:00:00Z')

/** `prices` in nano-units for a million, by name. */
function change(
  atMs: number,
  prices: Readonly<Record<string, string>>,
  unit = 'token',
): PriceChange {
  const from = new Date(atMs).toISOString()
  const lines = Object.entries(prices).map(([name, priceNano]) => ({
    ...{ name, unit, priceNano, baseNano: priceNano, officialNano: null },
    above: name.includes('>') ? 200_000 : 0,
  }))
  return { model: 'm', version: 1, from, announcedAt: from, state: 'past', lines, steps: [] }
}

test('a bucket has what held at its end, and nothing before the first price', () => {
  const changes = [
    change(nowMs + 10 * hourMs, { input: '3' }),
    change(nowMs - 10 * hourMs, { input: '1', output: '2', 'input>200000': '9' }),
  ]
  const { buckets, lines, unit, size } = pricesOverTime(changes, nowMs)
  expect([unit, size]).toEqual(['token', 1_000_000])
  expect(lines.map(({ name }) => name)).toEqual(['input', 'output'])
  const held = (name: string, atMs: number) => {
    const at = buckets.findIndex(
      ({ start, end }) => Date.parse(start) <= atMs && atMs < Date.parse(end),
    )
    return lines.find((line) => line.name === name)?.values[at]
  }
  expect(held('input', nowMs - 11 * hourMs)).toBeNull()
  expect(held('input', nowMs - 10 * hourMs)).toBe(1)
  expect(held('input', nowMs + 9 * hourMs)).toBe(1)
  expect(held('input', nowMs + 10 * hourMs)).toBe(3)
  expect(held('output', nowMs)).toBe(2)
  expect(held('output', nowMs + 10 * hourMs)).toBeNull()
})

test('however long ago prices began, the chart has a hundred buckets at most, of whole hours or days', () => {
  for (const days of [1, 4, 90, 4_000]) {
    const changes = [
      change(nowMs, { input: '2' }),
      change(nowMs - days * 24 * hourMs, { input: '1' }),
    ]
    const { buckets } = pricesOverTime(changes, nowMs)
    expect(buckets.length).toBeLessThanOrEqual(100)
    expect(Date.parse(buckets[0]?.start ?? '')).toBeLessThan(nowMs - days * 24 * hourMs)
    expect(Date.parse(buckets.at(-1)?.end ?? '')).toBeGreaterThan(nowMs)
    const length = Date.parse(buckets[0]?.end ?? '') - Date.parse(buckets[0]?.start ?? '')
    expect(length % (days > 3 ? 24 * hourMs : hourMs)).toBe(0)
  }
})

test('what is sold one by one is shown for one, unless that has no whole nano-units', () => {
  const whole = pricesOverTime([change(nowMs, { image: '40000000000' }, 'image')], nowMs)
  expect([whole.size, whole.lines[0]?.values.at(-1)]).toEqual([1, 40_000])
  const odd = pricesOverTime([change(nowMs, { image: '1500000' }, 'image')], nowMs)
  expect([odd.size, odd.lines[0]?.values.at(-1)]).toEqual([1_000_000, 1_500_000])
})

test('a model that has no price any more has no lines', () => {
  expect(pricesOverTime([change(nowMs, {})], nowMs).lines).toEqual([])
})
