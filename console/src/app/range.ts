// The span of time a page is about: presets and own bounds, held in the address, cut at midnights of the chosen zone.

import { oneOf, time } from './search.ts'

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs

export const presets = ['1h', 'today', '24h', '7d', '30d', 'mtd', 'last-month'] as const
export type Preset = (typeof presets)[number]

/** Fields of a page's search: `searchOf({ ...rangeFields, ... })`. */
export const rangeFields = { range: oneOf(...presets), since: time, until: time }

export interface RangeSearch {
  readonly range?: Preset | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** Half open: from `since` up to but not `until`; RFC 3339 in UTC, as the API takes them. */
export interface Range {
  readonly since: string
  readonly until: string
  /** null: own bounds. */
  readonly preset: Preset | null
}

/** A range that ends before it begins is none, as a time that does not exist is none. */
export function hasOwnBounds(
  search: RangeSearch,
): search is RangeSearch & { readonly since: string } {
  const { since, until } = search
  return since !== undefined && (until === undefined || Date.parse(since) < Date.parse(until))
}

/**
 * The present meaning of the search. Own bounds take precedence over a preset. A preset ends at the next whole minute,
 * so that the same query is made (and answered from the cache) within a minute.
 */
export function rangeOf(
  search: RangeSearch,
  nowMs: number,
  timeZone: string,
  usual: Preset = '24h',
): Range {
  if (hasOwnBounds(search)) {
    const until = search.until ?? textOf(nextMinute(nowMs))
    return {
      since: textOf(Date.parse(search.since)),
      until: textOf(Date.parse(until)),
      preset: null,
    }
  }
  const preset = search.range ?? usual
  const end = nextMinute(nowMs)
  const [sinceMs, untilMs] = boundsOf(preset, end, timeZone)
  return { since: textOf(sinceMs), until: textOf(untilMs), preset }
}

function boundsOf(preset: Preset, endMs: number, timeZone: string): readonly [number, number] {
  if (preset === '1h') return [endMs - 60 * minuteMs, endMs]
  if (preset === 'today') return [startOfDay(endMs - 1, timeZone), endMs]
  if (preset === '24h') return [endMs - dayMs, endMs]
  if (preset === '7d') return [startOfDay(endMs - 1, timeZone, 6), endMs]
  if (preset === '30d') return [startOfDay(endMs - 1, timeZone, 29), endMs]
  const month = startOfMonth(endMs - 1, timeZone)
  return preset === 'mtd' ? [month, endMs] : [startOfMonth(month - 1, timeZone), month]
}

/** The range for queries of rows: one up to the present has no end, so that a slow browser clock cuts nothing off. */
export function rowBounds({ since, until, preset }: Range): { since: string; until?: string } {
  return preset === null || preset === 'last-month' ? { since, until } : { since }
}

/**
 * The span with which a range is compared: as many days before, at the same local times, so that days correspond;
 * directly before if it is shorter than a day and begins at no midnight.
 */
export function rangeBefore(
  range: Pick<Range, 'since' | 'until'>,
  timeZone: string,
): Pick<Range, 'since' | 'until'> {
  const since = Date.parse(range.since)
  const until = Date.parse(range.until)
  // A day on which clocks change is an hour longer or shorter.
  const days = Math.max(1, Math.ceil((until - since - 120 * minuteMs) / dayMs))
  if (until - since < dayMs && startOfDay(since, timeZone) !== since)
    return { since: textOf(since - (until - since)), until: range.since }
  const moved = (ms: number) =>
    textOf(momentOf(ms + offsetOf(ms, timeZone) - days * dayMs, timeZone))
  return { since: moved(since), until: moved(until) }
}

function nextMinute(ms: number): number {
  return Math.floor(ms / minuteMs + 1) * minuteMs
}

/** The midnight before a moment, in the zone's local time, or the one that many calendar days earlier. */
export function startOfDay(ms: number, timeZone: string, daysBefore = 0): number {
  const { year, month, day } = partsOf(ms, timeZone)
  return momentOf(Date.UTC(year, month - 1, day - daysBefore), timeZone)
}

/** A month such as `2027-01`, from its first midnight to that of the next. */
export function monthRange(month: string, timeZone: string): Pick<Range, 'since' | 'until'> {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const midnight = (months: number) => textOf(momentOf(Date.UTC(year, months, 1), timeZone))
  return { since: midnight(number - 1), until: midnight(number) }
}

function startOfMonth(ms: number, timeZone: string): number {
  const { year, month } = partsOf(ms, timeZone)
  return momentOf(Date.UTC(year, month - 1, 1), timeZone)
}

/**
 * The moment when the zone's local time equals UTC's at `wallMs`; calculated twice, since a clock change may lie
 * between the first guess and the result. Of a local time that clocks leave out it is the moment after the change.
 */
function momentOf(wallMs: number, timeZone: string): number {
  const guess = wallMs - offsetOf(wallMs, timeZone)
  const ms = wallMs - offsetOf(guess, timeZone)
  return ms + offsetOf(ms, timeZone) === wallMs ? ms : Math.max(guess, ms)
}

function offsetOf(ms: number, timeZone: string): number {
  const { year, month, day, hour, minute, second } = partsOf(ms, timeZone)
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1_000) * 1_000
}

const formats = new Map<string, Intl.DateTimeFormat>()

function partsOf(ms: number, timeZone: string) {
  let format = formats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(timeZone, format)
  }
  const parts = Object.fromEntries(
    format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]),
  )
  const part = (name: string) => parts[name] ?? 0
  return {
    year: part('year'),
    month: part('month'),
    day: part('day'),
    hour: part('hour'),
    minute: part('minute'),
    second: part('second'),
  }
}

/** For an `<input type="datetime-local">`: local time in the zone, to the minute. */
export function toLocalInput(at: string, timeZone: string): string {
  const ms = Date.parse(at)
  return new Date(ms + offsetOf(ms, timeZone)).toISOString().slice(0, 16)
}

/**
 * From 1970 to 9999: a field in which only the last digits of a year were typed contains the year 26. Browsers read an
 * invalid text as a moment in the year 2000.
 */
const localMinute = /^(19[7-9]\d|[2-9]\d{3})-\d\d-\d\dT\d\d:\d\d$/

/** The moment from such an input; null: not readable. */
export function fromLocalInput(value: string, timeZone: string): string | null {
  const wallMs = localMinute.test(value) ? Date.parse(`${value}:00Z`) : Number.NaN
  return Number.isNaN(wallMs) ? null : textOf(momentOf(wallMs, timeZone))
}

function textOf(ms: number): string {
  return new Date(ms).toISOString()
}
