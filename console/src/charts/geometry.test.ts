// Tests the positions of a chart's parts.

import { expect, test } from 'bun:test'
import {
  barsPath,
  bucketAt,
  dotPath,
  largestOf,
  linePath,
  runs,
  scaleOf,
  seriesAt,
  sortedAt,
  stack,
  sumAt,
} from './geometry.ts'
import type { Series } from './series.ts'
import { axisLabels, spanText } from './times.ts'

const small: Series = { id: 'small', name: 'Small', colour: 2, values: [1, null, 3] }
const large: Series = { id: 'large', name: 'Large', colour: 1, values: [4, null, 0] }
const both = [large, small]

test('a scale has up to four lines at round values and holds the largest', () => {
  expect(scaleOf(87, true)).toEqual({ top: 100, ticks: [25, 50, 75, 100] })
  expect(scaleOf(1, true)).toEqual({ top: 1, ticks: [1] })
  expect(scaleOf(3, true)).toEqual({ top: 3, ticks: [1, 2, 3] })
  expect(scaleOf(9, true)).toEqual({ top: 10, ticks: [5, 10] })
  expect(scaleOf(1, false)).toEqual({ top: 1, ticks: [0.25, 0.5, 0.75, 1] })
  expect(scaleOf(0, true)).toEqual({ top: 1, ticks: [] })
  for (let largest = 1; largest < 3_000; largest += 7) {
    const { top, ticks } = scaleOf(largest, true)
    expect(top).toBeGreaterThanOrEqual(largest)
    expect(ticks.length).toBeLessThanOrEqual(4)
    expect(ticks.every(Number.isInteger)).toBe(true)
  }
})

test('bars stand on each other, and a bucket without figures has none', () => {
  expect(stack(both)).toEqual([
    [[0, 4], null, [0, 0]],
    [[4, 5], null, [0, 3]],
  ])
  expect([sumAt(both, 0), sumAt(both, 1), sumAt(both, 2)]).toEqual([5, null, 3])
  expect(largestOf('bars', both)).toBe(5)
  expect(largestOf('lines', both)).toBe(4)
  expect(largestOf('lines', both, [9, null, 1])).toBe(9)
})

test('a gap breaks a line, and a figure alone is still seen', () => {
  expect(runs([null, 1, 2, null, 3])).toEqual([
    [1, 3],
    [4, 5],
  ])
  const frame = { width: 50, height: 10, count: 5, scale: { top: 10, ticks: [] } }
  expect(linePath(frame, [null, 1, 2, null, 3])).toBe('M15 9L25 8')
  expect(dotPath(frame, [null, 1, 2, null, 3])).toBe('M45 7h0.01')
})

test('a bar of little is one pixel high, a bar of nothing is none', () => {
  const frame = { width: 30, height: 100, count: 3, scale: { top: 1_000, ticks: [] } }
  expect(barsPath(frame, [[0, 1], null, [0, 0]])).toBe('M1 100V99h8V100z')
  expect(
    barsPath(
      frame,
      [
        [0, 500],
        [0, 10],
      ],
      1,
    ),
  ).toBe('M11 100V99h8V100z')
})

test('a pointer finds its bucket and what it is on', () => {
  expect([bucketAt(-1, 30, 3), bucketAt(0, 30, 3), bucketAt(29, 30, 3)]).toEqual([null, 0, 2])
  expect([bucketAt(30, 30, 3), bucketAt(31, 30, 3), bucketAt(1, 30, 0)]).toEqual([2, null, null])
  expect(seriesAt('bars', both, 0, 4.5)).toBe('small')
  expect(seriesAt('bars', both, 0, 6)).toBeUndefined()
  expect(seriesAt('lines', both, 0, 3)).toBe('large')
  expect(sortedAt(both, 2).map(({ series }) => series.id)).toEqual(['small', 'large'])
  expect(sortedAt(both, 1)).toEqual([])
})

const hours = (since: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    start: new Date(Date.parse(since) + index * 3_600_000).toISOString(),
    end: new Date(Date.parse(since) + (index + 1) * 3_600_000).toISOString(),
  }))

test('an axis is labelled at round times of the zone, as many as fit', () => {
  const day = hours('2026-11-21T05:00:00Z', 24)
  const texts = (fitting: number, zone: string) =>
    axisLabels(day, fitting, 'en', zone).map(({ text }) => text)
  expect(texts(6, 'Asia/Shanghai')).toEqual(['16:00', '20:00', 'Nov 22', '04:00', '08:00', '12:00'])
  expect(texts(4, 'UTC')).toEqual(['06:00', '12:00', '18:00', 'Nov 22'])
  expect(texts(1, 'UTC')).toEqual(['Nov 22'])
  const fortnight = hours('2026-11-01T00:00:00Z', 14 * 24)
  expect(axisLabels(fortnight, 5, 'en', 'UTC').map(({ text }) => text)).toEqual([
    'Nov 1',
    'Nov 4',
    'Nov 7',
    'Nov 10',
    'Nov 13',
  ])
})

test('buckets are named by the clocks of the zone', () => {
  const next = { start: '2026-11-21T17:00:00Z', end: '2026-11-21T18:00:00Z' }
  expect(spanText(next, 'en', 'Asia/Shanghai')).toMatch(/Nov 22, 01:00\s–\s02:00/)
  const day = { start: '2026-11-21T16:00:00Z', end: '2026-11-22T16:00:00Z' }
  expect(axisLabels([day], 3, 'en', 'Asia/Shanghai')).toEqual([{ bucket: 0, text: 'Nov 22' }])
  expect(axisLabels([], 3, 'en', 'UTC')).toEqual([])
  expect(spanText(day, 'en', 'Asia/Shanghai')).toBe('Nov 22, 2026')
})
