// What a key or a group may ask for in a minute, and at once.

import type { LimitSettings } from '../config/types.ts'

export interface LimitScope {
  /** `key:ID` or `group:ID`. */
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
  /** To be called exactly once, when the request has ended: frees its place and corrects the tokens taken. */
  finish(tokens: number): void
}

export interface Refused {
  readonly admitted: false
  readonly state: LimitState
  readonly scope: string
  readonly kind: 'requests' | 'tokens' | 'concurrent'
  readonly retryAfterMs: number
}

export interface Limiter {
  /** `tokens` is the estimate taken now and corrected by `finish`. Synchronous while limits are local. */
  admit(
    scopes: readonly LimitScope[],
    tokens: number,
    nowMs: number,
  ): Admitted | Refused | Promise<Admitted | Refused>
  close(): Promise<void>
}
