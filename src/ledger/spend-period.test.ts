// Tests days, weeks and months in every kind of time zone.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { periodAt } from './spend-period.ts'

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

function period(kind: 'day' | 'week' | 'month' | 'never', timeZone: string | null, at: string) {
  const { startMs, endMs } = periodAt({ period: kind, timeZone }, Date.parse(at))
  return [iso(startMs), iso(endMs)]
}

test.each([
  ['day', null, '2026-11-22T23:59:59.999Z', '2026-11-22T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
  ['week', null, '2026-11-22T12:00:00Z', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
  ['week', null, '2026-11-23T00:00:00Z', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'],
  ['month', null, '2026-12-31T23:00:00Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  [
    'day',
    'Asia/Kolkata',
    '2026-11-22T18:29:00Z',
    '2026-11-21T18:30:00.000Z',
    '2026-11-22T18:30:00.000Z',
  ],
  [
    'month',
    'America/New_York',
    '2026-11-01T04:30:00Z',
    '2026-11-01T04:00:00.000Z',
    '2026-12-01T05:00:00.000Z',
  ],
  // 23 hours: clocks go forward at two in the morning.
  [
    'day',
    'Europe/Berlin',
    '2026-03-29T12:00:00Z',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ],
  // Clocks go forward at midnight: the day begins at one.
  [
    'day',
    'Africa/Cairo',
    '2026-04-24T12:00:00Z',
    '2026-04-23T22:00:00.000Z',
    '2026-04-24T21:00:00.000Z',
  ],
  // Clocks go back at midnight: there are two, and the day begins at the second.
  [
    'day',
    'Africa/Cairo',
    '2026-10-30T12:00:00Z',
    '2026-10-29T22:00:00.000Z',
    '2026-10-30T22:00:00.000Z',
  ],
] as const)('a %s of %p at %s begins at %s and ends at %s', (kind, zone, at, start, end) => {
  expect(period(kind, zone, at)).toEqual([start, end])
})

test('what never resets has no end', () => {
  expect(period('never', 'Asia/Tokyo', '2026-11-22T00:00:00Z')).toEqual([iso(0), null])
})

const zones = [
  'UTC',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Africa/Cairo',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
  'America/St_Johns',
]

test('periods follow each other without a gap, each begins at a quarter of an hour, and has its moment in it', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.constantFrom('day' as const, 'week' as const, 'month' as const),
      fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2040, 0) }),
      (timeZone, kind, at) => {
        const limit = { period: kind, timeZone }
        const { startMs, endMs } = periodAt(limit, at)
        if (endMs === null) throw new Error('no end')
        expect(startMs).toBeLessThanOrEqual(at)
        expect(endMs).toBeGreaterThan(at)
        expect(startMs % 900_000).toBe(0)
        expect(periodAt(limit, startMs)).toEqual({ startMs, endMs })
        expect(periodAt(limit, endMs).startMs).toBe(endMs)
        expect(periodAt(limit, startMs - 1).endMs).toBe(startMs)
      },
    ),
    { numRuns: 300 },
  )
})

test('a period begins with a quarter of an hour, as totals do, whatever the offset', () => {
  const bounds = ['2026-11-21T18:45:00.000Z', '2026-11-22T18:45:00.000Z']
  for (const at of ['2026-11-21T18:45:00Z', '2026-11-21T18:50:00Z', '2026-11-22T18:44:59.999Z'])
    expect(period('day', '+05:14', at)).toEqual(bounds)
  fc.assert(
    fc.property(
      fc.integer({ min: -719, max: 719 }),
      fc.integer({ min: 200_000_000, max: 4_000_000_000_000 }),
      (offset, atMs) => {
        const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60]
        const two = (part: number) => String(part).padStart(2, '0')
        const timeZone = `${offset < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`
        const { startMs, endMs } = periodAt({ period: 'day', timeZone }, atMs)
        expect([startMs % 900_000, (endMs ?? 1) % 900_000]).toEqual([0, 0])
        expect(startMs <= atMs && atMs < (endMs ?? 0)).toBe(true)
      },
    ),
  )
})
