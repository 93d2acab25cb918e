// Types for calls other than text: what a vendor is asked, what it returns, and the tools of adapters.

import type { Fault } from '../errors.ts'
import type { VendorDialectId } from '../wire/formats.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'

/** Bytes that may be too many for memory: large ones are on disk, and are deleted when their spool is closed. */
export interface Payload {
  /** Media type in lower case, without parameters; `application/octet-stream` where it is unknown. */
  readonly type: string
  readonly size: number
  /**
   * The bytes `[start, end)`, within `size`, read synchronously from memory or the page cache. `into` may be given as a
   * buffer for the copy, so that reading a whole payload does not need its size in memory.
   */
  read(start: number, end: number, into?: Uint8Array): Uint8Array
}

/** Stores bytes in the order given. */
export interface Keeper {
  /** Throws MediaFault where the space for payloads is full. */
  push(chunk: Uint8Array): void
  end(): Payload
}

/** The payloads of one request; those on disk are deleted with it. */
export interface Spool {
  keeper(type: string): Keeper
  /** A payload of bytes that are in memory and stay there. */
  inMemory(bytes: Uint8Array, type: string): Payload
  /** Called once, when the payloads are not read any more. */
  close(): void
}

/** A file of a form, by its field: `image`, also where the client wrote `image[]` or `image[0]`. */
export interface Upload {
  readonly field: string
  /** The client's name of the file, without any path; never used as a path. */
  readonly name: string
  readonly payload: Payload
  /** The length of audio or video, where its container states it. */
  readonly seconds: number | null
}

/** One request in OpenAI's form, whether it came as JSON or as a form. */
export interface MediaCall {
  readonly dialect: VendorDialectId
  /** The vendor's own name of the model. */
  readonly model: string
  /** By OpenAI's names, with their JSON types, even if a form had only text. */
  readonly fields: JsonObject
  readonly uploads: readonly Upload[]
  readonly stream: boolean
}

/** A piece of a body: bytes, or a payload that is read while it is sent. */
export type Segment = Uint8Array | Payload

export interface VendorCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The whole URL, below the channel's base address, or one that the vendor named for this job (`polling_url`). */
  readonly url: string
  /** Headers in addition to those that sign the channel's calls; names in lower case. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: readonly Segment[]
  /** `application/json` by default. */
  readonly contentType?: string
  /** Whether the channel's key is sent; by default only to the origin of the base address. */
  readonly signed?: boolean
}

export interface VendorHead {
  readonly status: number
  /** The value of a header, by its lower-case name. */
  header(name: string): string | null
}

/** A reply that was read to its end. */
export interface VendorReply extends VendorHead {
  readonly payload: Payload
  /** Throws MediaFault `unreadable` where it is not JSON, or too long to parse. */
  json(): JsonValue
}

/** A reply that is still arriving. */
export interface VendorStream extends VendorHead {
  /** Throws MediaFault where it is cut. Must be read to its end, or returned from. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** Fails the attempt: as with any vendor, another channel may take over. */
export class MediaFault extends Error {
  override readonly name = 'MediaFault'
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.message)
    this.fault = fault
  }
}

/** The request or its result violates the vendor's rules: the client's own fault, so no other channel is tried. */
export function moderated(message: string): MediaFault {
  return new MediaFault({
    kind: 'rejected',
    message: `The request was refused by the content policy: ${message}`,
    code: 'content_policy_violation',
  })
}

/** The tools of an adapter, one set per attempt. Every call rejects once the request is over. */
export interface MediaTools {
  /** The part of every URL before the vendor's own paths, without a trailing slash. */
  readonly baseUrl: string
  readonly spool: Spool
  /** Unix milliseconds. */
  readonly nowMs: number
  /** The URL at which the channel's vendor takes a whole call in this dialect. */
  addressOf(dialect: VendorDialectId, model: string): string
  /**
   * Sends a request to the channel's vendor. A URL of another origin than the base address must be on the public
   * internet. Rejects with MediaFault where it cannot be reached; any answer, also an error, is a reply.
   */
  ask(call: VendorCall): Promise<VendorReply>
  /** The same, with a reply that is read while it arrives. */
  open(call: VendorCall): Promise<VendorStream>
  /** The fault that an unsuccessful reply means, by the vendor's own form of errors. */
  faultOf(reply: VendorReply): MediaFault
  /**
   * Fetches a file that the client named: without credentials, from the public internet alone, as large as an upload
   * may be. One at a time. Rejects with MediaFault `unreadable` that says why it cannot be had.
   */
  fetch(url: string): Promise<Payload>
  wait(ms: number): Promise<void>
}

/** Usage in OpenAI's form, for the reply; the gateway meters by it. */
export type MediaUsage = JsonObject

export interface Picture {
  /** Either the bytes, or the URL where the vendor keeps them. */
  readonly payload?: Payload
  readonly url?: string
  readonly revisedPrompt?: string
}

/** Members of every reply. */
interface ReplyBase {
  /** Names of the fields that the client sent and the vendor does not support. */
  readonly dropped?: readonly string[]
}

export interface ImagesReply extends ReplyBase {
  readonly kind: 'images'
  readonly images: readonly Picture[]
  readonly usage: MediaUsage | null
  /** Members of OpenAI's reply (`background`, `output_format`, `quality`, `size`) that the vendor reports. */
  readonly said?: JsonObject
}

/** Times in seconds. */
export interface SpokenPart {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly speaker?: string
}

export interface Word {
  readonly start: number
  readonly end: number
  readonly word: string
}

export interface TranscriptReply extends ReplyBase {
  readonly kind: 'transcript'
  readonly text: string
  /** OpenAI's name (`english`), or the vendor's code. */
  readonly language: string | null
  readonly seconds: number | null
  readonly segments: readonly SpokenPart[] | null
  readonly words: readonly Word[] | null
  readonly usage: MediaUsage | null
}

export interface SoundReply extends ReplyBase {
  readonly kind: 'sound'
  readonly type: string
  readonly chunks: AsyncIterable<Uint8Array>
  /** Known once the chunks have been read. */
  usage(): MediaUsage | null
}

/** A reply already in OpenAI's form, from a vendor that only has to be asked in another way. */
interface PlainReply extends ReplyBase {
  readonly kind: 'plain'
  readonly type: string
  readonly chunks: AsyncIterable<Uint8Array>
}

export type MediaReply = ImagesReply | TranscriptReply | SoundReply | PlainReply

/** Throws MediaFault where the reply is not a success. */
export function checkSuccess(reply: VendorReply, tools: Pick<MediaTools, 'faultOf'>): void {
  if (reply.status < 200 || reply.status >= 300) throw tools.faultOf(reply)
}

/** An adapter whose code is loaded at its first call: most processes never use it. */
export function lazyAdapter(load: () => Promise<MediaAdapter>): MediaAdapter {
  return { serve: async (call, tools) => (await load()).serve(call, tools) }
}

/** Serves one of OpenAI's operations for a vendor with a form of its own. */
export interface MediaAdapter {
  /** False: this call and its reply are relayed unchanged. Absent: every call is adapted. */
  adapts?(call: MediaCall): boolean
  /** Rejects with MediaFault, or with GatewayError where the vendor cannot be asked this. */
  serve(call: MediaCall, tools: MediaTools): Promise<MediaReply>
}
