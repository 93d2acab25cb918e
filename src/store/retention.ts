// How long usage rows are kept: the moment from which on all of them are, and the removal of those from before.

import type { Engine, Session } from './engine.ts'
import { quarterOf } from './rollup-table.ts'

export interface RetentionTable {
  /**
   * Removes the oldest rows of requests that began before this moment (Unix milliseconds), at most `limit`; their
   * totals and their entries in the journal stay. Returns how many it removed.
   */
  prune(before: number, limit: number): Promise<number>
}

const advance = 'UPDATE usage_kept SET since = ? WHERE since < ?'

const remove = `DELETE FROM usage WHERE request_id IN (
  SELECT request_id FROM usage WHERE at < ? ORDER BY at LIMIT ?)`

export function retentionTable(engine: Engine): RetentionTable {
  return {
    async prune(before, limit) {
      // Whole quarters, so that the totals of each are of rows that are all there, or may all be gone.
      const since = quarterOf(before)
      if ((await keptSince(engine)) < since) await engine.run(advance, [since, since])
      return engine.run(remove, [since, limit])
    },
  }
}

/** Unix milliseconds; of requests from before it the rows may be gone. 0 where none was ever removed. */
export async function keptSince(session: Session): Promise<number> {
  const sql = 'SELECT since FROM usage_kept'
  const [kept] = await session.query<{ readonly since: number }>(sql, [])
  if (kept === undefined) throw new Error('The table usage_kept has lost its row.')
  return kept.since
}
