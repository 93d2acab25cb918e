// What must stay since a warehouse has still to take it.

import type { Session } from './engine.ts'
import { nowMs } from './leases.ts'

/** Further behind, how old what waits may be is not looked at: everything stays. */
const mostBatches = 100_000
const forEver = '9223372036854775807'

/**
 * In SQL: rows of requests that began before this moment were taken by every warehouse that takes rows at all. One
 * statement sees a row and its batch together, and so removes none that has just been settled.
 */
export function exportedUntil({ kind }: Pick<Session, 'kind'>): string {
  return `coalesce((SELECT min(CASE
      WHEN scanning = 1 OR (SELECT max(number) FROM settlement_log) > usage_export.number + ${mostBatches} THEN 0
      ELSE (SELECT min(first_at) FROM settlement_log WHERE settlement_log.number > usage_export.number)
    END) FROM usage_export WHERE held_until > ${nowMs[kind]}), ${forEver})`
}
