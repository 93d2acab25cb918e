// Totals of usage by hour and by day, for one dimension at a time, so that long periods are read quickly. They are
// folded from past quarter-hours; usage that is settled later is added to them directly.

import { setImmediate as turn } from 'node:timers/promises'
import type { Bulk, Engine, Session, Value } from './engine.ts'
import { databaseMs } from './leases.ts'
import { dimensions, sums } from './rollup-columns.ts'
import { hourMs, quarterMs, type RollupDimension } from './rollup-table.ts'
import { addSubjects, addTotals, type RollupTotals, type Subjects, type Total } from './rollups.ts'
import { holdSettling } from './settlement-log.ts'

interface FacetTable {
  readonly table: 'usage_day' | 'usage_hour' | 'usage_facet_quarter'
  readonly at: 'day' | 'hour' | 'quarter'
  readonly widthMs: number
  /** Whether the table has only totals over all accounts. */
  readonly isOfAll: boolean
}

const dayMs = 24 * hourMs

/** The longest unit of time first. */
export const facetTables: readonly FacetTable[] = [
  { table: 'usage_day', at: 'day', widthMs: dayMs, isOfAll: false },
  { table: 'usage_hour', at: 'hour', widthMs: hourMs, isOfAll: false },
  { table: 'usage_facet_quarter', at: 'quarter', widthMs: quarterMs, isOfAll: true },
]

/** The dimensions totalled, one at a time, beside everything together: for each account, and over all accounts. */
const ofAccounts: readonly RollupDimension[] = ['key', 'model', 'statusClass']
const ofAll: readonly RollupDimension[] = ['model', 'channel', 'group', 'operation', 'statusClass']

/** The kind of total that answers a query by these dimensions; null if only the quarter-hourly ones do. */
export function facetFor(
  asked: readonly RollupDimension[],
): { readonly dimension: RollupDimension | ''; readonly isOfAll: boolean } | null {
  const [dimension = '', ...more] = new Set(asked.filter((each) => each !== 'account'))
  const isOfAll = !asked.includes('account') && dimension !== 'key'
  const known = isOfAll ? ofAll : ofAccounts
  const isKnown = more.length === 0 && (dimension === '' || known.includes(dimension))
  return isKnown ? { dimension, isOfAll } : null
}

const subjects: Subjects = { table: 'usage_facet', names: ['dimension', 'account', 'value'] }
const addFacetNames = addSubjects(subjects)
const addInto = {
  usage_day: addTotals({ table: 'usage_day', of: 'facet', at: 'day', subjects }),
  usage_hour: addTotals({ table: 'usage_hour', of: 'facet', at: 'hour', subjects }),
  usage_facet_quarter: addTotals({
    table: 'usage_facet_quarter',
    of: 'facet',
    at: 'quarter',
    subjects,
  }),
}

export interface FacetTotal {
  /** The first moment of its unit of time, Unix milliseconds. */
  readonly at: number
  /** Dimension, account and value. */
  readonly facet: readonly [string, string, string]
  /** In the order of the columns; null for 0. */
  readonly sums: (bigint | null)[]
}

/** By `facetName`. */
type FacetTotals = ReadonlyMap<string, FacetTotal>

/** Folds quarter-hourly totals of accounts. */
export class FacetSums {
  readonly #hours = new Map<string, FacetTotal>()
  readonly #quartersOfAll = new Map<string, FacetTotal>()

  add(totals: Iterable<Total>): void {
    for (const { quarter, dimensions: values, sums: own } of totals) {
      const [account = ''] = values
      const valueOf = (each: RollupDimension | '') => (each === '' ? '' : values[placeOf[each]])
      for (const each of ['', ...ofAccounts] as const) {
        const facet = [each, account, valueOf(each) ?? ''] as const
        addIn(this.#hours, { at: startOf(quarter, hourMs), facet, sums: own })
      }
      for (const each of ['', ...ofAll] as const) {
        addIn(this.#quartersOfAll, {
          at: quarter,
          facet: [each, '', valueOf(each) ?? ''],
          sums: own,
        })
      }
    }
  }

  /** The totals to be added to each table. */
  tables(): Readonly<Record<FacetTable['table'], FacetTotals>> {
    const hours = longer([...this.#hours.values(), ...this.#quartersOfAll.values()], hourMs)
    return {
      usage_facet_quarter: this.#quartersOfAll,
      usage_hour: hours,
      usage_day: longer(hours.values(), dayMs),
    }
  }
}

function longer(totals: Iterable<FacetTotal>, widthMs: number): FacetTotals {
  const made = new Map<string, FacetTotal>()
  for (const each of totals) addIn(made, { ...each, at: startOf(each.at, widthMs) })
  return made
}

function startOf(at: number, widthMs: number): number {
  return Math.floor(at / widthMs) * widthMs
}

const placeOf = Object.fromEntries(
  dimensions.map(({ field }, place) => [field, place]),
) as Readonly<Record<RollupDimension, number>>

/** Unique, because cleaned text never contains a NUL. */
export function facetName({ at, facet }: Omit<FacetTotal, 'sums'>): string {
  return `${at}\0${facet.join('\0')}`
}

function addIn(totals: Map<string, FacetTotal>, { at, facet, sums: more }: FacetTotal): void {
  const name = facetName({ at, facet })
  const total = totals.get(name)
  if (total === undefined) totals.set(name, { at, facet, sums: [...more] })
  else
    more.forEach((sum, place) => {
      if (sum !== null) total.sums[place] = (total.sums[place] ?? 0n) + sum
    })
}

/** This many take some milliseconds, after which the thread's other work gets its turn. */
const rowsAtOnce = 500

async function writeFacets(session: Session, sums: FacetSums): Promise<void> {
  const made = sums.tables()
  const write = async (statement: Bulk, rows: readonly (readonly Value[])[]) => {
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      await session.bulk(statement, rows.slice(from, from + rowsAtOnce))
      await turn()
    }
  }
  const facets = [...made.usage_day.values()].map(({ facet }) => facet)
  const names = new Map(facets.map((facet) => [facet.join('\0'), facet]))
  await write(addFacetNames, [...names.values()])
  for (const { table } of facetTables) {
    const totals = [...made[table].values()]
    await write(
      addInto[table],
      totals.map(({ at, sums, facet }) => [at, ...sums, ...facet]),
    )
  }
}

interface Folded {
  /** Unix milliseconds: quarter-hours that began earlier are in the totals by hour and day. It only grows. */
  readonly until: number
  /** Of the quarter-hour that begins then, the series up to this id are in them too; 0: none. */
  readonly series: number
}

export async function foldedOf(session: Session): Promise<Folded> {
  const [folded] = await session.query<Folded>('SELECT until, series FROM usage_folded', [])
  if (folded === undefined) throw new Error('The table usage_folded has lost its row.')
  return folded
}

/** See `Folded.until`: queries read only what is folded whole. */
export async function foldedUntil(session: Session): Promise<number> {
  return (await foldedOf(session)).until
}

/** Adds a settlement's usage to quarter-hours already folded; in its transaction, after locking out a folding. */
export async function addLate(session: Session, totals: RollupTotals): Promise<void> {
  const folded = await foldedOf(session)
  const late: Total[] = []
  for (const total of totals.of('usage_quarter').values()) {
    const isPart = total.quarter === folded.until && folded.series > 0
    if (total.quarter < folded.until || (isPart && (await isUpTo(session, total, folded.series))))
      late.push(total)
  }
  if (late.length === 0) return
  const sums = new FacetSums()
  sums.add(late)
  await writeFacets(session, sums)
}

const selectSeries = `SELECT 1 FROM usage_series
  WHERE ${dimensions.map(({ name }) => `${name} = ?`).join(' AND ')} AND id <= ?`

async function isUpTo(session: Session, { dimensions: values }: Total, series: number) {
  return (await session.query(selectSeries, [...values, series])).length > 0
}

const selectNext = 'SELECT min(quarter) AS quarter FROM usage_quarter WHERE quarter >= ?'

async function nextQuarter(session: Session, from: number): Promise<number | null> {
  const [next] = await session.query<{ readonly quarter: number | null }>(selectNext, [from])
  return next?.quarter ?? null
}

/**
 * Folds some series of the oldest quarter-hour that is not folded whole and ended before this moment (Unix
 * milliseconds), in a transaction that blocks settling. Returns false if there is none. What a node dated in the future
 * is not folded until then: everything settled meanwhile would have to be added to the folded totals one by one.
 */
export async function foldSome(engine: Engine, asked: number): Promise<boolean> {
  const before = Math.min(asked, await databaseMs(engine))
  const nextIn = async (session: Session) => {
    const { until, series } = await foldedOf(session)
    const quarter = await nextQuarter(session, until)
    if (quarter === null || quarter + quarterMs > before) return null
    return { quarter, after: quarter === until ? series : 0 }
  }
  // Usually there are none, and finding that out must not lock anything.
  if ((await nextIn(engine)) === null) return false
  return engine.transaction(async (session) => {
    await holdSettling(session)
    const next = await nextIn(session)
    if (next === null) return false
    const { quarter, after } = next
    const rows = await readSeries(session, { quarter, after, through: Number.MAX_SAFE_INTEGER })
    const sums = new FacetSums()
    sums.add(totalsIn(quarter, rows))
    await turn()
    await writeFacets(session, sums)
    const isWhole = rows.length < rowsAtOnce
    await session.run('UPDATE usage_folded SET until = ?, series = ?', [
      isWhole ? quarter + quarterMs : quarter,
      isWhole ? 0 : seriesOf(rows),
    ])
    return true
  })
}

const asList = { sqlite: 'json_array', postgres: 'json_build_array' }
/** As text, because amounts would lose digits as numbers. */
const sumsOf = (kind: Session['kind']): string =>
  `CAST(${asList[kind]}(${sums.map(({ name }) => `kept.${name}`).join(', ')}) AS TEXT) AS sums`

type KeptTotal = Readonly<Record<string, string | number>>

function readSums({ sums: text }: KeptTotal): (bigint | null)[] {
  const found = String(text).slice(1, -1).split(',')
  return found.map((sum) => (sum.trim() === 'null' ? null : BigInt(sum)))
}

interface Time {
  readonly since: number
  readonly until: number
}

/** Within one quarter-hour, so that each page continues where the last ended, without reading again what it had. */
const selectQuarter = (kind: Session['kind']): string => `SELECT series,
    ${dimensions.map(({ name }) => name).join(', ')}, ${sumsOf(kind)}
  FROM usage_quarter AS kept JOIN usage_series ON usage_series.id = series
  WHERE quarter = ? AND series > ? AND series <= ? ORDER BY series LIMIT ${rowsAtOnce}`

interface SeriesRange {
  readonly quarter: number
  /** Ids of series, the first one excluded. */
  readonly after: number
  readonly through: number
}

/** At most `rowsAtOnce`. */
function readSeries(
  session: Session,
  { quarter, after, through }: SeriesRange,
): Promise<readonly KeptTotal[]> {
  return session.query<KeptTotal>(selectQuarter(session.kind), [quarter, after, through])
}

function seriesOf(rows: readonly KeptTotal[]): number {
  return Number(rows.at(-1)?.['series'])
}

/** Pages of the accounts' totals of one quarter-hour. */
export async function* seriesPages(
  session: Session,
  range: SeriesRange,
): AsyncGenerator<readonly Total[]> {
  let { after } = range
  for (;;) {
    const rows = await readSeries(session, { ...range, after })
    yield totalsIn(range.quarter, rows)
    if (rows.length < rowsAtOnce) return
    after = seriesOf(rows)
  }
}

/** Pages of the accounts' totals of quarter-hours that began in [since, until), in the order of time. */
export async function* quarterPages(
  session: Session,
  { since, until }: Time,
): AsyncGenerator<readonly Total[]> {
  const whole = { after: 0, through: Number.MAX_SAFE_INTEGER }
  for (
    let quarter = await nextQuarter(session, since);
    quarter !== null && quarter < until;
    quarter = await nextQuarter(session, quarter + quarterMs)
  ) {
    yield* seriesPages(session, { quarter, ...whole })
  }
}

function totalsIn(quarter: number, rows: readonly KeptTotal[]): readonly Total[] {
  return rows.map((kept) => ({
    quarter,
    dimensions: dimensions.map(({ name }) => String(kept[name])),
    sums: readSums(kept),
  }))
}

/** Pages of one table's totals whose unit of time begins in [since, until). */
export async function* facetPages(
  session: Session,
  { table, at }: FacetTable,
  { since, until }: Time,
): AsyncGenerator<readonly FacetTotal[]> {
  const sql = `SELECT ${at} AS at, facet, dimension, account, value, ${sumsOf(session.kind)}
    FROM usage_facet CROSS JOIN ${table} AS kept
    WHERE facet = id AND id >= ? AND ${at} >= ? AND ${at} < ? AND (facet, ${at}) > (?, ?)
    ORDER BY facet, ${at} LIMIT ${rowsAtOnce}`
  let [facet, after] = [0, since - 1]
  for (;;) {
    const rows = await session.query<KeptTotal>(sql, [facet, since, until, facet, after])
    yield rows.map((kept) => ({
      at: Number(kept['at']),
      facet: [String(kept['dimension']), String(kept['account']), String(kept['value'])],
      sums: readSums(kept),
    }))
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsAtOnce) return
    facet = Number(last['facet'])
    after = Number(last['at'])
  }
}
