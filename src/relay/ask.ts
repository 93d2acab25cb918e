// What the front door asks of the relay, what it gets back, and what is known when it is over.

import type { Model } from '../catalog/model.ts'
import type { RetrySettings, TimeoutSettings } from '../config/types.ts'
import type { Fault } from '../errors.ts'
import type { Principal } from '../identity/principal.ts'
import type { Admitted } from '../limits/limiter.ts'
import type { Candidate, Health } from '../router/route.ts'
import type { Dialect, DialectId, Peek } from '../wire/dialect.ts'
import type { Usage } from '../wire/ir.ts'
import type { Channel } from './channel.ts'
import type { Deadlines } from './deadlines.ts'
import type { Dialer } from './dial.ts'

/** One validated request of a known caller. */
export interface Ask {
  readonly requestId: string
  /** Unix milliseconds. */
  readonly at: number
  /** `performance.now()` at arrival. */
  readonly startedMs: number
  readonly dialect: Dialect
  readonly peek: Peek
  readonly principal: Principal
  readonly model: Model
  readonly candidates: readonly Candidate[]
  /** The request's place within its limits, given back at settlement. */
  readonly admission: Admitted
  readonly place: Place
}

/** What the request holds at the front door. */
export interface Place {
  /** Given back at settlement. */
  giveBack(): void
  /** From now on the call is told when the client leaves, at once where it has left already. */
  watchClient(): void
  /** The client takes nothing: its connection is to be closed. */
  cutOff(): void
}

/** The reply to send: head at once, the body whole or as it comes. */
export interface Answer {
  readonly stream: boolean
  readonly body: Uint8Array | AsyncGenerator<Uint8Array, void, void>
  /** Milliseconds spent waiting for vendors until now. */
  readonly vendorMs: number
}

/** What a finished reply says of itself; a Watcher is one. */
export interface Sight {
  readonly usage: Usage | null
  /** null where usage was reported and nothing had to be counted. */
  readonly outputBytes: number | null
  readonly finishReason: string | null
  readonly model: string | null
}

/** Everything the record of a request is made from. */
export interface Settlement {
  readonly ask: Ask
  readonly candidate: Candidate | null
  readonly attempts: number
  readonly sight: Sight | null
  /** The client's HTTP status; 499 when it left before the end. */
  readonly status: number
  readonly fault: Fault | null
  readonly errorCode: string | null
  readonly ttftMs: number | null
  readonly durationMs: number
  readonly vendorMs: number
}

/** What the relay works with: built once, replaced whole when the configuration changes. */
export interface RelayRooms {
  readonly channels: ReadonlyMap<string, Channel>
  readonly dialects: Readonly<Record<DialectId, Dialect>>
  readonly health: Health
  readonly dialer: Dialer
  readonly deadlines: Deadlines
  readonly timeouts: TimeoutSettings
  readonly retry: RetrySettings
  readonly heartbeatMs: number
  readonly commitAfterMs: number
  readonly writeStallMs: number
  readonly random: () => number
  /** Removes what must not be shown from a vendor's words. */
  scrub(text: string, secrets: readonly string[]): string
  /** Told once of each attempt that failed. */
  attemptFailed(ask: Ask, candidate: Candidate, fault: Fault, failedOver: boolean): void
  /** Told once of each request, when nothing more will come of it. */
  settle(settlement: Settlement): void
}
