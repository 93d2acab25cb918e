// Exports statistics as a file: exactly what is shown, as JSON or as CSV for a spreadsheet.

import { promptKinds, replyKinds } from '../config/prices.ts'
import { formatUnits } from '../money.ts'
import type { RollupDimension } from '../store/rollup-table.ts'
import { type Breakdown, type BreakdownFigures, readBreakdown } from './breakdown.ts'
import { type Cell, csvLine } from './csv.ts'
import type { Input } from './schema.ts'
import { type Owned, type Points, readStatistics, type Statistics } from './statistics.ts'
import type { Group } from './statistics-fold.ts'
import type { AdminContext } from './use-case.ts'
import { localOf, zoneIn } from './zone.ts'

interface Export {
  readonly contentType: string
  readonly fileName: string
  readonly chunks: Iterable<string>
}

/** Throws AdminError naming the field, before anything is sent. */
export async function exportStatistics(
  context: AdminContext,
  {
    view,
    format,
    metric,
    interval,
    compare,
    sort,
    order,
    limit,
    ...input
  }: Input<'exportStatistics'> & Owned,
): Promise<Export> {
  const shown =
    view === 'series'
      ? await readStatistics(context, { ...input, metric, interval, compare, limit: limit ?? 10 })
      : await readBreakdown(context, { ...input, sort, order, limit: limit ?? 100 })
  const fileName = `${view}-${shown.since.slice(0, 10)}-${shown.until.slice(0, 10)}.${format}`
  if (format === 'json') return { contentType: 'application/json', fileName, chunks: jsonOf(shown) }
  const names = await keyNames(context, shown, input)
  const chunks = 'series' in shown ? seriesCsv(shown, names) : breakdownCsv(shown, names)
  return { contentType: 'text/csv; charset=utf-8; header=present', fileName, chunks }
}

/** The names by which the console shows keys, by id; null if the rows are of no keys. */
export async function keyNames(
  { store }: Pick<AdminContext, 'store'>,
  { by }: Pick<Breakdown, 'by'>,
  { owner }: Owned,
): Promise<ReadonlyMap<string, string> | null> {
  if (!by.includes('key')) return null
  return new Map((await store.keys.all(owner)).map(({ id, name }) => [id, name]))
}

function* jsonOf(shown: Statistics | Breakdown): Generator<string> {
  yield `${JSON.stringify(shown)}\n`
}

/** A line for each interval, a column for each series and one for the total; names of keys stand before their ids. */
export function* seriesCsv(
  statistics: Statistics,
  names: ReadonlyMap<string, string> | null = null,
): Generator<string> {
  const { metric, unit, currency, timeZone, intervals, since, until, series, total } = statistics
  const { by, previous } = statistics
  const name = `${metric} (${unit === 'nano' ? currency : unit})`
  const columns = [
    ...series.map(({ group, otherGroups }) => nameOf(named(group, names), by, otherGroups)),
    name,
    ...(previous === null ? [] : [`${name}, before`]),
  ]
  const points = [...series, total, ...(previous === null ? [] : [previous.total])]
  yield csvLine(['from', `from (${timeZone})`, ...columns])
  const zone = zoneIn(timeZone, Date.parse(since), Date.parse(until))
  for (const [place, from] of intervals.entries()) {
    const local = new Date(localOf(zone, Date.parse(from))).toISOString().slice(0, 16)
    yield csvLine([from, local.replace('T', ' '), ...points.map((each) => pointOf(each, place))])
  }
  yield csvLine(['total', '', ...points.map((each) => pointOf(each, null))])
}

function named(group: Group, names: ReadonlyMap<string, string> | null): Group {
  const key = group['key'] ?? ''
  const name = names?.get(key)
  return name === undefined ? group : { ...group, key: `${name} (${key})` }
}

/** The figure of one interval, or of all for null; amounts in units of the currency. */
export function pointText(points: Points, place: number | null): string | number | null {
  const { values, valuesNano, total, totalNano } = points
  const nano = place === null ? totalNano : valuesNano?.[place]
  if (nano !== undefined) return formatUnits(BigInt(nano))
  return (place === null ? total : values?.[place]) ?? null
}

function pointOf(points: Points, place: number | null): Cell {
  const point = pointText(points, place)
  return typeof point === 'string' ? { units: point } : point
}

const tokenKinds = [...promptKinds, ...replyKinds]

/** With `names`, which are not unique, beside the ids of keys. */
export function* breakdownCsv(
  { by, currency, rows, totals }: Breakdown,
  names: ReadonlyMap<string, string> | null = null,
): Generator<string> {
  const isOperators = totals.vendorCostNano !== undefined
  const money = (name: string) => `${name} (${currency})`
  const operators = [money('written off'), money('vendor cost')]
  const heads = [...by, ...(names === null ? [] : ['keyName'])]
  yield csvLine([
    ...heads,
    'requests',
    'success',
    'failed',
    ...tokenKinds,
    money('spend'),
    'share',
    'errorRate',
    'cacheRate',
    ...(isOperators ? operators : []),
  ])
  for (const { group, otherGroups, ...figures } of rows) {
    const ids = by.map((field) => group[field] ?? `(${otherGroups} others)`)
    const name = names === null ? [] : [names.get(group['key'] ?? '') ?? '']
    yield csvLine([...ids, ...name, ...figureCells(figures)])
  }
  const labels = heads.map((_, place) => (place === 0 ? 'total' : ''))
  yield csvLine([...labels, ...figureCells(totals)])
}

function figureCells(figures: BreakdownFigures): Cell[] {
  const { requests, success, failed, tokens, spendNano, share, errorRate, cacheRate } = figures
  const { writeoffNano, vendorCostNano } = figures
  const operators = [writeoffNano, vendorCostNano].filter((nano) => nano !== undefined)
  return [
    requests,
    success,
    failed,
    ...tokenKinds.map((kind) => tokens[kind]),
    unitsOf(spendNano),
    share,
    errorRate,
    cacheRate,
    ...operators.map(unitsOf),
  ]
}

function unitsOf(nano: string): Cell {
  return { units: formatUnits(BigInt(nano)) }
}

/** The label of a group: its values, or the number of other groups. */
export function nameOf(group: Group, by: readonly RollupDimension[], others?: number): string {
  if (others !== undefined) return `(${others} others)`
  return by.map((field) => group[field] || '(none)').join(' / ')
}
