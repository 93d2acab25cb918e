// Turns the requested time range and filter of statistics into exact ones.

import { quarterMs, type RollupDimension, type RollupFilter } from '../store/rollup-table.ts'
import { readSince } from './time.ts'
import { AdminError } from './use-case.ts'
import {
  cutsOf,
  dayMs,
  hourMs,
  type Interval,
  localOf,
  momentOf,
  type Zone,
  zoneIn,
} from './zone.ts'

const mostDays = 3_700
const mostBuckets = 1_000

interface RangeInput {
  readonly since: string
  readonly until?: string | undefined
  readonly timeZone: string
}

/** Unix milliseconds, whole quarters of an hour: [since, until). */
export interface Range {
  readonly since: number
  readonly until: number
  /** The time zone, with its clock changes from the period before on. */
  readonly zone: Zone
}

/** Throws AdminError naming the field. A date stands for its midnight in the zone. */
export function rangeOf({ since, until, timeZone }: RangeInput, nowMs: number): Range {
  const from = Math.max(0, momentIn(since, timeZone, nowMs))
  const to = until === undefined ? nowMs : momentIn(until, timeZone, nowMs)
  const range = {
    since: Math.floor(from / quarterMs) * quarterMs,
    until: Math.ceil(to / quarterMs) * quarterMs,
  }
  const lengthMs = range.until - range.since
  if (lengthMs <= 0) throw new AdminError('invalid', 'until', 'expected a time after since')
  if (lengthMs > mostDays * dayMs) {
    const message = `expected at most ${mostDays} days before until`
    throw new AdminError('invalid', 'since', message, 'range_too_long')
  }
  return { ...range, zone: zoneIn(timeZone, range.since - lengthMs - 2 * dayMs, range.until) }
}

function momentIn(text: string, timeZone: string, nowMs: number): number {
  const ms = readSince(text, nowMs) ?? 0
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return ms
  return momentOf(zoneIn(timeZone, ms - 2 * dayMs, ms + 2 * dayMs), ms)
}

/** The range directly before, of the same length in local time. */
export function rangeBefore({ since, until, zone }: Range): Range {
  const before = momentOf(zone, 2 * localOf(zone, since) - localOf(zone, until))
  return { since: Math.floor(before / quarterMs) * quarterMs, until: since, zone }
}

/** An interval that gives some 24 to 100 points. */
export function intervalOf(asked: Interval | 'auto', { since, until }: Range): Interval {
  if (asked !== 'auto') return asked
  const lengthMs = until - since
  if (lengthMs <= 12 * hourMs) return 'quarter'
  if (lengthMs <= 4 * dayMs) return 'hour'
  if (lengthMs <= 100 * dayMs) return 'day'
  return lengthMs <= 700 * dayMs ? 'week' : 'month'
}

/** The beginnings of the intervals. Throws AdminError where there are too many. */
export function bucketsOf(interval: Interval, { since, until, zone }: Range): readonly number[] {
  const cuts = cutsOf(interval, zone, { since, until, most: mostBuckets })
  if (cuts !== null) return cuts
  const message = `is too fine for this range: expected at most ${mostBuckets} intervals`
  throw new AdminError('invalid', 'interval', message)
}

interface FilterInput extends RollupFilterInput {
  readonly by?: readonly RollupDimension[] | undefined
  /** Where given, only this account's usage is found, and operators' dimensions (channels, accounts) are refused. */
  readonly owner?: string | undefined
}

type RollupFilterInput = { readonly [Field in RollupDimension]?: readonly string[] | undefined }

/** Throws AdminError where an owner asks for what only operators see. */
export function filterOf(asked: FilterInput): RollupFilter {
  const { owner, account, key, model, channel, group, operation, statusClass, tag } = asked
  const given = { account, key, model, channel, group, operation, statusClass, tag }
  const filter = Object.fromEntries(
    Object.entries(given).filter(([, values]) => values !== undefined),
  ) as RollupFilter
  if (owner === undefined) return filter
  for (const name of account ?? []) {
    if (name === owner) continue
    throw new AdminError('not_found', 'account', `there is no account ${JSON.stringify(name)}`)
  }
  const field = channel !== undefined ? 'channel' : asked.by?.includes('channel') ? 'by' : null
  if (field !== null) throw new AdminError('invalid', field, 'only operators may use channels')
  return { ...filter, account: [owner] }
}
