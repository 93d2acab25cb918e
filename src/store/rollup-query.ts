// Reads totals: one statement per query, in which the database computes the sums.

import type { Engine, Session, Value } from './engine.ts'
import { sums } from './rollup-columns.ts'
import { foldSome } from './rollup-facets.ts'
import { evenSpansOf } from './rollup-pieces.ts'
import { columnOf, type Source, sourcesOf } from './rollup-sources.ts'
import {
  hourMs,
  type RollupDimension,
  type RollupOrder,
  type RollupQuery,
  type RollupRow,
  type RollupStore,
  type RollupSum,
  type RollupTop,
  type RollupTopQuery,
} from './rollup-table.ts'
import { cleanText } from './text.ts'

export function rollupStore(engine: Engine): RollupStore {
  return {
    read: (query) => readRollups(engine, query),
    async top(query) {
      const times = { ...query, cuts: [query.since] }
      const { sql, values } = topStatement(engine.kind, query, await sourcesOf(engine, times))
      return topOf(await engine.query<KeptTop>(sql, values), query)
    },
    async values(dimension, account, limit) {
      const column = columnOf(dimension)
      // Series of single accounts, because the series of all accounts together lack accounts and keys.
      const isTag = dimension === 'tag'
      const table = isTag ? 'usage_tagged_series' : 'usage_series'
      const isOwn = account !== null || dimension === 'account' || dimension === 'key' || isTag
      const where =
        account !== null
          ? "account = ? AND account <> ''"
          : isOwn
            ? "account <> ''"
            : "account = ''"
      const kept = await engine.query<{ readonly value: string }>(
        `SELECT DISTINCT ${column} AS value FROM ${table} AS source WHERE ${where} ORDER BY 1 LIMIT ?`,
        account === null ? [limit] : [cleanText(account), limit],
      )
      return kept.map(({ value }) => value)
    },
    fold: (before) => foldSome(engine, before),
  }
}

/** See `RollupReader.read`. */
export async function readRollups(
  session: Session,
  query: RollupQuery,
): Promise<readonly RollupRow[]> {
  const { sql, values } = seriesStatement(session.kind, query, await sourcesOf(session, query))
  return added(await session.query<Kept>(sql, values), query)
}

/** `b0`, `b1`: values of the dimensions; `sums`: separated by spaces. */
type Kept = Readonly<Record<`b${number}`, string>> & {
  readonly span: number
  readonly sums: string
}

interface Statement {
  readonly sql: string
  readonly values: readonly Value[]
}

const groupsOf = (source: Source, by: readonly RollupDimension[]): readonly string[] =>
  by.map((each, place) => `${source.columnOf(each)} AS b${place}`)

function seriesStatement(
  kind: Engine['kind'],
  query: RollupQuery,
  sources: readonly Source[],
): Statement {
  const parts = sources.map((source) =>
    kind === 'sqlite' ? overSubjects(source, query) : overRuns(source, query),
  )
  const union = parts.map(({ sql }) => sql).join(' UNION ALL ')
  const sql = `SELECT * FROM (${union}) AS part WHERE sums IS NOT NULL`
  const values = parts.flatMap((part) => part.values)
  // On SQLite each subject contributes a row to a row of the answer, on PostgreSQL each source at most one.
  if (kind === 'sqlite') return { sql, values }
  const most = Math.min(query.limit * sources.length, Number.MAX_SAFE_INTEGER)
  return { sql: `${sql} LIMIT ?`, values: [...values, most] }
}

/** The number of requests first. Null if there are no totals. */
const textOf = ({ sign }: Source, asked: readonly RollupSum[]): string =>
  [
    `CAST(${sign}sum(kept.requests) AS TEXT)`,
    ...asked.map((each) => `coalesce(${sign}sum(kept.${nameOf(each)}), 0)`),
  ].join(` || ' ' || `)

/**
 * SQLite sorts the rows that it groups, which takes longer than reading them. A subject's rows are adjacent in the
 * table, so each piece is summed separately, and sums of the same group are added here.
 */
function overSubjects(source: Source, query: RollupQuery): Statement {
  const { by, sums: asked } = query
  const { table, subjects, of, at, pieces, where } = source
  const even = evenSpansOf(pieces)
  if (even !== null && even.widthMs <= hourMs) return overEvenSpans(source, query, even)
  const groups = groupsOf(source, by).map((each) => `${each}, `)
  const given = pieces.map(({ span, since, until }) => [span, since, until])
  return {
    sql: `SELECT piece.number AS span, ${groups.join('')}(
        SELECT ${textOf(source, asked)} FROM ${table} AS kept
        WHERE kept.${of} = source.id AND kept.${at} >= piece.since AND kept.${at} < piece.until) AS sums
      FROM ${subjects} AS source CROSS JOIN
        (SELECT value ->> 0 AS number, value ->> 1 AS since, value ->> 2 AS until FROM json_each(?)) AS piece
      ${where.sql}`,
    values: [JSON.stringify(given), ...where.values],
  }
}

/** With many short spans, each has few totals of a subject, and separate lookups take longer than sorting them. */
function overEvenSpans(
  source: Source,
  { by, sums: asked }: RollupQuery,
  { origin, widthMs }: { readonly origin: number; readonly widthMs: number },
): Statement {
  const { table, subjects, of, at, pieces, where } = source
  const groups = groupsOf(source, by).map((each) => `${each}, `)
  const grouped = Array.from({ length: by.length + 1 }, (_, place) => place + 1).join(', ')
  const since = pieces[0]?.since ?? 0
  const until = pieces.at(-1)?.until ?? since
  return {
    sql: `SELECT (kept.${at} - CAST(? AS INTEGER)) / CAST(? AS INTEGER) AS span, ${groups.join('')}${textOf(source, asked)} AS sums
      FROM ${subjects} AS source CROSS JOIN ${table} AS kept ${where.sql}
        AND kept.${of} = source.id AND kept.${at} >= ? AND kept.${at} < ? GROUP BY ${grouped}`,
    values: [origin, widthMs, ...where.values, since, until],
  }
}

/**
 * PostgreSQL plans a single long period well. For many short ones it overestimates each and would read the whole table;
 * OFFSET makes it look them up one by one.
 */
function overRuns(source: Source, { by, cuts, sums: asked }: RollupQuery): Statement {
  const { table, subjects, of, at, runs, where } = source
  const groups = groupsOf(source, by).map((each) => `${each}, `)
  const grouped = Array.from({ length: by.length + 1 }, (_, place) => place + 1).join(', ')
  const listed = (numbers: readonly number[]) => `{${numbers.join(',')}}`
  const [run] = runs
  const isOne = runs.length === 1 && run !== undefined
  const given = isOne
    ? [run.since, run.until]
    : [listed(runs.map(({ since }) => since)), listed(runs.map(({ until }) => until))]
  const from = isOne
    ? `${subjects} AS source JOIN ${table} AS kept
      ON kept.${of} = source.id AND kept.${at} >= ? AND kept.${at} < ?`
    : runByRun(source, asked)
  return {
    sql: `(SELECT width_bucket(kept.${at}, ?::bigint[]) - 1 AS span, ${groups.join('')}${textOf(source, asked)} AS sums
      FROM ${from} ${where.sql} GROUP BY ${grouped})`,
    values: [listed(cuts), ...given, ...where.values],
  }
}

function runByRun(
  { table, subjects, of, at, isTimeFirst }: Source,
  asked: readonly RollupSum[],
): string {
  const columns = [...new Set([of, at, 'requests', ...asked.map(nameOf)])].join(', ')
  const run = 'unnest(?::bigint[], ?::bigint[]) AS run (since, until)'
  const kept = (whose: string) => `LATERAL (SELECT ${columns} FROM ${table} AS kept
    WHERE kept.${at} >= run.since AND kept.${at} < run.until${whose} OFFSET 0) AS kept`
  return isTimeFirst
    ? `${run} CROSS JOIN ${kept('')} JOIN ${subjects} AS source ON source.id = kept.${of}`
    : `${subjects} AS source CROSS JOIN ${run} CROSS JOIN ${kept(` AND kept.${of} = source.id`)}`
}

/** Adds the sums of the same group and span, and leaves out those of which nothing remains. */
function added(kept: readonly Kept[], { by, limit }: RollupQuery): RollupRow[] {
  const rows = new Map<string, { span: number; by: string[]; requests: bigint; sums: bigint[] }>()
  for (const each of kept) {
    const values = by.map((_, place) => each[`b${place}`] ?? '')
    const name = `${each.span}\0${values.join('\0')}`
    const [requests = '0', ...sums] = each.sums.split(' ')
    const row = rows.get(name)
    if (row === undefined) {
      const first = { requests: BigInt(requests), sums: sums.map(BigInt) }
      rows.set(name, { span: each.span, by: values, ...first })
      continue
    }
    row.requests += BigInt(requests)
    sums.forEach((sum, place) => {
      if (sum !== '0') row.sums[place] = (row.sums[place] ?? 0n) + BigInt(sum)
    })
  }
  const present = [...rows.values()].filter(({ requests }) => requests !== 0n)
  return present.slice(0, limit).map(({ requests, ...row }) => row)
}

/** The last row has the sums of all groups and their number; in other rows `groups` is null. */
type KeptTop = Readonly<Record<`b${number}`, string>> & {
  readonly groups: number | null
  readonly sums: string
}

function topStatement(
  kind: Engine['kind'],
  query: RollupTopQuery,
  sources: readonly Source[],
): Statement {
  const { by, sums: asked, order, limit } = query
  const groups = by.map((_, place) => `b${place}`)
  const grouped =
    groups.length === 0 ? '' : `GROUP BY ${groups.join(', ')} HAVING sum(requests) <> 0`
  const columns = (table: string) =>
    asked.map((_, place) => `coalesce(sum(${table}.s${place}), 0) AS s${place}`)
  const parts = sources.flatMap((source) => topParts(kind, source, query))
  const text = (of: (place: number) => string) =>
    asked.map((_, place) => `CAST(${of(place)} AS TEXT)`).join(` || ' ' || `)
  const first = [
    ...groups.map((name) => `whole.${name}`),
    `${text((place) => `s${place}`)} AS sums`,
  ]
  const last = [
    ...groups.map((name) => `'' AS ${name}`),
    `${text((place) => `coalesce(sum(s${place}), 0)`)} AS sums`,
  ]
  const direction = order.descending ? 'DESC' : 'ASC'
  return {
    sql: `WITH part AS (${parts.map(({ sql }) => sql).join(' UNION ALL ')}),
      whole AS MATERIALIZED (SELECT ${[...groups, ...columns('part')].join(', ')} FROM part ${grouped})
      SELECT * FROM (SELECT CAST(NULL AS BIGINT) AS groups, ${first.join(', ')} FROM whole
        ORDER BY ${[`${sizeOf(order, asked)} ${direction}`, ...groups].join(', ')} LIMIT ?) AS first
      UNION ALL SELECT count(*) AS groups, ${last.join(', ')} FROM whole`,
    values: [...parts.flatMap(({ values }) => values), limit],
  }
}

function topParts(
  kind: Engine['kind'],
  source: Source,
  { by, sums: asked }: RollupTopQuery,
): Statement[] {
  const { table, subjects, of, at, runs, where, unique, sign } = source
  const columns = [
    `${sign}sum(kept.requests) AS requests`,
    ...asked.map((each, place) => `${sign}sum(kept.${nameOf(each)}) AS s${place}`),
  ]
  // SQLite sorts the rows that it groups, unless they are in the order of an index.
  const grouped =
    kind === 'sqlite' ? unique.map((each) => `source.${each}`) : by.map(source.columnOf)
  const groupBy = grouped.length === 0 ? '' : `GROUP BY ${grouped.join(', ')}`
  return runs.map(({ since, until }) => ({
    sql: `SELECT ${[...groupsOf(source, by), ...columns].join(', ')} FROM ${subjects} AS source
      CROSS JOIN ${table} AS kept ${where.sql} AND kept.${of} = source.id
        AND kept.${at} >= ? AND kept.${at} < ? ${groupBy}`,
    values: [...where.values, since, until],
  }))
}

/** The SQL expression by which groups are sorted. */
function sizeOf({ plus, minus, over }: RollupOrder, asked: readonly RollupSum[]): string {
  const column = (sum: RollupSum) => `s${asked.indexOf(sum)}`
  const added = plus.map(column).join(' + ')
  const size = minus === undefined ? added : `${added} - ${column(minus)}`
  return over === undefined ? size : `(${size}) * 1.0 / ${column(over)}`
}

function topOf(kept: readonly KeptTop[], { by }: RollupTopQuery): RollupTop {
  const rows = kept.map((each) => ({
    groups: each.groups,
    by: by.map((_, place) => each[`b${place}`] ?? ''),
    sums: each.sums.split(' ').map(BigInt),
  }))
  const total = rows.find(({ groups }) => groups !== null)
  return {
    rows: rows.filter(({ groups }) => groups === null),
    groups: total?.groups ?? 0,
    total: total?.sums ?? [],
  }
}

function nameOf(sum: RollupSum): string {
  const found = sums.find(({ field }) => field === sum)
  if (found === undefined) throw new RangeError(`${sum} is no sum of the totals`)
  return found.name
}
