// The interface of limits on requests and tokens per minute and on requests at once, for keys, groups and channels.

import type { LimitSettings } from '../config/types.ts'

export interface LimitScope {
  /** `key:ID`, `group:ID` or `channel:ID`. */
  readonly id: string
  readonly limits: LimitSettings
}

/** The state of the tightest scope, for the `x-ratelimit-*` headers; a gauge is null where nothing limits it. */
export interface LimitState {
  readonly requests: LimitGauge | null
  readonly tokens: LimitGauge | null
}

export interface LimitGauge {
  readonly limit: number
  readonly remaining: number
  readonly resetMs: number
}

export interface Admitted {
  readonly admitted: true
  readonly state: LimitState
  /**
   * Called once, when the request has ended (a second call does nothing): frees its place and corrects the tokens taken
   * to those used. Use above the estimate may leave a debt, which drains from its own moment on and not from admission:
   * so the time is needed.
   */
  finish(tokens: number, nowMs: number): void
}

export interface Refused {
  readonly admitted: false
  readonly state: LimitState
  /** The scope with the longest wait. */
  readonly scope: string
  readonly kind: 'requests' | 'tokens' | 'concurrent'
  readonly retryAfterMs: number
}

export interface Limiter {
  /**
   * `tokens` is the estimate taken now and corrected by `finish`; one above a scope's whole limit is admitted only when
   * the scope is idle, and takes all of it. Nothing is taken unless every scope admits. Synchronous while limits are
   * local; never rejects. `nowMs` is `performance.now()`, here and below: with the wall clock, one set back by a day
   * would leave limits full for a day.
   */
  admit(
    scopes: readonly LimitScope[],
    tokens: number,
    nowMs: number,
  ): Admitted | Refused | Promise<Admitted | Refused>
  /** The present use, without taking any. Synchronous while limits are local; never rejects. */
  state(scope: LimitScope, nowMs: number): LimitState | Promise<LimitState>
  close(): Promise<void>
}
