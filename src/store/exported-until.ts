// Determines which usage rows must not be deleted yet, because a data warehouse has not received them.

import type { Session } from './engine.ts'
import { nowMs } from './leases.ts'

/** For an export further behind than this, ages are not computed, and every row is kept. */
const mostBatches = 100_000
const forEver = '9223372036854775807'

/**
 * SQL for a moment: all rows of requests that began before it are exported to every active warehouse. A statement sees
 * a row and its batch together, so it deletes no row that has just been settled.
 */
export function exportedUntil({ kind }: Pick<Session, 'kind'>): string {
  return `coalesce((SELECT min(CASE
      WHEN scanning = 1 OR (SELECT max(number) FROM settlement_log) > usage_export.number + ${mostBatches} THEN 0
      ELSE (SELECT min(first_at) FROM settlement_log WHERE settlement_log.number > usage_export.number)
    END) FROM usage_export WHERE held_until > ${nowMs[kind]}), ${forEver})`
}
