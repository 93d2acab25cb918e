// Time zones: when their clocks change, and where hours, days, weeks and months begin.

export const hourMs = 3_600_000
export const dayMs = 86_400_000
const minuteMs = 60_000

/** From this moment on the zone's clocks are this far ahead of UTC. */
interface ZoneOffset {
  readonly fromMs: number
  readonly offsetMs: number
}

/** The zone and its offsets in the range given to `zoneIn`. */
export interface Zone {
  readonly name: string
  /** In order of time; the first also applies before its `fromMs`. */
  readonly offsets: readonly ZoneOffset[]
}

/** Null for an unknown zone. Names are those of the IANA data, and offsets such as `+05:30`. */
function clockOf(name: string): Intl.DateTimeFormat | null {
  const numeric = 'numeric'
  const fields = { year: numeric, month: numeric, day: numeric } as const
  const times = { hour: numeric, minute: numeric, second: numeric, hourCycle: 'h23' } as const
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name, ...fields, ...times })
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

export function isZone(name: string): boolean {
  return clockOf(name) !== null
}

function offsetAt(clock: Intl.DateTimeFormat, ms: number): number {
  const parts = Object.fromEntries(
    clock.formatToParts(ms).map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1_000) * 1_000
}

/** The zone with every clock change in [since, until], to the minute. Throws RangeError for an unknown zone. */
export function zoneIn(name: string, since: number, until: number): Zone {
  const clock = clockOf(name)
  if (clock === null) throw new RangeError(`there is no time zone ${name}`)
  const offsets = [{ fromMs: since, offsetMs: offsetAt(clock, since) }]
  // No zone changes its clocks twice in a day.
  for (let at = since; at < until; at += dayMs) {
    const before = offsetAt(clock, at)
    if (offsetAt(clock, at + dayMs) === before) continue
    const fromMs = changeIn(clock, at, at + dayMs, before)
    offsets.push({ fromMs, offsetMs: offsetAt(clock, fromMs) })
  }
  return { name, offsets }
}

function changeIn(clock: Intl.DateTimeFormat, since: number, until: number, before: number) {
  let [low, high] = [Math.floor(since / minuteMs), Math.ceil(until / minuteMs)]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(clock, middle * minuteMs) === before) low = middle
    else high = middle
  }
  return high * minuteMs
}

/** The local time at this moment, as if it were UTC. */
export function localOf({ offsets }: Zone, ms: number): number {
  const offset = offsets.findLast(({ fromMs }) => fromMs <= ms) ?? offsets[0]
  return ms + (offset?.offsetMs ?? 0)
}

/** The first moment at which the local time is this or later: a skipped time becomes the moment after the gap. */
export function momentOf({ offsets }: Zone, localMs: number): number {
  for (const [place, { fromMs, offsetMs }] of offsets.entries()) {
    const until = offsets[place + 1]?.fromMs ?? Number.POSITIVE_INFINITY
    const at = place === 0 ? localMs - offsetMs : Math.max(localMs - offsetMs, fromMs)
    if (at < until) return at
  }
  return localMs
}

/** The first moment of the local day that contains this moment. */
export function startOfDay(zone: Zone, ms: number): number {
  return momentOf(zone, Math.floor(localOf(zone, ms) / dayMs) * dayMs)
}

/** Moves by whole local days, later or (negative) earlier. */
export function addDays(zone: Zone, ms: number, days: number): number {
  return momentOf(zone, localOf(zone, ms) + days * dayMs)
}

export type Interval = 'quarter' | 'hour' | 'day' | 'week' | 'month'

const units: Readonly<Record<Interval, number>> = {
  quarter: 900_000,
  hour: hourMs,
  day: dayMs,
  week: dayMs,
  month: dayMs,
}

/**
 * The beginnings of the intervals in [since, until): the first is at `since`, which may be within one. Weeks begin on
 * Monday. Where clocks are set back an hour occurs twice; a day never does. Null where there are more than `most`.
 */
export function cutsOf(
  interval: Interval,
  { offsets }: Zone,
  { since, until, most }: { since: number; until: number; most: number },
): readonly number[] | null {
  const unit = units[interval]
  const cuts: number[] = []
  let last = Number.NEGATIVE_INFINITY
  for (const [place, { fromMs, offsetMs }] of offsets.entries()) {
    const from = Math.max(fromMs, since)
    const end = Math.min(offsets[place + 1]?.fromMs ?? until, until)
    for (let at = from; at < end; at = (Math.floor((at + offsetMs) / unit) + 1) * unit - offsetMs) {
      const label = labelOf(interval, Math.floor((at + offsetMs) / unit), at)
      if (label <= last) continue
      last = label
      cuts.push(at)
      if (cuts.length > most) return null
    }
  }
  return cuts
}

/** A number that grows from one interval to the next. */
function labelOf(interval: Interval, number: number, at: number): number {
  if (interval === 'day') return number
  if (interval === 'week') return Math.floor((number + 3) / 7)
  // Hours and quarters follow absolute time, so those that clocks show twice stay apart.
  if (interval !== 'month') return at
  const date = new Date(number * dayMs)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}
