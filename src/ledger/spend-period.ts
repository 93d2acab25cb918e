// When what a key has spent counts from 0 again: days, weeks and months of a time zone.

import type { SpendLimit } from '../store/keys.ts'

interface SpendPeriod {
  /** Unix milliseconds; 0: all time. */
  readonly startMs: number
  /** null: never. */
  readonly endMs: number | null
}

const dayMs = 86_400_000

/** The period that a moment is in: from its first moment to the first of the next. */
export function periodAt(
  { period, timeZone }: Pick<SpendLimit, 'period' | 'timeZone'>,
  atMs: number,
): SpendPeriod {
  if (period === 'never') return { startMs: 0, endMs: null }
  const zone = timeZone ?? 'UTC'
  const local = new Date(atMs + offsetAt(zone, atMs))
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

/** The first moment of a local day: where clocks go forward at midnight there is no 00:00, where they go back there may be two. */
function midnight(zone: string, year: number, month: number, day: number): number {
  const wanted = Date.UTC(year, month, day)
  const offsets = [offsetAt(zone, wanted - dayMs), offsetAt(zone, wanted + dayMs)]
  const moments = offsets.map((offset) => wanted - offset).sort((one, other) => one - other)
  const [first = wanted, second = first] = moments
  return first + offsetAt(zone, first) >= wanted ? first : second
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** How far its clocks are ahead of UTC. */
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
