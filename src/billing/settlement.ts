// The data that billing receives about a request that has ended, or still runs; filled in by the code that served it.

import type { Model } from '../catalog/model.ts'
import type { Fault } from '../errors.ts'
import type { Caller } from '../history/caller.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import type { Candidate } from '../router/route.ts'
import type { FailedAttempt } from '../store/usage-row.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import type { Usage } from '../wire/ir.ts'
import type { ReplyFacts } from '../wire/reply.ts'
import type { Peek } from '../wire/request.ts'
import type { Authorization } from './authorization.ts'

/** Who made the request, what was asked, and what it is paid with. */
export interface BilledRequest {
  readonly requestId: string
  /** Unix milliseconds. */
  readonly at: number
  readonly principal: KeyPrincipal
  readonly caller: Caller
  readonly dialect: Pick<ClientDialect, 'operation' | 'client'>
  readonly peek: Pick<Peek, 'model' | 'stream' | 'choices'>
  readonly model: Pick<Model, 'context' | 'maxOutput'>
  readonly authorization: Authorization
}

/** What a finished reply says of itself; a Watcher implements it. */
export interface ReplySummary extends ReplyFacts {
  /** Usage by kinds as counted from the reply, where it is not plain text; used if no usage was reported. */
  readonly counted?: Usage
}

/** Everything the record of a request is made from. */
export interface Settlement {
  readonly request: BilledRequest
  /** The channel and model asked last. */
  readonly candidate: Candidate | null
  /** The vendor of `candidate`. */
  readonly vendor: string | null
  readonly attempts: number
  /** The vendor's own id of the last request sent to it. */
  readonly vendorRequestId: string | null
  /** Attempts that delivered nothing, with what each presumably cost. */
  readonly failedAttempts: readonly FailedAttempt[]
  /** Whether the vendor asked last answered with success. */
  readonly accepted: boolean
  /** Whether the vendor's reply was read to its end although the client had left. */
  readonly drained: boolean
  /** The reply as the client received it, if the client may ask for it again. */
  readonly reply: Captured | null
  /** Media type of a reply that is neither JSON nor an event stream; otherwise null. */
  readonly type: string | null
  readonly summary: ReplySummary | null
  /** HTTP status sent to the client; 499 if it left before the end. */
  readonly status: number
  readonly fault: Fault | null
  readonly errorCode: string | null
  readonly ttftMs: number | null
  readonly durationMs: number
  readonly vendorMs: number
  /** Milliseconds from the request's arrival to the request to the last vendor. */
  readonly sentAfterMs?: number
}

/** A reply kept for a request that is repeated with the same Idempotency-Key. */
export interface Captured {
  /** What was sent to the client so far; null if it is too large to be kept. */
  bytes(): Uint8Array | null
}

/** How soon a settled request's record must be safe. */
export type Keeping =
  /** Before the call returns, because the reply's last bytes are sent right after it. */
  | { readonly now: true }
  /** Later; the end of the reply waits for this callback. */
  | { readonly then: () => void }
  /** At the end of the current turn of the event loop; nothing waits for it. */
  | null
