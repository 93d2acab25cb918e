// Between a format and the hub: requests and replies decoded from it and encoded into it.

import type { Fault, GatewayError } from '../errors.ts'
import type {
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

/** Turns frames of one dialect into events; one per reply. */
export interface Reader {
  /** The data of one frame, already without `data:` and line ends. */
  frame(data: string): readonly ChatEvent[]
  end(): readonly ChatEvent[]
  /** The format's terminal event was read, where it has one among its frames: nothing after it belongs to the reply. */
  readonly done?: boolean
  /** Nothing more need come, but may: the format has no terminal event. */
  readonly enough?: boolean
}

/** Turns events into the frames of one dialect; one per reply. A frame is whole, its blank line included. */
export interface Writer {
  event(event: ChatEvent): string
  end(): string
  /** As `Watcher.fail`. */
  fail?(error: GatewayError, requestId: string): string
}

/** A whole reply that is none of what was asked for. */
export class UnfitReply extends Error {
  override readonly name = 'UnfitReply'
}

export interface WriterHead {
  readonly id: string
  readonly model: string
  /** Unix seconds. */
  readonly createdAt: number
  readonly wantsUsage: boolean
  /** What the client asked, where the format repeats it in its reply. */
  readonly request?: ChatRequest
}

export interface Decoded<T> {
  readonly value: T
  /** Fields the target cannot express, by name. */
  readonly dropped: readonly string[]
}

/** What a reply answers, where its reader must know. */
export interface ReplyContext {
  readonly request: ChatRequest
  /** The vendor's own name of the model. */
  readonly model: string
}

/** A client's requests in the hub's words, and replies to it from them. */
export interface ClientHub {
  /** `address` is the request's own. Throws GatewayError `invalid_request_error` naming the field. */
  decodeRequest(body: JsonObject, address?: Address): Decoded<ChatRequest>
  writer(head: WriterHead): Writer
  /** Folds events into a whole reply. Throws UnfitReply. */
  writeWhole(events: readonly ChatEvent[], head: WriterHead): JsonObject
}

/** The hub's requests for a vendor, and its replies in the hub's words. */
export interface VendorHub {
  /**
   * Throws GatewayError where leaving out what this format cannot say would change what is asked; the rest is named in
   * `dropped`.
   */
  encodeRequest(request: ChatRequest, model: string): Decoded<JsonObject>
  /** The vendor cannot fetch this itself: it is to be given the bytes (a `data:` address). Never unless given. */
  needsBytes?(part: ImagePart | FilePart): boolean
  /** A tool that another format's vendors run themselves, and this one's too: it is encoded. Never unless given. */
  hasToo?(tool: Extract<Tool, { readonly type: 'other' }>): boolean
  reader(quirks: ReplyQuirks, context?: ReplyContext): Reader
  /** Replays a whole reply as the events of its stream. */
  readWhole(body: JsonValue, quirks: ReplyQuirks, context?: ReplyContext): readonly ChatEvent[]
}

/** As `ClientHub`, of embeddings and reranking. */
export interface ClientList {
  /** Throws GatewayError `invalid_request_error` naming the field. */
  decodeRequest(body: JsonObject, address?: Address): Decoded<ListRequest>
  /** Throws UnfitReply where the reply is not what was asked for. */
  writeReply(reply: ListReply, request: ListRequest, head: WriterHead): JsonObject
}

/** As `VendorHub`, of embeddings and reranking. */
export interface VendorList {
  /** Throws GatewayError where the vendor cannot be asked this. */
  encodeRequest(request: ListRequest, model: string): Decoded<JsonObject>
  readReply(body: JsonValue, request: ListRequest): ListReply | Fault
}
