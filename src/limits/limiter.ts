// What a key or a group may ask for in a minute, and at once; and what a channel may be asked for.

import type { LimitSettings } from '../config/types.ts'

export interface LimitScope {
  /** `key:ID`, `group:ID` or `channel:ID`. */
  readonly id: string
  readonly limits: LimitSettings
}

/** The state of the tightest scope, for the `x-ratelimit-*` headers; a pair is null where nothing limits it. */
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
   * To be called once, when the request has ended (a second call does nothing): frees its place and
   * corrects the tokens taken to those used. What was used above the estimate may leave a debt. The
   * time is needed because a debt is due from its own moment on, not from admission.
   */
  finish(tokens: number, nowMs: number): void
}

export interface Refused {
  readonly admitted: false
  readonly state: LimitState
  /** The scope that stands in the way the longest. */
  readonly scope: string
  readonly kind: 'requests' | 'tokens' | 'concurrent'
  readonly retryAfterMs: number
}

export interface Limiter {
  /**
   * `tokens` is the estimate taken now and corrected by `finish`; one above a scope's whole limit is
   * admitted against a full allowance only, and takes it all. Nothing is taken unless every scope
   * admits. Synchronous while limits are local; never rejects. `nowMs` is `performance.now()`, here and below: by the
   * wall clock, one that was a day ahead would leave limits full for a day once it is set right.
   */
  admit(
    scopes: readonly LimitScope[],
    tokens: number,
    nowMs: number,
  ): Admitted | Refused | Promise<Admitted | Refused>
  /** What is in use now, without taking any. Synchronous while limits are local; never rejects. */
  state(scope: LimitScope, nowMs: number): LimitState | Promise<LimitState>
  close(): Promise<void>
}
