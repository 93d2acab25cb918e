// What is asked of a vendor beside text, what it gives, and what an adapter may use to get it from a vendor of its own ways.

import type { Fault } from '../errors.ts'
import type { VendorDialectId } from '../wire/formats.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'

/** Bytes that may be too many for memory: where they are many they lie on disk, until their spool is closed. */
export interface Payload {
  /** Media type in lower case, without parameters; `application/octet-stream` where nobody said. */
  readonly type: string
  readonly size: number
  /**
   * The bytes `[start, end)`, within `size`: from memory or the page cache, at once. `into` may be given to hold them
   * where they must be copied, so that reading all of a payload does not take its size in memory.
   */
  read(start: number, end: number, into?: Uint8Array): Uint8Array
}

/** Takes bytes in order and keeps them. */
export interface Keeper {
  /** Throws MediaFault where the room for such things is full. */
  push(chunk: Uint8Array): void
  end(): Payload
}

/** The payloads of one request; what lies on disk goes with it. */
export interface Spool {
  keeper(type: string): Keeper
  /** What is in memory already and stays there. */
  inMemory(bytes: Uint8Array, type: string): Payload
  /** Once, when nobody reads them any more. */
  close(): void
}

/** A file of a form, by the field it came in: `image`, also where the client wrote `image[]` or `image[0]`. */
export interface Upload {
  readonly field: string
  /** The client's own name for it, without any path; never used as a path. */
  readonly name: string
  readonly payload: Payload
  /** Of audio and video whose container says it. */
  readonly seconds: number | null
}

/** One request in OpenAI's words, whether it came as JSON or as a form. */
export interface MediaCall {
  readonly dialect: VendorDialectId
  /** The vendor's own name of the model. */
  readonly model: string
  /** By OpenAI's names, with their JSON types also where a form had only text. */
  readonly fields: JsonObject
  readonly uploads: readonly Upload[]
  readonly stream: boolean
}

/** A piece of a body: bytes, or a payload sent from where it lies. */
export type Segment = Uint8Array | Payload

export interface VendorCall {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Whole address; below the channel's base address, or one the vendor named for this job (`polling_url`). */
  readonly url: string
  /** Beside those that sign the channel's calls; names in lower case. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: readonly Segment[]
  /** `application/json` unless given. */
  readonly contentType?: string
  /** Whether the channel's key goes along; unless said, only to the origin of the base address. */
  readonly signed?: boolean
}

export interface VendorHead {
  readonly status: number
  /** By lower-case name. */
  header(name: string): string | null
}

/** A reply read to its end. */
export interface VendorReply extends VendorHead {
  readonly payload: Payload
  /** Throws MediaFault `unreadable` where it is no JSON, or too long for one. */
  json(): JsonValue
}

/** A reply as it comes. */
export interface VendorStream extends VendorHead {
  /** Throws MediaFault where it is cut. To be read to its end, or returned from. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** The attempt has failed: as with any vendor, another channel may take over. */
export class MediaFault extends Error {
  override readonly name = 'MediaFault'
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.message)
    this.fault = fault
  }
}

/** What was asked, or came of it, is against the vendor's rules: the client's own doing, and no other channel's to try. */
export function moderated(message: string): MediaFault {
  return new MediaFault({
    kind: 'rejected',
    message: `The request was refused by the content policy: ${message}`,
    code: 'content_policy_violation',
  })
}

/** What an adapter works with; one per attempt. All of it rejects once the request is over. */
export interface MediaTools {
  /** All that stands before the vendor's own paths, without a trailing slash. */
  readonly baseUrl: string
  readonly spool: Spool
  /** Unix milliseconds. */
  readonly nowMs: number
  /** Where the channel's vendor takes a whole call of this format. */
  addressOf(dialect: VendorDialectId, model: string): string
  /**
   * Asks the channel's vendor. An address of another origin than the base address must be on the public internet.
   * Rejects with MediaFault where it cannot be reached; whatever it answers is a reply.
   */
  ask(call: VendorCall): Promise<VendorReply>
  /** The same, read while it comes. */
  open(call: VendorCall): Promise<VendorStream>
  /** What a reply that is no success means, by the vendor's own way of telling errors. */
  faultOf(reply: VendorReply): MediaFault
  /** Fetches what the vendor says is elsewhere: without credentials, by safe fetch. */
  fetch(url: string): Promise<Payload>
  wait(ms: number): Promise<void>
}

/** As OpenAI reports it, for the reply; the gateway meters by it. */
export type MediaUsage = JsonObject

export interface Picture {
  /** One of both: bytes, or where the vendor keeps them. */
  readonly payload?: Payload
  readonly url?: string
  readonly revisedPrompt?: string
}

/** What every reply may say. */
interface ReplyBase {
  /** Fields the client sent and the vendor does not support, by name. */
  readonly dropped?: readonly string[]
}

export interface ImagesReply extends ReplyBase {
  readonly kind: 'images'
  readonly images: readonly Picture[]
  readonly usage: MediaUsage | null
  /** Of OpenAI's reply: `background`, `output_format`, `quality`, `size`, where the vendor says them. */
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
  /** As OpenAI names it (`english`), or the vendor's code. */
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
  /** Known when the chunks have been read. */
  usage(): MediaUsage | null
}

/** Already in OpenAI's form, JSON or not: the vendor speaks it, but for how it had to be asked. */
interface PlainReply extends ReplyBase {
  readonly kind: 'plain'
  readonly type: string
  readonly chunks: AsyncIterable<Uint8Array>
}

export type MediaReply = ImagesReply | TranscriptReply | SoundReply | PlainReply

/** An adapter whose code is loaded at its first call: most processes never see one. */
export function lazyAdapter(load: () => Promise<MediaAdapter>): MediaAdapter {
  return { serve: async (call, tools) => (await load()).serve(call, tools) }
}

/** A vendor that serves one of OpenAI's operations in a form of its own. */
export interface MediaAdapter {
  /** false: this call goes out as it came, and its reply back as it comes. Always adapted unless given. */
  adapts?(call: MediaCall): boolean
  /** Rejects with MediaFault, or with GatewayError where the vendor cannot be asked this. */
  serve(call: MediaCall, tools: MediaTools): Promise<MediaReply>
}
