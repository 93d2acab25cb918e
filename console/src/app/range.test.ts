// Tests the bounds of ranges where a zone's clocks change: calendar days are counted, and a day begins in that day.

import { expect, test } from 'bun:test'
import { rangeOf, startOfDay } from './range.ts'

const local = (at: string | number, timeZone: string) =>
  new Date(at).toLocaleString('sv', { timeZone })

test.each([
  ['America/New_York', '2026-11-02T04:30:00Z', '7d', '2026-10-26'],
  ['America/New_York', '2026-11-04T04:30:00Z', '30d', '2026-10-05'],
  ['Europe/Berlin', '2026-03-31T22:30:00Z', '7d', '2026-03-26'],
  ['Asia/Shanghai', '2026-11-25T04:00:00Z', '7d', '2026-11-19'],
  ['Asia/Shanghai', '2026-11-25T15:59:30Z', '7d', '2026-11-19'],
] as const)('in %s at %s, %s begin with the midnight of %s', (zone, now, range, day) => {
  const { since } = rangeOf({ range }, Date.parse(now), zone)
  expect(local(since, zone)).toBe(`${day} 00:00:00`)
})

test.each([
  ['America/Santiago', '2026-09-06', '01'],
  ['America/Havana', '2026-03-08', '01'],
  ['Africa/Cairo', '2026-04-24', '01'],
  ['Europe/Berlin', '2026-03-29', '00'],
])('in %s, %s begins at %s', (zone, day, hour) => {
  const noon = Date.parse(`${day}T15:00:00Z`)
  expect(local(startOfDay(noon, zone), zone)).toBe(`${day} ${hour}:00:00`)
})

test('a range that ends before it begins is none', () => {
  const now = Date.parse('2026-11-28T12:00:00Z')
  const [late, early] = ['2026-11-28T00:00:00Z', '2026-11-01T00:00:00Z']
  expect(rangeOf({ since: late, until: early }, now, 'UTC').preset).toBe('24h')
  expect(rangeOf({ since: late, until: late }, now, 'UTC').preset).toBe('24h')
  expect(rangeOf({ since: early, until: late }, now, 'UTC').preset).toBeNull()
})
