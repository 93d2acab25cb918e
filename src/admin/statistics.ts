// Usage statistics: time series and breakdowns. Every figure, totals included, is summed from one read of the
// quarter-hourly totals, so that parts add up to the whole.

import type { RollupDimension, RollupFilter, RollupSum } from '../store/rollup-table.ts'
import type { Input } from './schema.ts'
import { Added, Fold, type Folded, type Group, groupOf, readRows } from './statistics-fold.ts'
import { type MetricName, metrics } from './statistics-metrics.ts'
import {
  bucketsOf,
  filterOf,
  intervalOf,
  type Range,
  rangeBefore,
  rangeOf,
} from './statistics-range.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'
import type { Interval } from './zone.ts'

/** Where `owner` is given, only that account's usage is found. */
export interface Owned {
  readonly owner?: string | undefined
}

/** One value per interval, and one over all. Money is in nano-units; null where there was nothing to measure. */
export interface Points {
  readonly values?: readonly (number | null)[]
  readonly total?: number | null
  readonly valuesNano?: readonly string[]
  readonly totalNano?: string
}

interface Series extends Points {
  readonly group: Group
  /** In the series of all groups not shown: their number. */
  readonly otherGroups?: number
}

export interface Statistics {
  readonly metric: MetricName
  readonly unit: string
  readonly currency: string
  readonly timeZone: string
  readonly interval: Interval
  readonly by: readonly RollupDimension[]
  readonly since: string
  readonly until: string
  /** The beginning of each interval, which ends where the next begins. */
  readonly intervals: readonly string[]
  readonly series: readonly Series[]
  /** The sum of all series. */
  readonly total: Points
  /** The period of the same length directly before. */
  readonly previous: {
    readonly since: string
    readonly until: string
    readonly total: Points
  } | null
}

/** Throws AdminError naming the field. */
export async function readStatistics(
  context: AdminContext,
  input: Input<'readStatistics'> & Owned,
): Promise<Statistics> {
  const { metric, by = [], limit, compare } = input
  const filter = filterOf(input)
  const range = rangeOf(input, context.nowMs)
  const interval = intervalOf(input.interval, range)
  const intervals = bucketsOf(interval, range)
  // For rates, the number of requests decides which groups are the largest.
  const names: readonly RollupSum[] = [...new Set<RollupSum>(['requests', ...metrics[metric].sums])]
  const rows = await readRows(context, { range, filter, by, cuts: intervals, names })
  const found = new Fold(rows, names)
  const size = sizeBy(metric)
  const groups = found.sorted((one, other) => size(other) - size(one), limit)
  return {
    metric,
    unit: metrics[metric].unit,
    currency: await context.currency(),
    timeZone: input.timeZone,
    interval,
    by,
    ...rangeView(range),
    intervals: intervals.map((at) => timeText(at)),
    series: by.length === 0 ? [] : groups.map((each) => seriesOf(each, by, metric, intervals)),
    total: pointsOf(found.total, metric, intervals),
    previous: compare
      ? await readPrevious(context, { metric, filter, range, interval, names })
      : null,
  }
}

interface Previous {
  readonly metric: MetricName
  readonly filter: RollupFilter
  readonly range: Range
  readonly interval: Interval
  readonly names: readonly RollupSum[]
}

async function readPrevious(
  context: AdminContext,
  { metric, filter, range, interval, names }: Previous,
): Promise<Statistics['previous']> {
  const before = rangeBefore(range)
  const intervals = bucketsOf(interval, before)
  const rows = await readRows(context, { range: before, filter, by: [], cuts: intervals, names })
  const { total } = new Fold(rows, names)
  return { ...rangeView(before), total: pointsOf(total, metric, intervals) }
}

export function rangeView({ since, until }: Range) {
  return { since: timeText(since), until: timeText(until) }
}

/** Sizes of rates cannot be compared, so groups are ranked by their number of requests there. */
function sizeBy(metric: MetricName): ({ whole }: Folded) => number {
  const { unit, of } = metrics[metric]
  const isSum = unit === 'nano' || unit === 'requests' || unit === 'tokens'
  return ({ whole }) => Number(isSum ? of(whole) : whole.get('requests'))
}

function seriesOf(
  folded: Folded,
  by: readonly RollupDimension[],
  metric: MetricName,
  intervals: readonly number[],
): Series {
  const { others } = folded
  return {
    group: groupOf(folded, by),
    ...(others !== undefined && { otherGroups: others }),
    ...pointsOf(folded, metric, intervals),
  }
}

const nothing = new Added([])

function pointsOf(folded: Folded, metric: MetricName, cuts: readonly number[]): Points {
  const { unit, of } = metrics[metric]
  const values = cuts.map((_, place) => of(folded.intervals.get(place) ?? nothing))
  const total = of(folded.whole)
  if (unit === 'nano') return { valuesNano: values.map(String), totalNano: String(total) }
  const number = (value: bigint | number | null) => (value === null ? null : Number(value))
  return { values: values.map(number), total: number(total) }
}
