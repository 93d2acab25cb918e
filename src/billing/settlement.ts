// What billing is told of a request that has ended, or still runs: plain data, filled in by whoever served it.

import type { Model } from '../catalog/model.ts'
import type { Fault } from '../errors.ts'
import type { Caller } from '../history/caller.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import type { Candidate } from '../router/route.ts'
import type { FailedAttempt } from '../store/usage-row.ts'
import type { Dialect } from '../wire/dialect.ts'
import type { Usage } from '../wire/ir.ts'
import type { ReplyFacts } from '../wire/reply.ts'
import type { Peek } from '../wire/request.ts'
import type { Authorization } from './authorization.ts'

/** Who asked what, and what it pays with. */
export interface BilledRequest {
  readonly requestId: string
  /** Unix milliseconds. */
  readonly at: number
  readonly principal: KeyPrincipal
  readonly caller: Caller
  readonly dialect: Pick<Dialect, 'operation'>
  readonly peek: Pick<Peek, 'model' | 'stream' | 'choices'>
  readonly model: Pick<Model, 'context' | 'maxOutput'>
  /** Closed at settlement. */
  readonly authorization: Authorization
}

/** What a finished reply says of itself; a Watcher is one. */
export interface ReplySummary extends ReplyFacts {
  /** What passed, by kinds, where it is no plain text; used where no usage was reported. */
  readonly counted?: Usage
}

/** Everything the record of a request is made from. */
export interface Settlement {
  readonly request: BilledRequest
  /** Who was asked last. */
  readonly candidate: Candidate | null
  /** Its vendor. */
  readonly vendor: string | null
  readonly attempts: number
  /** What the vendor asked last calls the request. */
  readonly vendorRequestId: string | null
  /** Those that delivered nothing, with what each is taken to have cost. */
  readonly failedAttempts: readonly FailedAttempt[]
  /** The last vendor tried answered with a success. */
  readonly accepted: boolean
  /** The client had left, and the vendor was heard to its end all the same. */
  readonly drained: boolean
  /** The reply as the client had it, where the client may ask for it again. */
  readonly reply: Captured | null
  /** Media type of a reply that is neither JSON nor a stream of events; else null. */
  readonly type: string | null
  readonly summary: ReplySummary | null
  /** The client's HTTP status; 499 when it left before the end. */
  readonly status: number
  readonly fault: Fault | null
  readonly errorCode: string | null
  readonly ttftMs: number | null
  readonly durationMs: number
  readonly vendorMs: number
  /** When the last vendor was asked, after the request's arrival. */
  readonly sentAfterMs?: number
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
