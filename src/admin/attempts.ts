// The attempts of one request in order, for a waterfall view.

import type { AfterFailure, UsageRow } from '../store/usage-row.ts'

/** Times in milliseconds; absent where they were not recorded. */
interface OwnAttempt {
  readonly outcome: 'answered' | 'failed'
  /** Since the request arrived. */
  readonly startMs?: number
  /** From the attempt's start to the first byte of its reply; for the last attempt, to the first words. */
  readonly firstByteMs?: number
  readonly durationMs?: number
  /** What followed the failure: the reason for another attempt, or for none. */
  readonly then?: AfterFailure
}

interface AttemptDetails extends OwnAttempt {
  readonly channel: string | null
  /** The kind of the fault. */
  readonly kind?: string
  readonly status?: number
  readonly connectMs?: number
  readonly vendorRequestId?: string
  /** The estimated cost at the vendor. */
  readonly costNano: string
}

export function attemptsOf(row: UsageRow): readonly AttemptDetails[] {
  const failed = (row.failedAttempts ?? []).map(
    (each): AttemptDetails => ({ outcome: 'failed', ...each }),
  )
  return row.attempts > failed.length ? [...failed, lastOf(row)] : failed
}

/** For the account's owner: without the channels and their costs. */
export function ownAttemptsOf(row: UsageRow): readonly OwnAttempt[] {
  return attemptsOf(row).map(({ outcome, startMs, firstByteMs, durationMs, then }) => ({
    outcome,
    ...(startMs !== undefined && { startMs }),
    ...(firstByteMs !== undefined && { firstByteMs }),
    ...(durationMs !== undefined && { durationMs }),
    ...(then !== undefined && { then }),
  }))
}

/** The attempt that answered, or whose stream broke: it began when the one before failed, and lasted to the end. */
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
