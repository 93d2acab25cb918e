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
  Spans,
} from './rollup-table.ts'
import { cleanText } from './text.ts'

export function rollupReader(engine: Engine): RollupReader {
  return {
    async read(query) {
      const { sql, values } = statementOf(query)
      return (await engine.query<Kept>(sql, values)).map((kept) => rowOf(kept, query))
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

/** `b0`, `b1`: dimensions; `s0`, `s1`: sums. */
type Kept = Readonly<Record<string, string | number>> & { readonly at: number }

function rowOf(kept: Kept, { by, sums: asked }: RollupQuery): RollupRow {
  return {
    at: kept.at,
    by: by.map((_, place) => String(kept[`b${place}`])),
    sums: asked.map((_, place) => BigInt(kept[`s${place}`] ?? 0)),
  }
}

function statementOf(query: RollupQuery): { sql: string; values: Value[] } {
  const { since, until, filter, by, spans, limit } = query
  const isOfAll = [...by, ...filtered(filter)].every((each) => each !== 'account' && each !== 'key')
  const groups = by.map((each, place) => `series.${columnOf(each)} AS b${place}`)
  const span = spans === null ? null : spanOf(spans)
  const selected = [
    ...(span === null ? [] : [span.sql]),
    ...groups,
    'min(kept.quarter) AS at',
    ...query.sums.map(
      (each, place) => `CAST(coalesce(sum(kept.${nameOf(each)}), 0) AS TEXT) AS s${place}`,
    ),
  ]
  const grouped = groups.length + (span === null ? 0 : 1)
  const where = conditions(filter)
  const sql = `SELECT ${selected.join(', ')}
    FROM usage_series AS series
    JOIN ${isOfAll ? 'usage_quarter_all' : 'usage_quarter'} AS kept
      ON kept.series = series.id AND kept.quarter >= ? AND kept.quarter < ?
    ${where.sql}
    ${grouped === 0 ? 'HAVING count(*) > 0' : `GROUP BY ${Array.from({ length: grouped }, (_, at) => at + 1).join(', ')}`}
    LIMIT ?`
  return { sql, values: [...(span?.values ?? []), since, until, ...where.values, limit] }
}

/** The number of the span a quarter is in: equal only within one, and never across a change of the offset. */
function spanOf({ unitMs, offsets }: Spans): { sql: string; values: Value[] } {
  const values: Value[] = []
  const branches = offsets.map(({ offsetMs }, place) => {
    const next = offsets[place + 1]
    if (next !== undefined) values.push(next.fromMs)
    values.push(offsetMs, unitMs)
    const number = `(kept.quarter + ?) / ? * ${mostOffsets} + ${place}`
    return next === undefined ? `ELSE ${number}` : `WHEN kept.quarter < ? THEN ${number}`
  })
  // A CASE with nothing but an ELSE is no expression.
  const sql = `CASE WHEN kept.quarter < 0 THEN -1 ${branches.join(' ')} END AS span`
  return { sql, values }
}

/** More than there are changes of a zone's offset in any reading. */
const mostOffsets = 1_000

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
