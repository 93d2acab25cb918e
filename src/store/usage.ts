// Reading the usage rows; settling writes them.

import type { Engine, Value } from './engine.ts'
import type { UsageFilter, UsageTable } from './store.ts'
import { cleanText } from './text.ts'
import { type KeptUsage, selectUsage, usageRowOf } from './usage-columns.ts'

export function usageTable(engine: Engine): UsageTable {
  return {
    async list(filter) {
      const { where, values } = usageConditions(filter)
      const kept = await engine.query<KeptUsage>(
        `${selectUsage}${where} ORDER BY at DESC, request_id DESC LIMIT ?`,
        [...values, filter.limit],
      )
      return kept.map(usageRowOf)
    },
    async find(account, requestId) {
      const [kept] = await engine.query<KeptUsage>(
        `${selectUsage} WHERE request_id = ? AND account = ?`,
        [cleanText(requestId), cleanText(account)],
      )
      return kept === undefined ? null : usageRowOf(kept)
    },
  }
}

function usageConditions(filter: UsageFilter): { where: string; values: Value[] } {
  const conditions: string[] = []
  const values: Value[] = []
  const add = (condition: string, ...bound: Value[]) => {
    conditions.push(condition)
    values.push(...bound)
  }
  if (filter.account !== undefined) add('account = ?', cleanText(filter.account))
  if (filter.key !== undefined) add('key_id = ?', cleanText(filter.key))
  if (filter.model !== undefined) add('model_asked = ?', cleanText(filter.model))
  if (filter.status !== undefined) add('status = ?', filter.status)
  if (filter.since !== undefined) add('at >= ?', filter.since)
  if (filter.until !== undefined) add('at < ?', filter.until)
  if (filter.before !== undefined) {
    // The first condition is implied by the second, and is the one an index on `at` can use.
    const { at, requestId } = filter.before
    add('at <= ? AND (at, request_id) < (?, ?)', at, at, cleanText(requestId))
  }
  return { where: conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`, values }
}
