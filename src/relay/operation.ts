// What operations other than plain text do differently on the way to a vendor and back; the relay names none of them.

import type { TimeoutSettings } from '../config/types.ts'
import type { Fault, GatewayError } from '../errors.ts'
import type { Candidate } from '../router/route.ts'
import type { Segment } from '../vendors/media.ts'
import type { Exchange, ReplyHandler } from '../vendors/transport.ts'
import type { Fitted } from '../wire/hub/fit-reply.ts'
import type { ChatRequest, JsonObject } from '../wire/ir.ts'
import type { Peek } from '../wire/request.ts'
import type { Channel } from './channel.ts'
import type { PathListener, ReplyPath } from './path.ts'
import type { RelayRequest, RelayRooms } from './request.ts'

/** Each method may return null: the call is then handled like any other. */
export interface RelayOperation {
  /** Too costly to do twice: where the outcome of a request is unknown, it is not sent again. */
  readonly isCostly: boolean
  /** The timers for this operation, made from the general ones. */
  timeouts?(general: TimeoutSettings): TimeoutSettings
  /**
   * Encodes the request for its vendor. `own`: the client's request; null where it cannot be relayed as it is. Throws
   * GatewayError where the vendor cannot be asked this.
   */
  encode?(plan: AttemptPlan, own: Peek | null): EncodedRequest | null
  /** Sends the request in the operation's own way. */
  send?(plan: AttemptPlan, handler: AttemptHandler): Exchange | null
  /** Returns the reader of a successful reply of this `content-type`. */
  path?(plan: AttemptPlan, type: string, listener: PathListener): ReplyPath | null
}

export interface EncodedRequest {
  readonly segments: readonly Segment[]
  /** The content type of a form; null: JSON. */
  readonly contentType: string | null
  /** Names of the request's fields that are not sent. */
  readonly dropped: readonly string[]
  /** The reader of a successful reply, where that depends on the request. */
  readonly path?: (listener: PathListener) => ReplyPath
}

/** One attempt, prepared. */
export interface AttemptPlan {
  readonly rooms: RelayRooms
  readonly request: RelayRequest
  readonly operation: RelayOperation | null
  readonly candidate: Candidate
  readonly channel: Channel
  /** Client and vendor speak the same dialect: bytes are relayed, not translated. */
  readonly identity: boolean
  readonly timeouts: TimeoutSettings
  /** The client's request in the hub's form; null where bytes are relayed. */
  readonly decoded: ChatRequest | null
  /** The same request with its tools as they are offered to the vendor. */
  readonly fitted: Fitted | null
  /** Names of the request's fields that the vendor is not sent. */
  readonly dropped: readonly string[]
  /** The reader from `EncodedRequest.path`. */
  readonly path: ((listener: PathListener) => ReplyPath) | null
}

/** The attempt, as seen by the code that sends it and receives the reply. */
export interface AttemptHandler extends ReplyHandler {
  /** Reports a fault that is not the transport's. */
  failed(fault: Fault): void
  /** The vendor was not asked, because its format cannot express the request; another channel may be. */
  unsayable(error: GatewayError): void
  /** Names fields that the vendor was not sent. Called before the reply's head. */
  dropped(names: readonly string[]): void
  /** The usage of the reply, where its bytes do not carry it, or only later. Called before the reply's end. */
  metered(usage: JsonObject): void
}
