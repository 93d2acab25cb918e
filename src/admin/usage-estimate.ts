// Estimates the number of requests in a list from the quarter-hourly totals, without counting rows.

import type { RollupDimension, RollupFilter } from '../store/rollup-table.ts'
import type { Input } from './schema.ts'
import type { Owned } from './usage.ts'
import type { AdminContext } from './use-case.ts'

interface Estimate {
  readonly requests: number
  /** `at_most`: the filter has fields that the totals do not distinguish. */
  readonly bound: 'about' | 'at_most'
}

const quarterMs = 900_000

/** Counts whole quarters of an hour. null where a single request is asked for. */
export async function estimateUsage(
  { store, nowMs }: AdminContext,
  input: Input<'listUsage'> & Owned,
): Promise<Estimate | null> {
  const { id, owner, account, key, model, group, operation, channel, tag, outcome } = input
  // A status below 400 of a request that failed.
  const statusClass = outcome === 'interrupted' ? 2 : input.statusClass
  if (id !== undefined) return null
  const wanted: readonly (readonly [RollupDimension, string | undefined])[] = [
    ['account', owner ?? account],
    ['key', key],
    ['model', model],
    ['group', group],
    ['operation', operation],
    ['channel', channel],
    ['statusClass', statusClass === undefined ? undefined : `${statusClass}xx`],
    ['tag', tag],
  ]
  const filter = Object.fromEntries(
    wanted.flatMap(([name, value]) => (value === undefined ? [] : [[name, [value]]])),
  ) as RollupFilter
  const { since = 0, until = nowMs + 1 } = input
  const [row] = await store.rollups.read({
    cuts: [Math.floor(since / quarterMs) * quarterMs],
    until,
    filter,
    by: [],
    sums: ['requests', 'errors'],
    limit: 1,
  })
  const [requests, errors] = [Number(row?.sums[0] ?? 0n), Number(row?.sums[1] ?? 0n)]
  const all = { ok: requests - errors, failed: errors, interrupted: errors }
  return {
    requests: outcome === undefined ? requests : all[outcome],
    bound: isCounted(input) ? 'about' : 'at_most',
  }
}

/** Whether the totals distinguish all fields of the filter. */
function isCounted(input: Input<'listUsage'>): boolean {
  const { modelServed, client, vendorRequestId, errorCode, stream, status } = input
  const { minCost, minLatencyMs } = input
  const others = [modelServed, client, vendorRequestId, errorCode, stream, status]
  return [...others, minCost, minLatencyMs].every((each) => each === undefined)
}
