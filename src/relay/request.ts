// What the front door asks of the relay, what it gets back, and what is known when it is over.

import type { Authorization } from '../billing/authorization.ts'
import type { Results } from '../blobs/results.ts'
import type { Model } from '../catalog/model.ts'
import type { BillingSettings, RetrySettings, TimeoutSettings } from '../config/types.ts'
import type { Fault } from '../errors.ts'
import type { Caller } from '../history/caller.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import type { Admitted } from '../limits/limiter.ts'
import type { Candidate, Health } from '../router/route.ts'
import type { SafeFetch } from '../safe-fetch/safe-fetch.ts'
import type { FailedAttempt, UsageRow } from '../store/usage-row.ts'
import type { Dialer } from '../upstream/dial.ts'
import type { Spool, Upload } from '../vendors/media.ts'
import type { Dialect } from '../wire/dialect.ts'
import type { DialectId } from '../wire/formats.ts'
import type { SealOrigin } from '../wire/hub/seal.ts'
import type { Usage } from '../wire/ir.ts'
import type { Address, Peek, Units } from '../wire/request.ts'
import type { Channel } from './channel.ts'
import type { Deadlines } from './deadlines.ts'

/** One validated request of a known caller. */
export interface RelayRequest {
  readonly requestId: string
  /** Unix milliseconds. */
  readonly at: number
  /** `performance.now()` at arrival. */
  readonly startedMs: number
  readonly dialect: Dialect
  readonly peek: Peek
  readonly principal: KeyPrincipal
  readonly caller: Caller
  readonly model: Model
  readonly candidates: readonly Candidate[]
  /** The request's place within its limits, given back at settlement. */
  readonly admission: Admitted
  readonly clientSlot: ClientSlot
  /** What it pays with: closed at settlement. */
  readonly authorization: Authorization
  /** What the request's address says, where its format keeps it there. */
  readonly address?: Address
  /** The body is not the client's own: it is put in the vendor's words anew even where both speak alike. */
  readonly rebuilt?: boolean
  /** Files of a form, and where what the reply is made of is kept meanwhile. */
  readonly media?: Media
  /** What the gateway's own addresses begin with, as this client reaches it. */
  readonly origin?: string
  /** What goes to the client goes through this, in order: whole frames, or a whole reply. */
  readonly transform?: ResponseTransform
}

export interface Media {
  /** The client sent a form: its body is the other fields as JSON. */
  readonly isForm: boolean
  readonly uploads: readonly Upload[]
  /** Told of the bytes of the reply, which may be many. */
  passed?(bytes: number): void
  /** Closed by the call, when nothing more will come of it. */
  readonly spool: Spool
}

/** `origin`: who made it, for what was sealed there. Returns what the client is given in its place. */
export type ResponseTransform = (
  bytes: Uint8Array,
  kind: 'whole' | 'piece',
  origin: SealOrigin | null,
) => Uint8Array

/** What the request holds at the front door. */
export interface ClientSlot {
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
  /** Media type of a body that is neither JSON nor a stream of events; else null. */
  readonly type: string | null
  /** Milliseconds spent waiting for vendors until now. */
  readonly vendorMs: number
  /** What a whole reply cost, as a decimal; null where that is not known yet. */
  readonly cost: string | null
  /** What of the request the vendor was not told, by name. */
  readonly dropped: readonly string[]
  /** What the vendor hands its client beside the reply, by names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** What a finished reply says of itself; a Watcher is one. */
export interface ReplySummary {
  readonly usage: Usage | null
  /** As `Watcher.unbelieved`. */
  readonly unbelieved?: boolean
  /** null where usage was reported and nothing had to be counted. */
  readonly outputBytes: number | null
  readonly finishReason: string | null
  readonly model: string | null
  /** What it brought of what is charged beside tokens; absent: as was expected. */
  readonly units?: Units | null
  /** What passed, by kinds, where it is no plain text; used where no usage was reported. */
  readonly counted?: Usage
}

/** Everything the record of a request is made from. */
export interface Settlement {
  readonly request: RelayRequest
  readonly candidate: Candidate | null
  readonly attempts: number
  /** Those that delivered nothing, with what each is taken to have cost. */
  readonly failedAttempts: readonly FailedAttempt[]
  /** The last vendor tried answered with a success. */
  readonly accepted: boolean
  /** The client had left, and the vendor was heard to its end all the same. */
  readonly drained: boolean
  /** The reply as the client had it, where the client may ask for it again. */
  readonly reply: Captured | null
  /** As `Answer.type`. */
  readonly type: string | null
  readonly summary: ReplySummary | null
  /** The client's HTTP status; 499 when it left before the end. */
  readonly status: number
  readonly fault: Fault | null
  readonly errorCode: string | null
  readonly ttftMs: number | null
  readonly durationMs: number
  readonly vendorMs: number
}

/** A reply kept for whoever repeats its request. */
export interface Captured {
  /** What went to the client until now; null where it is too large to be kept. */
  bytes(): Uint8Array | null
}

/** How soon a settled request's record must be safe. */
export type Keeping =
  /** Before this call returns: the reply's last bytes leave right after. */
  | { readonly now: true }
  /** The reply waits for it. */
  | { readonly then: () => void }
  /** Soon. */
  | null

/** How many requests whose clients left may be heard to their end at once. */
export interface Drains {
  running: number
  readonly most: number
  readonly limitMs: number
}

/** What the relay works with: built once, replaced whole when the configuration changes. */
export interface RelayRooms {
  readonly channels: ReadonlyMap<string, Channel>
  readonly dialects: Readonly<Record<DialectId, Dialect>>
  readonly health: Health
  readonly dialer: Dialer
  /** For addresses that users name. */
  readonly safeFetch: SafeFetch
  /** What vendors make beside text. */
  readonly results: Results
  readonly deadlines: Deadlines
  readonly timeouts: TimeoutSettings
  readonly retry: RetrySettings
  readonly heartbeatMs: number
  readonly commitAfterMs: number
  readonly writeStallMs: number
  readonly billing: BillingSettings
  readonly drains: Drains
  readonly random: () => number
  /** Removes what must not be shown from a vendor's words. */
  scrub(text: string, secrets: readonly string[]): string
  /** Told once of each attempt that failed. */
  attemptFailed(
    request: RelayRequest,
    candidate: Candidate,
    fault: Fault,
    failedOver: boolean,
  ): void
  /** Told once of each request, when its money is known; `row` is its record by `price`. */
  settle(settlement: Settlement, row: UsageRow, keeping: Keeping): void
  /** Notes what a running stream owes until now, in case the process dies in it. */
  progress(settlement: Settlement): void
  /** The record of a request, with what it owes. */
  price(settlement: Settlement): UsageRow
}
