// What operations beside plain text do otherwise on the way to a vendor and back. The relay knows none of them by name.

import type { TimeoutSettings } from '../config/types.ts'
import type { Fault, GatewayError } from '../errors.ts'
import type { Candidate } from '../router/route.ts'
import type { Segment } from '../vendors/media.ts'
import type { Exchange, ReplyHandler } from '../vendors/transport.ts'
import type { FittedTools } from '../wire/hub/fit-tools.ts'
import type { ChatRequest, JsonObject } from '../wire/ir.ts'
import type { Peek } from '../wire/request.ts'
import type { Channel } from './channel.ts'
import type { PathListener, ReplyPath } from './path.ts'
import type { RelayRequest, RelayRooms } from './request.ts'

/** Each part gives null where the call goes as any other does. */
export interface RelayOperation {
  /** Dear to do twice: where nobody knows what came of a request, it is not sent again. */
  readonly isCostly: boolean
  /** The general timers, where its vendors need others. */
  timeouts?(general: TimeoutSettings): TimeoutSettings
  /**
   * The request as its vendor takes it. `own`: as the client put it; null: that cannot go on as it is. Throws GatewayError
   * where the vendor cannot be asked this.
   */
  encode?(plan: AttemptPlan, own: Peek | null): EncodedRequest | null
  /** Sends it in a way of its own. */
  send?(plan: AttemptPlan, handler: AttemptHandler): Exchange | null
  /** Reads a success of this `content-type`. */
  path?(plan: AttemptPlan, type: string, listener: PathListener): ReplyPath | null
}

export interface EncodedRequest {
  readonly segments: readonly Segment[]
  /** Of a form; null: JSON. */
  readonly contentType: string | null
  /** What of the request is not said there, by name. */
  readonly dropped: readonly string[]
  /** How a success is read, where that depends on what was asked. */
  readonly path?: (listener: PathListener) => ReplyPath
}

/** One attempt, made ready. */
export interface AttemptPlan {
  readonly rooms: RelayRooms
  readonly request: RelayRequest
  readonly operation: RelayOperation | null
  readonly candidate: Candidate
  readonly channel: Channel
  /** Client and vendor speak alike: bytes are relayed, not re-written. */
  readonly identity: boolean
  readonly timeouts: TimeoutSettings
  /** What the client asked in the hub's words; null where bytes are relayed. */
  readonly decoded: ChatRequest | null
  /** The same with its tools as the vendor is offered them. */
  readonly fitted: FittedTools | null
  /** What of it the vendor was not told, by name. */
  readonly dropped: readonly string[]
  /** As `EncodedRequest.path`. */
  readonly path: ((listener: PathListener) => ReplyPath) | null
}

/** The attempt, as whoever sends it tells of its reply. */
export interface AttemptHandler extends ReplyHandler {
  /** A fault that is no transport's. */
  failed(fault: Fault): void
  /** The vendor has no words for this, and was not asked: another channel may be. */
  unsayable(error: GatewayError): void
  /** Fields that the vendor was not told: before its head. */
  dropped(names: readonly string[]): void
  /** What the reply cost, where its bytes do not tell it: before its end. */
  metered(usage: JsonObject): void
}
