// Types of routing: the candidates for a request, the health of channels, and the plan of attempts.

import type { ChannelConfig, ParameterSettings } from '../config/types.ts'
import type { Fault, FaultKind } from '../errors.ts'
import type { VendorDialectId } from '../wire/formats.ts'

/** A channel that serves a model, as the plan needs it. */
export interface Candidate {
  readonly channelId: string
  /** The lane's id, for every key but the first of a channel with several; health and channels are keyed by it. */
  readonly lane?: string
  /** The vendor's own name of the model. */
  readonly model: string
  /** The most tokens that the model can write; absent: not known. */
  readonly maxOutput?: number
  /** The dialect used with the vendor. */
  readonly dialect: VendorDialectId
  /** The dialect that the vendor prefers for this model to the client's own; absent: none. */
  readonly instead?: VendorDialectId
  /** The vendor speaks the client's dialect, so bytes are relayed. */
  readonly identity: boolean
  readonly priority: number
  readonly weight: number
  /** What the vendor charges in millionths of the list price; absent: all of it. */
  readonly costPpm?: number
  /** Limits of its channel, for all of its keys together. */
  readonly limits?: NonNullable<ChannelConfig['limits']>
  /** What its channel changes in requests. */
  readonly parameters?: ParameterSettings
}

/** The key under which health and channels know the candidate. */
export function laneOf({ lane, channelId }: Pick<Candidate, 'lane' | 'channelId'>): string {
  return lane ?? channelId
}

/** The outcome of an attempt: `ok`, a fault, or `none`, which says nothing about the channel. */
export type Outcome =
  | { readonly kind: 'ok' }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'none' }

/** Why a channel may not be tried now: an open breaker, a vendor's 429, no credit, no valid key, or no free place. */
export type Block = 'breaker' | 'rate_limited' | 'quota' | 'credentials' | 'busy'

/** The health of channels on this node, keyed by lane and the vendor's model. */
export interface Health {
  /** Whether it may be tried now. A half-open breaker admits its probes one by one. */
  usable(channelId: string, model: string, nowMs: number): boolean
  /** Why it may not be tried now; null where it may. */
  blocked(channelId: string, model: string, nowMs: number): Block | null
  /** Whether the channel's retry budget allows one more: 20 % of those in flight, at least 3. */
  mayRetry(channelId: string): boolean
  /** Marks an attempt as begun (half-open probes, retry budget); `retry` when it follows a failed one. */
  begin(channelId: string, model: string, nowMs: number, retry?: boolean): void
  /** Ends an attempt: exactly one for each `begin`, with the same `retry`. */
  report(channelId: string, model: string, outcome: Outcome, nowMs: number, retry?: boolean): void
  /** Milliseconds until the channel may be tried again; 0: now. */
  waitMs(channelId: string, model: string, nowMs: number): number
  /** For metrics: 0 ok, 1 degraded, 2 open or cooling, 3 disabled. */
  state(channelId: string, nowMs: number): 0 | 1 | 2 | 3
}

/** Why a channel is not fully healthy, and since when. */
export interface Trouble {
  /** What blocks some model of it; `failing`: nothing does, but attempts failed lately. */
  readonly reason: Block | 'failing'
  /** The kind of the last fault. */
  readonly fault: FaultKind
  /** When the first fault since it was healthy occurred, on the monotonic clock. */
  readonly sinceMs: number
}

/** What operators see of the health of channels. */
export interface HealthReport {
  /** Null where the channel is healthy (`Health.state` is 0). */
  trouble(channelId: string, nowMs: number): Trouble | null
  /** The number of attempts under way. */
  inFlight(channelId: string): number
}

/** The state of a channel, as operators see it. */
export interface Condition {
  /** See `Health.state`. */
  readonly state: 0 | 1 | 2 | 3
  readonly reason: Trouble['reason'] | null
  /** Since when the reason holds. */
  readonly sinceMs: number | null
  readonly inFlight: number
}

/** Changes to health that do not come from requests. */
export interface HealthControl {
  /** Forgets what is known of a channel, after its address or key was changed. */
  reset(channelId: string): void
  /** Sets the most attempts under way at once by lane; a lane that is not named has no limit. */
  limit(most: ReadonlyMap<string, number>): void
}

export interface Plan {
  /** In the order to try them; empty where no channel may serve. */
  readonly attempts: readonly Candidate[]
  /** Set where there are candidates and none may be tried. */
  readonly blocked: Blocked | null
}

export interface Blocked {
  /** `rate_limited`: each channel is full or got a 429. `operator`: none has credit or a valid key. `failing`: else. */
  readonly why: 'rate_limited' | 'operator' | 'failing'
  /** Milliseconds until the first may be tried again. */
  readonly retryAfterMs: number
}
