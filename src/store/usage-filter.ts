// Selects usage rows by one predicate for lists, exports and the live tail.

import type { Value } from './engine.ts'
import { cleanText } from './text.ts'

/** `ok`: answered in full; `failed`: any error; `interrupted`: failed after a status below 400 was sent. */
type UsageOutcome = 'ok' | 'failed' | 'interrupted'

/** A row matches if all given members match. */
export interface UsagePredicate {
  readonly requestId?: string
  readonly account?: string
  readonly key?: string
  /** The model asked for. */
  readonly model?: string
  readonly modelServed?: string
  readonly group?: string
  readonly operation?: string
  readonly channel?: string
  readonly client?: string
  readonly vendorRequestId?: string
  readonly tag?: string
  readonly errorCode?: string
  readonly stream?: boolean
  /** The HTTP status the client got. */
  readonly status?: number
  /** The status's first digit. */
  readonly statusClass?: number
  readonly outcome?: UsageOutcome
  readonly leastChargeNano?: bigint
  readonly leastDurationMs?: number
  /** Unix milliseconds: since <= at < until. */
  readonly since?: number
  readonly until?: number
}

/** A request's place in the order of settlement: its batch, and its index in the batch. */
export interface SettledPlace {
  readonly number: number
  readonly index: number
}

/** Where a list continues: with rows older than this one. */
export interface UsagePlace {
  readonly at: number
  readonly requestId: string
}

export interface UsageFilter extends UsagePredicate {
  readonly before?: UsagePlace
  /** The most rows, newest first. */
  readonly limit: number
}

/** Conditions joined by `AND`; empty: every row. */
interface Conditions {
  readonly sql: string
  readonly values: readonly Value[]
}

/** `found`: conditions that indexes answer. `seen`: conditions checked on each row that they find. */
interface UsageConditions {
  readonly found: Conditions
  readonly seen: Conditions
}

type Condition = readonly [sql: string, ...values: Value[]]

export function usageConditions(
  filter: UsagePredicate & { readonly before?: UsagePlace },
): UsageConditions {
  return { found: joined(foundBy(filter)), seen: joined(seenBy(filter)) }
}

function foundBy({
  requestId,
  account,
  since,
  until,
  before,
}: UsagePredicate & { readonly before?: UsagePlace }): Condition[] {
  const conditions: Condition[] = []
  if (requestId !== undefined) conditions.push(['request_id = ?', cleanText(requestId)])
  if (account !== undefined) conditions.push(['account = ?', cleanText(account)])
  if (since !== undefined) conditions.push(['at >= ?', since])
  if (until !== undefined) conditions.push(['at < ?', until])
  if (before !== undefined) {
    // The first condition is implied by the second, and is the one an index on `at` can use.
    const { at, requestId: id } = before
    conditions.push(['at <= ? AND (at, request_id) < (?, ?)', at, at, cleanText(id)])
  }
  return conditions
}

const texts = {
  key: 'key_id',
  model: 'model_asked',
  modelServed: 'model_served',
  group: 'group_id',
  operation: 'operation',
  channel: 'channel',
  client: 'client',
  vendorRequestId: 'vendor_request_id',
  tag: 'tag',
  errorCode: 'error_code',
} as const

/** As the totals count errors. */
const outcomes: Readonly<Record<UsageOutcome, string>> = {
  ok: 'status < 400 AND error_code IS NULL',
  failed: '(status >= 400 OR error_code IS NOT NULL)',
  interrupted: 'status < 400 AND error_code IS NOT NULL',
}

function seenBy(predicate: UsagePredicate): Condition[] {
  const { stream, status, statusClass, outcome, leastChargeNano, leastDurationMs } = predicate
  const conditions: Condition[] = []
  for (const [field, column] of Object.entries(texts)) {
    const value = predicate[field as keyof typeof texts]
    if (value !== undefined) conditions.push([`${column} = ?`, cleanText(value)])
  }
  if (stream !== undefined) conditions.push(['stream = ?', stream ? 1 : 0])
  if (status !== undefined) conditions.push(['status = ?', status])
  if (statusClass !== undefined) {
    conditions.push(['status >= ? AND status < ?', statusClass * 100, (statusClass + 1) * 100])
  }
  if (outcome !== undefined) conditions.push([outcomes[outcome]])
  if (leastChargeNano !== undefined) conditions.push(['charge_nano >= ?', leastChargeNano])
  if (leastDurationMs !== undefined) conditions.push(['duration_ms >= ?', leastDurationMs])
  return conditions
}

function joined(conditions: readonly Condition[]): Conditions {
  return {
    sql: conditions.map(([sql]) => sql).join(' AND '),
    values: conditions.flatMap(([, ...values]) => values),
  }
}
