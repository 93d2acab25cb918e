// Finds rare rows of an account by the totals by hour: only hours that have such rows are searched.

import type { Session, Value } from './engine.ts'
import { facetFor } from './rollup-facets.ts'
import { hourMs, type RollupDimension } from './rollup-table.ts'
import { cleanText } from './text.ts'
import { type KeptUsage, selectUsageOf } from './usage-columns.ts'
import {
  type UsageFilter,
  type UsagePlace,
  type UsagePredicate,
  usageConditions,
} from './usage-filter.ts'

/** A condition on an account's requests for which there are totals. */
interface Rare {
  readonly account: string
  readonly dimension: RollupDimension
  readonly value: string
  /** The same condition as a filter. */
  readonly predicate: UsagePredicate
}

/** Null unless the filter consists of one condition for which there are totals, with account and time. */
export function rareOf(filter: UsageFilter): Rare | null {
  const { account, key, model, statusClass, since, until, before, limit, ...others } = filter
  const asked: readonly (readonly [RollupDimension, string | undefined])[] = [
    ['key', key],
    ['model', model],
    ['statusClass', statusClass === undefined ? undefined : `${statusClass}xx`],
  ]
  const [[dimension, value] = [], ...more] = asked.filter(([, each]) => each !== undefined)
  if (account === undefined || dimension === undefined || value === undefined) return null
  const isKnown = facetFor(['account', dimension]) !== null
  const isAll = more.length === 0 && Object.values(others).every((each) => each === undefined)
  if (!isKnown || !isAll) return null
  const predicate = {
    account,
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
    ...(statusClass !== undefined && { statusClass }),
  }
  return { account, dimension, value, predicate }
}

/** Requests for unknown models are in the totals under the empty name, so those hours are searched as well. */
const selectHours = `SELECT hour, sum(CASE WHEN value = ? THEN requests ELSE 0 END) AS requests
  FROM usage_facet JOIN usage_hour ON facet = id
  WHERE dimension = ? AND account = ? AND value IN (?, '') AND hour >= ? AND hour < ?
  GROUP BY hour ORDER BY hour DESC LIMIT ?`

const eachHour = {
  sqlite: `(SELECT value ->> 0 AS since, value ->> 1 AS until FROM json_each(?)) AS hour
    CROSS JOIN usage INDEXED BY usage_account_time ON`,
  postgres: `json_array_elements(CAST(? AS json)) AS listed (times)
    CROSS JOIN LATERAL (SELECT CAST(times ->> 0 AS bigint) AS since, CAST(times ->> 1 AS bigint) AS until) AS hour
    CROSS JOIN LATERAL (SELECT * FROM usage WHERE`,
}

interface Found {
  readonly kept: readonly KeptUsage[]
  /** Where older rows continue; null if there are none. */
  readonly next: UsagePlace | null
}

/** Rows of requests that began before `folded`, at most `limit`, in no particular order. */
export async function rowsInHours(
  session: Session,
  filter: UsageFilter,
  { rare, folded }: { readonly rare: Rare; readonly folded: number },
): Promise<Found> {
  const { since = 0, until = folded, before, limit } = filter
  const end = Math.min(until, folded, (before?.at ?? folded) + 1)
  const value = cleanText(rare.value)
  const first = Math.floor(since / hourMs) * hourMs
  const hours = await session.query<{ readonly hour: number; readonly requests: number }>(
    selectHours,
    [value, rare.dimension, cleanText(rare.account), value, first, end, limit],
  )
  const wanted: number[] = []
  let requests = 0
  for (const each of hours) {
    wanted.push(each.hour)
    requests += Number(each.requests)
    // Rows of the newest hour may be newer than the place where the list continues.
    if (requests >= limit && wanted.length > 1) break
  }
  const isEnd = wanted.length === hours.length && hours.length < limit
  const last = wanted.at(-1)
  const next = isEnd || last === undefined ? null : { at: last, requestId: belowAll }
  const times = wanted.map((hour) => [Math.max(hour, since), Math.min(hour + hourMs, end)])
  return {
    kept: await rowsOf(session, { ...rare.predicate, ...(before && { before }), limit }, times),
    next,
  }
}

/** Sorts before every id. */
const belowAll = ' '

/** Takes no other bound on the time, because SQLite might choose an index by it. */
async function rowsOf(
  session: Session,
  { before, ...filter }: UsageFilter,
  times: readonly (readonly number[])[],
): Promise<KeptUsage[]> {
  const { found, seen } = usageConditions(filter)
  // For the first page nothing is excluded, as no request began at -1.
  const place = before ?? { at: -1, requestId: '' }
  const within = `${found.sql} AND at >= hour.since AND at < hour.until
    AND NOT (at = ? AND request_id >= ?) AND ${seen.sql}`
  const values: Value[] = [JSON.stringify(times), ...found.values, place.at]
  const close = session.kind === 'sqlite' ? '' : ' OFFSET 0) AS usage'
  return session.query<KeptUsage>(
    `${selectUsageOf(`${eachHour[session.kind]} ${within}${close}`)}
      ORDER BY at DESC, request_id DESC LIMIT ?`,
    [...values, cleanText(place.requestId), ...seen.values, filter.limit],
  )
}
