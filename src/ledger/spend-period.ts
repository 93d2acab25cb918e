// When a key's spending starts again from 0: at the start of a day, week or month in a time zone.

import type { SpendLimit } from '../store/keys.ts'
import { quarterMs, quarterOf } from '../store/rollup-table.ts'

interface SpendPeriod {
  /** Unix milliseconds; 0 for a period that covers all time. */
  readonly startMs: number
  /** Unix milliseconds; null if the period never ends. */
  readonly endMs: number | null
}

const dayMs = 86_400_000

/** The period that contains a moment: its first moment, and the first moment of the next period. */
export function periodAt(
  { period, timeZone }: Pick<SpendLimit, 'period' | 'timeZone'>,
  atMs: number,
): SpendPeriod {
  if (period === 'never') return { startMs: 0, endMs: null }
  // Totals are stored by quarters of an hour, so a period begins with one, whatever the zone's offset.
  const lastMs = quarterOf(atMs) + quarterMs - 1
  const zone = timeZone ?? 'UTC'
  const local = new Date(lastMs + offsetAt(zone, lastMs))
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()]
  if (period === 'month')
    return { startMs: midnight(zone, year, month, 1), endMs: midnight(zone, year, month + 1, 1) }
  // Weeks begin on Monday (ISO 8601).
  const first = period === 'week' ? day - ((local.getUTCDay() + 6) % 7) : day
  const days = period === 'week' ? 7 : 1
  return {
    startMs: midnight(zone, year, month, first),
    endMs: midnight(zone, year, month, first + days),
  }
}

/** The first moment of a local day: some days have no 00:00 (clocks go forward), some have two (they go back). */
function midnight(zone: string, year: number, month: number, day: number): number {
  const wanted = Date.UTC(year, month, day)
  const offsets = [offsetAt(zone, wanted - dayMs), offsetAt(zone, wanted + dayMs)]
  const moments = offsets.map((offset) => wanted - offset).sort((one, other) => one - other)
  const [first = wanted, second = first] = moments
  return quarterOf(first + offsetAt(zone, first) >= wanted ? first : second)
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** How many milliseconds the zone's clocks are ahead of UTC. */
function offsetAt(zone: string, atMs: number): number {
  if (zone === 'UTC') return 0
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(zone, format)
  }
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]))
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0
  const shown = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  )
  return shown - Math.floor(atMs / 1_000) * 1_000
}
