// The attempts of one request in their order, as a waterfall shows them.

import type { AfterFailure, UsageRow } from '../store/usage-row.ts'

/** Milliseconds; absent where it was not kept. */
interface OwnAttempt {
  readonly outcome: 'answered' | 'failed'
  /** After the request's arrival. */
  readonly startMs?: number
  /** From its start until the first byte of a reply, of the last one until its first words. */
  readonly firstByteMs?: number
  readonly durationMs?: number
  /** Why the next one was made, or none. */
  readonly then?: AfterFailure
}

interface AttemptDetails extends OwnAttempt {
  readonly channel: string | null
  /** The kind of its fault. */
  readonly kind?: string
  readonly status?: number
  readonly connectMs?: number
  readonly vendorRequestId?: string
  /** What it is taken to have cost at the vendor. */
  readonly costNano: string
}

export function attemptsOf(row: UsageRow): readonly AttemptDetails[] {
  const failed = (row.failedAttempts ?? []).map(
    (each): AttemptDetails => ({ outcome: 'failed', ...each }),
  )
  return row.attempts > failed.length ? [...failed, lastOf(row)] : failed
}

/** For the account's owner: without who was asked, and what that cost. */
export function ownAttemptsOf(row: UsageRow): readonly OwnAttempt[] {
  return attemptsOf(row).map(({ outcome, startMs, firstByteMs, durationMs, then }) => ({
    outcome,
    ...(startMs !== undefined && { startMs }),
    ...(firstByteMs !== undefined && { firstByteMs }),
    ...(durationMs !== undefined && { durationMs }),
    ...(then !== undefined && { then }),
  }))
}

/** The one that answered, or whose stream broke: it began as the one before had failed, and lasted to the end. */
function lastOf(row: UsageRow): AttemptDetails {
  const { failedAttempts, channel, vendorCostNano, vendorRequestId, ttftMs, durationMs } = row
  const before = failedAttempts?.at(-1)
  const startMs = (before?.startMs ?? 0) + (before?.durationMs ?? 0)
  let costNano = vendorCostNano
  for (const failed of failedAttempts ?? []) costNano -= BigInt(failed.costNano)
  return {
    outcome: row.errorCode === null ? 'answered' : 'failed',
    channel,
    costNano: String(costNano),
    startMs,
    durationMs: Math.max(0, durationMs - startMs),
    ...(ttftMs !== null && { firstByteMs: Math.max(0, ttftMs - startMs) }),
    ...(vendorRequestId !== null && { vendorRequestId }),
  }
}
