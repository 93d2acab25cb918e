// Reads the quarter-hourly totals: one statement of what is asked, with its sums made by the database.

import type { Engine, Value } from './engine.ts'
import { dimensions, sums } from './rollup-columns.ts'
import type {
  RollupDimension,
  RollupFilter,
  RollupQuery,
  RollupReader,
  RollupRow,
  RollupSum,
} from './rollup-table.ts'
import { cleanText } from './text.ts'

export function rollupReader(engine: Engine): RollupReader {
  return {
    async read(query) {
      const { sql, values } = statementOf(engine.kind, query)
      return added(await engine.query<Kept>(sql, values), query)
    },
    async values(dimension, account, limit) {
      const column = columnOf(dimension)
      // All accounts' own series where it is about accounts and keys, which those of all together do not have.
      const isOwn = account !== null || dimension === 'account' || dimension === 'key'
      const where =
        account !== null
          ? "account = ? AND account <> ''"
          : isOwn
            ? "account <> ''"
            : "account = ''"
      const kept = await engine.query<{ readonly value: string }>(
        `SELECT DISTINCT ${column} AS value FROM usage_series WHERE ${where} ORDER BY 1 LIMIT ?`,
        account === null ? [limit] : [cleanText(account), limit],
      )
      return kept.map(({ value }) => value)
    },
  }
}

/** `b0`, `b1`: dimensions; `sums`: the first quarter and the sums, with blanks between them. */
type Kept = Readonly<Record<`b${number}`, string>> & {
  readonly span: number
  readonly sums: string
}

function statementOf(kind: Engine['kind'], query: RollupQuery): { sql: string; values: Value[] } {
  const { cuts, until, filter, by, sums: asked } = query
  const isOfAll = [...by, ...filtered(filter)].every((each) => each !== 'account' && each !== 'key')
  const table = isOfAll ? 'usage_quarter_all' : 'usage_quarter'
  const groups = by.map((each, place) => `series.${columnOf(each)} AS b${place}, `).join('')
  const sums = asked.map((each) => ` || ' ' || coalesce(sum(kept.${nameOf(each)}), 0)`).join('')
  const where = conditions(isOfAll ? { ...filter, account: [''] } : filter)
  if (kind === 'sqlite') return overSeries({ table, groups, sums, where, cuts, until })
  const grouped = Array.from({ length: by.length + 1 }, (_, place) => place + 1).join(', ')
  const sql = `SELECT width_bucket(kept.quarter, ?::bigint[]) - 1 AS span,
      ${groups}CAST(min(kept.quarter) AS TEXT)${sums} AS sums
    FROM usage_series AS series
    JOIN ${table} AS kept ON kept.series = series.id AND kept.quarter >= ? AND kept.quarter < ?
    ${where.sql} GROUP BY ${grouped} LIMIT ?`
  const edges = [`{${cuts.join(',')}}`, cuts[0] ?? until, until]
  return { sql, values: [...edges, ...where.values, query.limit] }
}

interface SeriesQuery {
  readonly table: string
  readonly groups: string
  readonly sums: string
  readonly where: { readonly sql: string; readonly values: readonly Value[] }
  readonly cuts: readonly number[]
  readonly until: number
}

/**
 * SQLite sorts what it groups, which takes longer than to read it. A series' span lies together in its table, so each is
 * added up by itself, and what belongs together is added up here.
 */
function overSeries({ table, groups, sums, where, cuts, until }: SeriesQuery) {
  const spans = cuts.map((from, place) => [from, cuts[place + 1] ?? until])
  const sql = `WITH span (number, since, until) AS MATERIALIZED (
      SELECT key, value ->> 0, value ->> 1 FROM json_each(?)),
    part AS (
      SELECT span.number AS span, ${groups}(SELECT CAST(min(kept.quarter) AS TEXT)${sums} FROM ${table} AS kept
        WHERE kept.series = series.id AND kept.quarter >= span.since AND kept.quarter < span.until)
        AS sums
      FROM usage_series AS series CROSS JOIN span ${where.sql})
    SELECT * FROM part WHERE sums IS NOT NULL`
  return { sql, values: [JSON.stringify(spans), ...where.values] }
}

/** Those of one group and span in one. */
function added(kept: readonly Kept[], { by, limit }: RollupQuery): RollupRow[] {
  const rows = new Map<string, { span: number; at: number; by: string[]; sums: bigint[] }>()
  for (const each of kept) {
    const values = by.map((_, place) => each[`b${place}`] ?? '')
    const name = `${each.span}\0${values.join('\0')}`
    const [at, ...sums] = each.sums.split(' ')
    const row = rows.get(name)
    if (row === undefined) {
      rows.set(name, { span: each.span, at: Number(at), by: values, sums: sums.map(BigInt) })
      continue
    }
    row.at = Math.min(row.at, Number(at))
    sums.forEach((sum, place) => {
      if (sum !== '0') row.sums[place] = (row.sums[place] ?? 0n) + BigInt(sum)
    })
  }
  return [...rows.values()].slice(0, limit)
}

function conditions(filter: RollupFilter): { sql: string; values: Value[] } {
  const parts: string[] = []
  const values: Value[] = []
  for (const dimension of filtered(filter)) {
    const wanted = padded((filter[dimension] ?? []).map(cleanText))
    parts.push(`series.${columnOf(dimension)} IN (${wanted.map(() => '?').join(', ')})`)
    values.push(...wanted)
  }
  return { sql: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`, values }
}

function filtered(filter: RollupFilter): RollupDimension[] {
  return dimensions.map(({ field }) => field).filter((field) => filter[field] !== undefined)
}

/** To a power of two, so that there are few statements to keep prepared. */
function padded(wanted: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, wanted.length)))
  return Array.from({ length }, (_, at) => wanted[Math.min(at, wanted.length - 1)] ?? '')
}

function columnOf(dimension: RollupDimension): string {
  const found = dimensions.find(({ field }) => field === dimension)
  if (found === undefined) throw new RangeError(`${dimension} is no dimension of the totals`)
  return found.name
}

function nameOf(sum: RollupSum): string {
  const found = sums.find(({ field }) => field === sum)
  if (found === undefined) throw new RangeError(`${sum} is no sum of the totals`)
  return found.name
}
