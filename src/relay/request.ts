// What the relay is asked, what it gives back, and what is known when it is over.

import type { Priced } from '../billing/settle.ts'
import type { BilledRequest, Keeping } from '../billing/settlement.ts'
import type { Results } from '../blobs/results.ts'
import type { Model } from '../catalog/model.ts'
import type { RetrySettings, ServerSettings, TimeoutSettings } from '../config/types.ts'
import type { Fault } from '../errors.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Candidate, Health } from '../router/route.ts'
import type { SafeFetch } from '../safe-fetch/safe-fetch.ts'
import type { UsageRow } from '../store/usage-row.ts'
import type { Dialer } from '../upstream/dial.ts'
import type { Segment, Spool, Upload } from '../vendors/media.ts'
import type { ClientDialect, Dialects } from '../wire/dialect.ts'
import type { OpaqueOrigin } from '../wire/hub/opaque-state.ts'
import type { Address, Peek } from '../wire/request.ts'
import type { ReplyStream } from './backpressure-queue.ts'
import type { Channel } from './channel.ts'
import type { Deadlines } from './deadlines.ts'

/** One validated request of a known caller. */
export interface RelayRequest extends BilledRequest {
  /** `performance.now()` at arrival. */
  readonly startedMs: number
  readonly dialect: ClientDialect
  readonly peek: Peek
  readonly model: Model
  readonly candidates: readonly Candidate[]
  readonly clientSlot: ClientSlot
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
  /** Told of each attempt before it is sent. */
  asking?(asked: AskedVendor): void
  /** In place of billing's own settlement, where its money is closed later. */
  settle?(request: RelayRequest, priced: Priced, keeping: Keeping): void
}

/** What a vendor is asked. */
export interface AskedVendor {
  readonly channel: string
  readonly format: string
  readonly segments: readonly Segment[]
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

/** `origin`: who made it, for its opaque state. Returns what the client is given in its place. */
export type ResponseTransform = (
  bytes: Uint8Array,
  kind: 'whole' | 'piece',
  origin: OpaqueOrigin | null,
) => Uint8Array

/** How a request ended, for whoever let it in. */
export interface Ended {
  /** Of all kinds. */
  readonly tokens: number
  /** The client's HTTP status. */
  readonly status: number
}

/** What the request holds of the server: its place among those under way, and its connection. */
export interface ClientSlot {
  /** Given back at settlement, once. */
  giveBack(ended: Ended): void
  /** From now on the call is told when the client leaves, at once where it has left already. */
  watchClient(): void
  /** The client takes nothing: its connection is to be closed. */
  cutOff(): void
}

/** The reply to send: head at once, the body whole or as it comes. */
export interface Answer {
  readonly stream: boolean
  readonly body: Uint8Array | ReplyStream
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

/** How many requests whose clients left may be heard to their end at once. */
export interface Drains {
  running: number
  readonly most: number
  readonly limitMs: number
}

/** Hears of requests that have ended and of attempts that failed. */
export interface Observer {
  /** Told once of each request, when its money is known. */
  settled(request: RelayRequest, priced: Priced): void
  /** How long it took to close a request's money and tell of it. */
  settling(tookMs: number): void
  /** Told once of each attempt that failed; the fault is as it may be shown. */
  attemptFailed(
    request: Pick<RelayRequest, 'requestId'>,
    attempt: { readonly candidate: Candidate; readonly channel: Channel },
    fault: Fault,
    failedOver: boolean,
  ): void
  /** A request that no channel was tried for: refused, or answered from what was kept. `row`: its record, if any. */
  unrelayed(row: UsageRow | null, route: string, status: number, durationMs: number): void
}

/** What the relay works with: built once, replaced whole when the configuration changes. */
export interface RelayRooms {
  readonly channels: ReadonlyMap<string, Channel>
  readonly dialects: Dialects
  readonly health: Health
  readonly dialer: Dialer
  /** Of what channels may be asked. */
  readonly limiter: Pick<Limiter, 'admit'>
  /** For addresses that users name. */
  readonly safeFetch: SafeFetch
  /** What vendors make beside text. */
  readonly results: Results
  readonly deadlines: Deadlines
  readonly timeouts: TimeoutSettings
  readonly retry: RetrySettings
  /** How long a client waits for a sign of life, and is waited for. */
  readonly client: Pick<ServerSettings, 'heartbeatMs' | 'commitAfterMs' | 'writeStallMs'>
  readonly drains: Drains
  readonly observer: Observer
}
