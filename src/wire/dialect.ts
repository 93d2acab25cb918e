// One wire format: what it is to its clients, to its vendors, and where its bytes pass between the two. Pure and synchronous.

import type { Fault, GatewayError } from '../errors.ts'
import type { ClientHub, ClientList, VendorHub, VendorList } from './codec.ts'
import {
  type ClientDialectId,
  type DialectId,
  type Operation,
  operationOf,
  type VendorDialectId,
} from './formats.ts'
import type { JsonObject } from './ir.ts'
import type {
  FrameSource,
  Reframe,
  Replay,
  ReplyFacts,
  ReplyQuirks,
  Watcher,
  WatchOptions,
  WholeReply,
} from './reply.ts'
import type { Address, FormFields, Peek } from './request.ts'

/** What it takes to serve clients of a format. */
export interface ClientSide {
  /** Where the gateway itself is asked, below the prefix; names the endpoint in logs and metrics. */
  readonly path: string
  /** What the ids of its replies begin with, e.g. `chatcmpl-`. */
  readonly idPrefix: string
  /** What a quiet stream is sent, which every client passes over. */
  readonly heartbeat: string
  /** Headers of the client that mean something in this format, in lower case: they go on to a vendor that speaks it. */
  readonly clientHeaders?: readonly string[]
  /** Requests may also come as a form of these fields (`multipart/form-data`). */
  readonly form?: FormFields
  /** Requests come as a form alone. */
  readonly formOnly?: true
  /** Validates and locates. Throws GatewayError `invalid_request_error` naming the field. */
  peek(body: Uint8Array, address?: Address): Peek
  /** A whole reply or one stream frame with what it cost in its usage; as it was where it shows none. */
  withCost(bytes: Uint8Array, cost: string): Uint8Array
  /** The HTTP status of a refusal, where this format has another for it than the table of errors.ts. */
  status?(error: GatewayError): number
  /** A refusal in this format's own shape, as JSON text. */
  refuse(error: GatewayError, requestId: string): string
  /** The frames that end a stream in an error. */
  errorFrames(error: GatewayError, requestId: string): string
  /** What the events of a stream are put into where the address asks for another frame; null: they stay. */
  reframe?(address: Address): Reframe | null
  /** Headers this format's clients look for on every reply. */
  replyHeaders?(requestId: string): Readonly<Record<string, string>>
  /** Of a chat format. */
  readonly hub?: ClientHub
  /** Of embeddings and reranking. */
  readonly list?: ClientList
}

/** What it takes to ask vendors in a format. */
export interface VendorSide {
  /** Usage comes on every stream of this format, which has no `stream_options` to ask for it. */
  readonly usageAlways?: true
  /** Headers a vendor of this format answers with and wants back from its client, in lower case. */
  readonly stateHeaders?: readonly string[]
  /** Texts of which one stands in every body that offers tools, or tells of calls, of types some vendors of this format lack. */
  readonly toolMarks?: readonly string[]
  /** The member that holds a vendor's opaque state, which its account alone can open; undefined where any account can. */
  readonly opaqueMember?: string
  /** The format whose replies hold the opaque state brought back here, where it is another. */
  readonly opaqueFrom?: DialectId
  /** How this format's vendors cut their streams; server-sent events unless given. */
  frames?(): FrameSource
  /** Reads a vendor's error reply. `header` looks a reply header up by lower-case name. */
  fault(status: number, header: (name: string) => string | null, body: string): Fault
  /** Of a chat format. */
  readonly hub?: VendorHub
  /** Of embeddings and reranking. */
  readonly list?: VendorList
}

/** How replies pass from a vendor to a client that speaks the same format. */
export interface IdentitySide {
  /** What a stream ends with (`data: [DONE]`), for vendors that leave it out; empty where the format has none. */
  readonly terminator: string
  /** The longest event of a stream, in bytes; 1 MiB unless given. */
  readonly maxFrameBytes?: number
  /** A text that each thing of a reply brings that is charged by its number: counted in one too large to hold. */
  readonly itemMark?: string
  watcher(options: WatchOptions): Watcher
  whole(body: Uint8Array, peek: Peek, quirks: ReplyQuirks): WholeReply
  /** Whether a reply that begins so and is too large to hold has to be brought to another form, for which it is held. */
  mustRecode?(head: Uint8Array, peek: Peek): boolean
  /**
   * What the end of a reply too large to hold says; `bytes` may begin anywhere in it. `items`: how often `itemMark`
   * stood in all of it.
   */
  tail(bytes: Uint8Array, quirks: ReplyQuirks, peek?: Peek, items?: number): ReplyFacts
}

/** Replies that are sound or text, or are sent as a stream though they came whole. */
export interface MediaSide {
  /** Replies may be other than JSON: bytes of this media type are the reply, passed on as they come. */
  isRaw(mediaType: string): boolean
  /** What such a reply says, whose bytes are passed on unread; `reported` is its usage, where known from elsewhere. */
  raw(peek: Peek, reported: JsonObject | null): ReplyFacts
  /** The media type of such a reply, where the vendor's own word says nothing. */
  typeOf?(mediaType: string, peek: Peek): string
  /** For vendors that answer whole where a stream was asked for. */
  replay(peek: Peek, mediaType: string): Replay
}

/** The parts of a format: those it lacks are left out. */
interface Sides {
  readonly client?: ClientSide
  readonly vendor?: VendorSide
  readonly identity?: IdentitySide
  readonly media?: MediaSide
}

export interface Dialect extends Sides {
  readonly id: DialectId
  readonly operation: Operation
}

/** A format that clients are served in. */
export interface ClientDialect extends Dialect {
  readonly id: ClientDialectId
  readonly client: ClientSide
}

/** A format that vendors are asked in. */
export interface VendorDialect extends Dialect {
  readonly id: VendorDialectId
  readonly vendor: VendorSide
}

export type Dialects = Readonly<
  Record<ClientDialectId, ClientDialect> & Record<VendorDialectId, VendorDialect>
>

/** The format of this name, put together from its parts. */
export function format<Id extends DialectId, Parts extends Sides>(
  id: Id,
  parts: Parts,
): Dialect & { readonly id: NoInfer<Id> } & NoInfer<Parts> {
  return { id, operation: operationOf[id], ...parts }
}
