// The record of one finished request, as it is kept.

import type { Nano } from '../money.ts'

/** One finished request. Append-only; `requestId` is the primary key, a second append of it does nothing. */
export interface UsageRow {
  readonly requestId: string
  /** When the request began, Unix milliseconds. */
  readonly at: number
  readonly account: string
  readonly key: string
  readonly keyName: string
  readonly group: string
  readonly operation: string
  readonly modelAsked: string
  /** The vendor's own name of the model that answered, null when none did. */
  readonly modelServed: string | null
  readonly channel: string | null
  readonly vendor: string | null
  readonly attempts: number
  readonly stream: boolean
  readonly input: number
  readonly cachedInput: number
  readonly cacheWrite: number
  readonly output: number
  readonly reasoning: number
  /** Kinds few requests have. */
  readonly cacheWrite1h: number
  readonly audioInput: number
  readonly audioOutput: number
  readonly imageInput: number
  readonly imageOutput: number
  /** What is not tokens, by price name: `{"image/1024x1024":2}`, `{"second":12.5}`; null where there is none. */
  readonly units: Readonly<Record<string, number>> | null
  /** Who said so: the vendor, the vendor after the client had left, or the gateway by counting. */
  readonly usageSource: 'reported' | 'drained' | 'counted' | 'none'
  /** The card the request was admitted under; null where it never was. */
  readonly priceVersion: number | null
  /** The group's multiplier at admission, in millionths; 0 where a policy made the request free. */
  readonly multiplierPpm: number
  /** What the wallet paid; with `writeoffNano` it is the formula's result, to the nano. */
  readonly chargeNano: Nano
  readonly writeoffNano: Nano
  /** What all attempts cost at the vendors, at the model's own prices without the multiplier. */
  readonly vendorCostNano: Nano
  /** Until the first byte of content; null when there was none. */
  readonly ttftMs: number | null
  readonly durationMs: number
  /** HTTP status the client got; 499 when it left first. */
  readonly status: number
  readonly errorCode: string | null
  /** The finer cause of a failure, for operators. */
  readonly errorCause: string | null
  /** Where the request came from. */
  readonly clientAddress: string | null
  /** What the client calls it; says nothing of what it is here. */
  readonly clientRequestId: string | null
  /** The trace it is part of (W3C Trace Context): 32 hex digits. */
  readonly traceId: string | null
  /** Attempts that delivered nothing, with what each is taken to have cost; null where there was none. */
  readonly failedAttempts: readonly FailedAttempt[] | null
}

export interface FailedAttempt {
  readonly channel: string
  /** The fault's kind. */
  readonly kind: string
  readonly costNano: string
}
