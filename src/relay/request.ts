// What the relay is asked, what it returns, and what is known of a request after its end.

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

/** One validated request of an authenticated caller. */
export interface RelayRequest extends BilledRequest {
  /** `performance.now()` at arrival. */
  readonly startedMs: number
  readonly dialect: ClientDialect
  readonly peek: Peek
  readonly model: Model
  readonly candidates: readonly Candidate[]
  readonly clientSlot: ClientSlot
  /** What the URL of the request says, in dialects that put parameters there. */
  readonly address?: Address
  /** The body is not the client's own bytes: it is encoded anew even where client and vendor speak alike. */
  readonly rebuilt?: boolean
  /** The files of a form, and the spool in which its data is kept while it runs. */
  readonly media?: Media
  /** The origin of the gateway's own addresses, as this client reaches it. */
  readonly origin?: string
  /** Applied to what goes to the client, in order: to whole frames, or a whole reply. */
  readonly transform?: ResponseTransform
  /** Called with each attempt's request before it is sent. */
  asking?(asked: AskedVendor): void
  /** Replaces billing's own settlement, for requests that are settled later. */
  settle?(request: RelayRequest, priced: Priced, keeping: Keeping): void
}

/** What one attempt sends to a vendor. */
export interface AskedVendor {
  readonly channel: string
  readonly format: string
  readonly segments: readonly Segment[]
}

export interface Media {
  /** The client sent a form: the body holds its other fields as JSON. */
  readonly isForm: boolean
  readonly uploads: readonly Upload[]
  /** Counts bytes of the reply, which may be many. */
  passed?(bytes: number): void
  /** Closed by the call when the request ends. */
  readonly spool: Spool
}

/** `origin`: the channel and dialect that made the bytes, one object for each attempt. Returns what the client gets. */
export type ResponseTransform = (
  bytes: Uint8Array,
  kind: 'whole' | 'piece',
  origin: OpaqueOrigin | null,
) => Uint8Array

/** How a request ended, for the code that admitted it. */
export interface Ended {
  /** Tokens of all kinds. */
  readonly tokens: number
  /** The client's HTTP status. */
  readonly status: number
}

/** The request's place among those under way, and its client's connection. */
export interface ClientSlot {
  /** Frees the place; called at settlement, once. */
  giveBack(ended: Ended): void
  /** From now on the call is notified when the client leaves, at once if it already has. */
  watchClient(): void
  /** Closes the connection of a client that reads nothing. */
  cutOff(): void
}

/** The reply to send: its head at once, its body whole or as it arrives. */
export interface Answer {
  readonly stream: boolean
  readonly body: Uint8Array | ReplyStream
  /** The length of a body that is streamed, where it is known; else null. */
  readonly bodyBytes: number | null
  /** Media type of a body that is neither JSON nor a stream of events; else null. */
  readonly type: string | null
  /** Milliseconds spent waiting for vendors so far. */
  readonly vendorMs: number
  /** The cost of a whole reply, as a decimal; null where that is not known yet. */
  readonly cost: string | null
  /** Names of the request's fields that the vendor was not sent. */
  readonly dropped: readonly string[]
  /** Headers that the vendor returns to its client; names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** Limits on the requests whose clients left and whose vendors are read to the end. */
export interface Drains {
  running: number
  readonly most: number
  readonly limitMs: number
}

/** Is notified of requests that have ended and of attempts that failed. */
export interface Observer {
  /** Called once for each request, when its cost is known. */
  settled(request: RelayRequest, priced: Priced): void
  /** How long it took to settle a request and notify the observer. */
  settling(tookMs: number): void
  /** Called once for each attempt that failed; the fault contains no secrets. */
  attemptFailed(
    request: Pick<RelayRequest, 'requestId'>,
    attempt: { readonly candidate: Candidate; readonly channel: Channel },
    fault: Fault,
    failedOver: boolean,
  ): void
  /** A request for which no channel was tried: refused, or answered from a stored reply. `row`: its record, if any. */
  unrelayed(
    row: UsageRow | null,
    dialect: Pick<ClientDialect, 'client'>,
    status: number,
    durationMs: number,
  ): void
}

/** The parts the relay works with: built once, replaced as a whole when the configuration changes. */
export interface RelayRooms {
  readonly channels: ReadonlyMap<string, Channel>
  readonly dialects: Dialects
  readonly health: Health
  readonly dialer: Dialer
  /** Enforces the channels' own limits. */
  readonly limiter: Pick<Limiter, 'admit'>
  /** Fetches URLs that users name. */
  readonly safeFetch: SafeFetch
  /** Stores what vendors make besides text. */
  readonly results: Results
  readonly deadlines: Deadlines
  readonly timeouts: TimeoutSettings
  readonly retry: RetrySettings
  /** How long before a client gets a heartbeat, and how long a stalled one is tolerated. */
  readonly client: Pick<ServerSettings, 'heartbeatMs' | 'commitAfterMs' | 'writeStallMs'>
  readonly drains: Drains
  readonly observer: Observer
}
