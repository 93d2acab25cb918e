// One wire format: how clients use it, how vendors use it, how bytes pass between two that share it. Pure, synchronous.

import type { Fault, GatewayError } from '../errors.ts'
import type { ClientHub, ClientList, VendorHub, VendorList } from './codec.ts'
import {
  type ClientDialectId,
  type DialectId,
  type Operation,
  operationOf,
  type VendorDialectId,
} from './formats.ts'
import type { JsonObject, Usage } from './ir.ts'
import type {
  FrameSource,
  Passed,
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
  /** Path on the gateway, below the prefix; also names the endpoint in logs and metrics. */
  readonly path: string
  /** The method of its requests; left out: POST. */
  readonly method?: 'GET'
  /** Prefix of the ids of its replies, e.g. `chatcmpl-`. */
  readonly idPrefix: string
  /** What is sent on an idle stream to keep it open; every client ignores it. */
  readonly heartbeat: string
  /** Client headers (lower case) that have a meaning in this format and are forwarded to a vendor that speaks it. */
  readonly clientHeaders?: readonly string[]
  /** The fields, where requests may also come as a form (`multipart/form-data`). */
  readonly form?: FormFields
  /** Requests come only as a form. */
  readonly formOnly?: true
  /** Validates a request and finds what `Peek` holds. Throws GatewayError `invalid_request_error` naming the field. */
  peek(body: Uint8Array, address?: Address): Peek
  /** Adds the cost to the usage of a whole reply or of one stream frame; unchanged where it shows no usage. */
  withCost(bytes: Uint8Array, cost: string): Uint8Array
  /** The HTTP status of an error, where this format's differs from the table of errors.ts. */
  status?(error: GatewayError): number
  /** An error in this format's own shape, as JSON text. */
  refuse(error: GatewayError, requestId: string): string
  /** The frames that end a stream with an error. */
  errorFrames(error: GatewayError, requestId: string): string
  /** How to change the framing of a stream, if the address asks for another; null: the events stay as they are. */
  reframe?(address: Address): Reframe | null
  /** Headers that clients of this format expect on every reply. */
  replyHeaders?(requestId: string): Readonly<Record<string, string>>
  /** Set for chat formats. */
  readonly hub?: ClientHub
  /** Set for embeddings and reranking. */
  readonly list?: ClientList
}

/** What it takes to ask vendors in a format. */
export interface VendorSide {
  /** Streams of this format always report usage; there is no `stream_options` to ask for it. */
  readonly usageAlways?: true
  /** Headers (lower case) that a vendor of this format sends and expects back from its client. */
  readonly stateHeaders?: readonly string[]
  /** Every body with tools, or tool calls, of types that some vendors of this format lack contains one of these. */
  readonly toolMarks?: readonly string[]
  /** The member with a vendor's opaque state, which only its own account can open; undefined where any can. */
  readonly opaqueMember?: string
  /** The format whose replies the opaque state in these requests comes from, where it is not this one. */
  readonly opaqueFrom?: DialectId
  /** Cuts this format's streams into frames; server-sent events unless given. */
  frames?(): FrameSource
  /** Reads a vendor's error reply. `header` looks a reply header up by lower-case name. */
  fault(status: number, header: (name: string) => string | null, body: string): Fault
  /** Set for chat formats. */
  readonly hub?: VendorHub
  /** Set for embeddings and reranking. */
  readonly list?: VendorList
}

/** How replies pass from a vendor to a client that speaks the same format. */
export interface IdentitySide {
  /** The end marker of a stream (`data: [DONE]`), added if a vendor leaves it out; empty if the format has none. */
  readonly terminator: string
  /** The longest event of a stream, also of one that is translated, in bytes; 8 MiB if absent. */
  readonly maxFrameBytes?: number
  /** A text that occurs once in each item charged by number, and is counted in replies too large to hold. */
  readonly itemMark?: string
  /**
   * Whether a stream that begins like this lacks the event that official clients need first, so that it has to be
   * written anew; null: more bytes are needed. Absent: there is no such event.
   */
  lacksStart?(beginning: Uint8Array): boolean | null
  watcher(options: WatchOptions): Watcher
  whole(body: Uint8Array, peek: Peek, quirks: ReplyQuirks): WholeReply
  /** Whether a large reply with this beginning needs conversion and is held, instead of relayed as it arrives. */
  mustRecode?(head: Uint8Array, peek: Peek): boolean
  /**
   * What the end of a reply too large to hold says; `bytes` may begin anywhere in the reply. `items`: how often
   * `itemMark` occurred in the whole reply.
   */
  tail(bytes: Uint8Array, quirks: ReplyQuirks, peek?: Peek, items?: number): ReplyFacts
  /** Reads the usage that an adapter knows before its reply's bytes have passed; null where it is not valid. */
  statedUsage?(usage: JsonObject, quirks: ReplyQuirks): Usage | null
}

/** For replies that are audio or plain text, or that are sent as a stream though the vendor answered whole. */
export interface MediaSide {
  /** Whether a reply of this media type is not JSON: its bytes are passed on as they arrive. */
  isRaw(mediaType: string): boolean
  /** The facts of such a reply, whose bytes are not parsed; `reported` is its usage, where known from elsewhere. */
  raw(peek: Peek, reported: JsonObject | null, passed: Passed): ReplyFacts
  /** The media type of such a reply, where the vendor's content type is not specific. */
  typeOf?(mediaType: string, peek: Peek): string
  /** For vendors that answer whole where a stream was asked for. */
  replay(peek: Peek, mediaType: string): Replay
  /** For vendors that answer with JSON where plain text was requested, or the reverse; null: as requested. */
  plain?(peek: Peek, mediaType: string): Replay | null
}

/** The parts of a format; those it does not have are absent. */
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

/** A format that clients may use. */
export interface ClientDialect extends Dialect {
  readonly id: ClientDialectId
  readonly client: ClientSide
}

/** A format in which vendors may be asked. */
export interface VendorDialect extends Dialect {
  readonly id: VendorDialectId
  readonly vendor: VendorSide
}

export type Dialects = Readonly<
  Record<ClientDialectId, ClientDialect> & Record<VendorDialectId, VendorDialect>
>

/** Builds the format of this name from its parts. */
export function format<Id extends DialectId, Parts extends Sides>(
  id: Id,
  parts: Parts,
): Dialect & { readonly id: NoInfer<Id> } & NoInfer<Parts> {
  return { id, operation: operationOf[id], ...parts }
}
