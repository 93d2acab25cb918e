// Reads usage rows, which settling writes.

import type { Engine, Session } from './engine.ts'
import { foldedUntil } from './rollup-facets.ts'
import { newestBatch, readBatches } from './settlement-log.ts'
import type { SettledRows, UsagePage, UsageTable } from './store.ts'
import { cleanText } from './text.ts'
import { amongIds, type KeptUsage, selectUsage, usageRowOf } from './usage-columns.ts'
import {
  type SettledPlace,
  type UsageFilter,
  type UsagePlace,
  type UsagePredicate,
  usageConditions,
} from './usage-filter.ts'
import { rareOf, rowsInHours } from './usage-hours.ts'
import { recentUsage, refusedUsage } from './usage-recent.ts'
import type { UsageRow } from './usage-row.ts'

/** If no index answers a filter, a page searches at most this many rows. */
const scannedRows = 50_000

export function usageTable(engine: Engine): UsageTable {
  return {
    list: (filter) => list(engine, filter),
    page: (filter) => engine.snapshot((session) => page(session, filter)),
    async find(account, requestId) {
      const whose = account === null ? '' : ' AND account = ?'
      const [kept] = await engine.query<KeptUsage>(
        `${selectUsage} WHERE request_id = ?${whose}`,
        [requestId, ...(account === null ? [] : [account])].map(cleanText),
      )
      return kept === undefined ? null : usageRowOf(kept)
    },
    newest: () => newestBatch(engine),
    recent: (since) => recentUsage(engine, since),
    refused: (since) => refusedUsage(engine, since),
    settledAfter: (place, predicate, most) => settledAfter(engine, place, predicate, most),
  }
}

const newestFirst = 'ORDER BY at DESC, request_id DESC LIMIT ?'

async function list(session: Session, filter: UsageFilter): Promise<UsageRow[]> {
  const { found, seen } = usageConditions(filter)
  const kept = await session.query<KeptUsage>(
    `${selectUsage}${where(found.sql, seen.sql)} ${newestFirst}`,
    [...found.values, ...seen.values, filter.limit],
  )
  return kept.map(usageRowOf)
}

/** Searches at most `scannedRows` rows without an index; `next` may be where the search stopped. */
async function page(session: Session, filter: UsageFilter): Promise<UsagePage> {
  const { limit } = filter
  if (usageConditions(filter).seen.sql === '') {
    const rows = await list(session, { ...filter, limit: limit + 1 })
    return { rows: rows.slice(0, limit), next: nextAfter(rows, limit) }
  }
  const rare = rareOf(filter)
  const folded = rare === null ? 0 : await foldedUntil(session)
  if (rare === null || folded <= (filter.since ?? 0)) return scannedPage(session, filter)
  const recent = await scannedPage(session, { ...filter, since: folded })
  if (recent.next !== null) return recent
  const left = { ...filter, limit: limit + 1 - recent.rows.length }
  const { kept, next } = await rowsInHours(session, left, { rare, folded })
  const rows = [...recent.rows, ...kept.map(usageRowOf)].sort(byNewest)
  return { rows: rows.slice(0, limit), next: nextAfter(rows, limit) ?? next }
}

async function scannedPage(session: Session, filter: UsageFilter): Promise<UsagePage> {
  const { limit } = filter
  const { found, seen } = usageConditions(filter)
  // Answered by the index alone.
  const [scanned] = await session.query<{ readonly at: number | null; readonly rows: number }>(
    `SELECT min(at) AS at, count(*) AS rows
      FROM (SELECT at FROM usage${where(found.sql)} ORDER BY at DESC LIMIT ?) AS scanned`,
    [...found.values, scannedRows],
  )
  const { at, rows: seenRows } = scanned ?? { at: null, rows: 0 }
  if (at === null) return { rows: [], next: null }
  const kept = await session.query<KeptUsage>(
    `${selectUsage}${where(found.sql, 'at >= ?', seen.sql)} ${newestFirst}`,
    [...found.values, at, ...seen.values, limit + 1],
  )
  const rows = kept.map(usageRowOf)
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: nextAfter(rows, limit) }
  if (Number(seenRows) < scannedRows) return { rows, next: null }
  const [last] = await session.query<{ readonly requestId: string }>(
    `SELECT min(request_id) AS "requestId" FROM usage${where(found.sql, 'at = ?')}`,
    [...found.values, at],
  )
  return { rows, next: last === undefined ? null : { at, requestId: last.requestId } }
}

function nextAfter(rows: readonly UsageRow[], limit: number): UsagePlace | null {
  const last = rows[limit - 1]
  return rows.length > limit && last ? { at: last.at, requestId: last.requestId } : null
}

/** Sorts text by its bytes, as the engines do. */
function byNewest(one: UsageRow, other: UsageRow): number {
  if (one.at !== other.at) return other.at - one.at
  return Buffer.compare(Buffer.from(other.requestId), Buffer.from(one.requestId))
}

async function settledAfter(
  engine: Engine,
  after: SettledPlace,
  predicate: UsagePredicate,
  most = Number.POSITIVE_INFINITY,
): Promise<SettledRows> {
  const { ids: settled, place, missed } = await readBatches(engine, after)
  if (settled.length === 0) return { rows: [], place, missed }
  const { found, seen } = usageConditions(predicate)
  // If every row matches, rows that are left out by `most` need not be read.
  const ids = where(found.sql, seen.sql) === '' ? newest(settled, most) : settled
  const kept = await engine.query<KeptUsage>(
    `${selectUsage}${where(amongIds[engine.kind], found.sql, seen.sql)}`,
    [JSON.stringify(ids.map(({ id }) => id)), ...found.values, ...seen.values],
  )
  const byId = new Map(kept.map((each) => [each.requestId, usageRowOf(each)]))
  const rows = ids.flatMap(({ id, place }) => {
    const row = byId.get(id)
    return row === undefined ? [] : [{ place, row }]
  })
  const isCut = ids.length < settled.length || rows.length > most
  return { rows: newest(rows, most), place, missed: missed || isCut }
}

function newest<Item>(items: readonly Item[], most: number): readonly Item[] {
  return items.length > most ? items.slice(-most) : items
}

function where(...conditions: readonly string[]): string {
  const all = conditions.filter((each) => each !== '')
  return all.length === 0 ? '' : ` WHERE ${all.join(' AND ')}`
}
