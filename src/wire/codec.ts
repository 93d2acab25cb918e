// Contracts between a format and the hub: decoding and encoding of requests and replies.

import type { Fault, GatewayError } from '../errors.ts'
import type {
  CacheMark,
  ChatEvent,
  ChatRequest,
  FilePart,
  ImagePart,
  JsonObject,
  JsonValue,
  Tool,
} from './ir.ts'
import type { ListReply, ListRequest } from './list/list.ts'
import type { ReplyQuirks } from './reply.ts'
import type { Address } from './request.ts'

/** Turns the frames of one reply into hub events. */
export interface Reader {
  /** Reads the data of one frame, without `data:` and line ends. */
  frame(data: string): readonly ChatEvent[]
  end(): readonly ChatEvent[]
  /** The format's terminal event was read, if it has one among its frames: nothing after it belongs to the reply. */
  readonly done?: boolean
  /** The reply is complete though more frames may come: the format has no terminal event. */
  readonly enough?: boolean
}

/** Turns hub events into the frames of one reply. Each frame is whole, its blank line included. */
export interface Writer {
  event(event: ChatEvent): string
  end(): string
  /** See `Watcher.fail`. */
  fail?(error: GatewayError, requestId: string): string
}

/** A whole reply of another kind than was asked for. */
export class UnfitReply extends Error {
  override readonly name = 'UnfitReply'
}

export interface WriterHead {
  readonly id: string
  readonly model: string
  /** Unix seconds. */
  readonly createdAt: number
  readonly wantsUsage: boolean
  /** The client's request, where the format repeats it in its reply. */
  readonly request?: ChatRequest
}

export interface Decoded<T> {
  readonly value: T
  /** Names of fields the target cannot express. */
  readonly dropped: readonly string[]
}

/** The request that a reply answers, where its reader must know it. */
export interface ReplyContext {
  readonly request: ChatRequest
  /** The vendor's own name of the model. */
  readonly model: string
}

/** Decodes a client's requests into the hub, and encodes replies for it. */
export interface ClientHub {
  /** `address` is that of the request. Throws GatewayError `invalid_request_error` naming the field. */
  decodeRequest(body: JsonObject, address?: Address): Decoded<ChatRequest>
  /**
   * The names of this format for what `chatFieldNames` calls otherwise; of several, the client used the first one that
   * its request has. Absent: all names are the same.
   */
  readonly fieldNames?: ReadonlyMap<string, readonly string[]>
  /** A message has a single text, so that texts which belong apart are joined in it. */
  readonly oneText?: true
  writer(head: WriterHead): Writer
  /** Folds events into a whole reply. Throws UnfitReply. */
  writeWhole(events: readonly ChatEvent[], head: WriterHead): JsonObject
}

/** Encodes the hub's requests for a vendor, and decodes its replies. */
export interface VendorHub {
  /**
   * Throws GatewayError where leaving out what this format cannot express would change the meaning of the request;
   * all else that it cannot express is named in `dropped`. `options`: the channel's, absent: none.
   */
  encodeRequest(
    request: ChatRequest,
    model: string,
    options?: Readonly<Record<string, string>>,
  ): Decoded<JsonObject>
  /** The request with its cache marks as vendors read them that are not this format's own; absent: it needs none. */
  withCacheMarks?(request: ChatRequest, longest: CacheMark['ttl']): ChatRequest
  /** Whether the vendor cannot fetch this part itself and must get its bytes (a `data:` URL). Absent: it always can. */
  needsBytes?(part: ImagePart | FilePart): boolean
  /** Whether this format's vendors also run this tool of another format's: it is then encoded. Absent: never. */
  hasToo?(tool: Extract<Tool, { readonly type: 'other' }>): boolean
  /** Whether a message of the assistant may hold pictures; absent: only one of a user. */
  readonly saysPictures?: true
  /** Whether a schema for the reply may describe any value; absent: only an object. */
  readonly anyReply?: true
  reader(quirks: ReplyQuirks, context?: ReplyContext): Reader
  /** Replays a whole reply as the events of its stream. */
  readWhole(body: JsonValue, quirks: ReplyQuirks, context?: ReplyContext): readonly ChatEvent[]
}

/** The same as `ClientHub` for embeddings and reranking. */
export interface ClientList {
  /** Throws GatewayError `invalid_request_error` naming the field. */
  decodeRequest(body: JsonObject, address?: Address): Decoded<ListRequest>
  /** Throws UnfitReply where the reply is not what was asked for. */
  writeReply(reply: ListReply, request: ListRequest, head: WriterHead): JsonObject
}

/** The same as `VendorHub` for embeddings and reranking. */
export interface VendorList {
  /** Throws GatewayError where the vendor cannot serve such a request. */
  encodeRequest(request: ListRequest, model: string): Decoded<JsonObject>
  readReply(body: JsonValue, request: ListRequest): ListReply | Fault
}
