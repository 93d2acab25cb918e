// Which channels may serve a request, in which order: the types of a pure plan over a snapshot.

import type { ChannelConfig, ParameterSettings } from '../config/types.ts'
import type { Fault, FaultKind } from '../errors.ts'
import type { VendorDialectId } from '../wire/formats.ts'

/** What the plan needs to know of a channel that serves a model. */
export interface Candidate {
  readonly channelId: string
  /** Where the channel has several keys, and this is not the first of them: what health and channels know it by. */
  readonly lane?: string
  /** The vendor's own name of the model. */
  readonly model: string
  /** Dialect to speak to the vendor. */
  readonly dialect: VendorDialectId
  /** The client's own dialect, relayed byte for byte. */
  readonly identity: boolean
  readonly priority: number
  readonly weight: number
  /** What the vendor asks of the price, in millionths; left out: all of it. */
  readonly costPpm?: number
  /** What its channel may be asked at most, with all of its keys. */
  readonly limits?: NonNullable<ChannelConfig['limits']>
  /** What its channel changes in requests. */
  readonly parameters?: ParameterSettings
}

/** What health and channels know it by. */
export function laneOf({ lane, channelId }: Pick<Candidate, 'lane' | 'channelId'>): string {
  return lane ?? channelId
}

/** What came of an attempt: `ok`, a fault, or nothing that tells of the channel. */
export type Outcome =
  | { readonly kind: 'ok' }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'none' }

/** Why a channel may not be tried now: an open breaker, a vendor's 429, no credit there, no valid key, all its places taken. */
export type Block = 'breaker' | 'rate_limited' | 'quota' | 'credentials' | 'busy'

/** Health of channels on this node; keyed by channel and the vendor's model. */
export interface Health {
  /** May be tried now. A half-open breaker lets its probes through one by one. */
  usable(channelId: string, model: string, nowMs: number): boolean
  /** Why it may not be tried now; null when it is usable. */
  blocked(channelId: string, model: string, nowMs: number): Block | null
  /** Whether the channel's budget allows an attempt that repeats a failed one: 20 % of those in flight, 3 at least. */
  mayRetry(channelId: string): boolean
  /** Marks an attempt as begun (half-open probes, retry budget); `retry` when it follows a failed one. */
  begin(channelId: string, model: string, nowMs: number, retry?: boolean): void
  /** Ends an attempt: exactly one for each `begin`, with the same `retry`. */
  report(channelId: string, model: string, outcome: Outcome, nowMs: number, retry?: boolean): void
  /** Milliseconds until the channel may be tried again; 0 when it may be now. */
  waitMs(channelId: string, model: string, nowMs: number): number
  /** For metrics: 0 ok, 1 degraded, 2 open or cooling, 3 disabled. */
  state(channelId: string, nowMs: number): 0 | 1 | 2 | 3
}

/** Why a channel is not wholly well, and since when. */
export interface Trouble {
  /** What keeps some model of it from being asked; `failing`: nothing does, but attempts failed lately. */
  readonly reason: Block | 'failing'
  /** Of the last fault. */
  readonly fault: FaultKind
  /** On the monotonic clock: of the first fault after it was well. */
  readonly sinceMs: number
}

/** For operators. */
export interface HealthReport {
  /** null: it is well, as `Health.state` has it. */
  trouble(channelId: string, nowMs: number): Trouble | null
  /** Attempts under way. */
  inFlight(channelId: string): number
}

/** How a channel is doing, as operators are told. */
export interface Condition {
  /** As of `Health.state`. */
  readonly state: 0 | 1 | 2 | 3
  readonly reason: Trouble['reason'] | null
  /** Since when there is a reason. */
  readonly sinceMs: number | null
  readonly inFlight: number
}

/** What is not asked for each request. */
export interface HealthControl {
  /** For a channel whose address or key was changed: what is known of it no longer holds. */
  reset(channelId: string): void
  /** Most attempts under way at once; a channel that is not named takes any number. */
  limit(most: ReadonlyMap<string, number>): void
}

export interface Plan {
  /** In the order to be tried; empty when nothing may serve. */
  readonly attempts: readonly Candidate[]
  /** Where there are candidates and none may be tried. */
  readonly blocked: Blocked | null
}

export interface Blocked {
  /** `rate_limited`: every vendor answered 429. `operator`: none has credit or a valid key. `failing`: anything else. */
  readonly why: 'rate_limited' | 'operator' | 'failing'
  /** How long until the first may be tried again. */
  readonly retryAfterMs: number
}
