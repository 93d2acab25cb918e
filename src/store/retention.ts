// Retention of usage rows: the moment from which on all of them are stored, and the removal of older ones.

import type { Engine, Session } from './engine.ts'
import { exportedUntil } from './exported-until.ts'
import { databaseMs } from './leases.ts'
import { quarterOf } from './rollup-table.ts'
import { amongIds, type KeptUsage, selectUsage, usageRowOf } from './usage-columns.ts'
import type { UsagePlace } from './usage-filter.ts'
import type { UsageRow } from './usage-row.ts'

export interface RetentionTable {
  /** The database's clock, Unix milliseconds. */
  databaseMs(): Promise<number>
  /**
   * Removes the oldest rows of requests that began before this moment (Unix milliseconds), at most `limit`; their
   * totals and journal entries remain, and so do rows that a data warehouse has not received yet. Returns how many it
   * removed.
   */
  prune(before: number, limit: number): Promise<number>
  /** Like `prune`, for requests that were refused before a vendor was asked, and cost nothing. */
  pruneRefusals(before: number, limit: number): Promise<number>
  /** Rows that `prune` might remove, oldest first, after a place; at most `limit`. */
  oldest(before: number, after: UsagePlace | null, limit: number): Promise<UsageRow[]>
  /** Like `prune`, for these rows only. */
  remove(before: number, requestIds: readonly string[]): Promise<number>
  /** Whether a data warehouse has not received all rows from before this moment, so that some of them stay. */
  isHeld(before: number): Promise<boolean>
  /** Whether any row of a request that began in this time is stored. */
  isAny(since: number, until: number): Promise<boolean>
}

const advance = 'UPDATE usage_kept SET since = ? WHERE since < ?'

const advanceRefusals = 'UPDATE usage_kept SET refusals_since = ? WHERE refusals_since < ?'

/** Worded exactly like the partial index, which would not be used otherwise. */
const removeRefusals = (session: Session) => `DELETE FROM usage WHERE request_id IN (
  SELECT request_id FROM usage WHERE channel IS NULL AND attempts = 0 AND status >= 400
    AND charge_nano = 0 AND writeoff_nano = 0 AND at < ? AND at < ${exportedUntil(session)} ORDER BY at LIMIT ?)`

const remove = (session: Session) => `DELETE FROM usage WHERE request_id IN (
  SELECT request_id FROM usage WHERE at < ? AND at < ${exportedUntil(session)} ORDER BY at LIMIT ?)`

export function retentionTable(engine: Engine): RetentionTable {
  return {
    databaseMs: () => databaseMs(engine),
    async prune(before, limit) {
      const since = await advanceTo(engine, before)
      return engine.run(remove(engine), [since, limit])
    },
    async pruneRefusals(before, limit) {
      const since = quarterOf(before)
      const { refusalsSince } = await keptOf(engine)
      if (refusalsSince < since) await engine.run(advanceRefusals, [since, since])
      return engine.run(removeRefusals(engine), [since, limit])
    },
    async oldest(before, after, limit) {
      const behind = after === null ? '' : ' AND at >= ? AND (at, request_id) > (?, ?)'
      const from = after === null ? [] : [after.at, after.at, after.requestId]
      const sql = `${selectUsage} WHERE at < ? AND at < ${exportedUntil(engine)}${behind}
        ORDER BY at, request_id LIMIT ?`
      const kept = await engine.query<KeptUsage>(sql, [before, ...from, limit])
      return kept.map(usageRowOf)
    },
    async remove(before, requestIds) {
      const since = await advanceTo(engine, before)
      const sql = `DELETE FROM usage WHERE ${amongIds[engine.kind]} AND at < ?
        AND at < ${exportedUntil(engine)}`
      return engine.run(sql, [JSON.stringify(requestIds), since])
    },
    async isHeld(before) {
      const sql = `SELECT 1 FROM usage_kept WHERE ${exportedUntil(engine)} < ?`
      return (await engine.query(sql, [before])).length > 0
    },
    async isAny(since, until) {
      const sql = 'SELECT 1 FROM usage WHERE at >= ? AND at < ? LIMIT 1'
      return (await engine.query(sql, [since, until])).length > 0
    },
  }
}

/** Rounded to quarter-hours, so that the rows of each total are either all stored, or may all be gone. */
async function advanceTo(engine: Engine, before: number): Promise<number> {
  const since = quarterOf(before)
  if ((await keptOf(engine)).since < since) await engine.run(advance, [since, since])
  return since
}

/** Unix milliseconds; 0 if none was ever removed. */
export interface Kept {
  /** Rows of requests from before this moment may be gone. */
  readonly since: number
  /** Rows of refused requests from before this moment may be gone, if it is later than `since`. */
  readonly refusalsSince: number
}

export async function keptOf(session: Session): Promise<Kept> {
  const sql = 'SELECT since, refusals_since AS "refusalsSince" FROM usage_kept'
  const [kept] = await session.query<Kept>(sql, [])
  if (kept === undefined) throw new Error('The table usage_kept has lost its row.')
  return kept
}
