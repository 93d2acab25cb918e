// One wire format, both directions: what the relay may ask of it. Pure and synchronous, bytes in and out.

import type { Fault, GatewayError } from '../errors.ts'
import type {
  ChatEvent,
  ChatRequest,
  FilePart,
  ImagePart,
  JsonObject,
  JsonValue,
  Tool,
  Usage,
} from './ir.ts'
import type { ListReply, ListRequest } from './list/list.ts'

export type DialectId =
  | 'openai-chat'
  | 'openai-completions'
  | 'openai-embeddings'
  | 'openai-responses'
  | 'openai-compaction'
  | 'anthropic-messages'
  | 'gemini'
  | 'cohere-v2'
  | 'bedrock-converse'
  | 'google-embed'
  | 'gemini-embeddings'
  | 'cohere-embed'
  | 'voyage-embeddings'
  | 'rerank'
  | 'cohere-rerank'
  | 'jina-rerank'
  | 'voyage-rerank'
  | 'openai-images'
  | 'openai-image-edits'
  | 'openai-image-variations'
  | 'openai-transcriptions'
  | 'openai-translations'
  | 'openai-speech'
  | 'openai-moderations'
  | 'openai-realtime'
  | 'openai-videos'
export type Operation =
  | 'chat'
  | 'completion'
  | 'embedding'
  | 'rerank'
  | 'image'
  | 'transcription'
  | 'translation'
  | 'speech'
  | 'moderation'
  | 'realtime'
  | 'video'

/** A half-open range of byte offsets. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Counts of what is not tokens, by price name. */
export type Units = Readonly<Record<string, number>>

/** A file of a form, as far as a format has to know of it. */
export interface FileInfo {
  readonly field: string
  readonly name: string
  /** Media type in lower case, as the bytes themselves show it where they do, else as the client said. */
  readonly type: string
  readonly size: number
  /** Of audio and video whose container says it. */
  readonly seconds: number | null
}

/**
 * The fields of a form, and what each is: text is turned into the JSON type of that name. `files` may come several
 * times, as `name`, `name[]` or `name[0]`; `list` likewise, and is a list of texts.
 */
export type FormFields = Readonly<
  Record<string, 'text' | 'number' | 'boolean' | 'json' | 'list' | 'file' | 'files'>
>

/** What decides an image's price and whether a model makes such. */
export interface PictureAsk {
  /** `WIDTHxHEIGHT`, `auto`, or what else the client wrote; null where it said nothing. */
  readonly size: string | null
  readonly quality: string | null
  readonly count: number
  /** Images on the way to each that a stream shows. */
  readonly partials: number
  /** Images given, the mask included. */
  readonly inputs: number
}

/** What the gateway needs to know of a request, and where it stands in the bytes. */
export interface Peek {
  /** The bytes all spans refer to: the client's own, but for names spelled plainly and members in `dropped`. */
  readonly body: Uint8Array
  readonly model: string
  /** The model's JSON string, quotes included; null where the address names the model. */
  readonly modelSpan: Span | null
  readonly stream: boolean
  /** The client asked for usage on the stream itself (`stream_options.include_usage`). */
  readonly wantsUsage: boolean
  /** The value of `stream_options`, where present and not null. */
  readonly streamOptionsSpan: Span | null
  /** Offset of the closing brace of the body. */
  readonly bodyEnd: number
  readonly maxOutputTokens: number | null
  /** As many tokens may come whatever `maxOutputTokens` says: some vendors read other members. */
  readonly leastOutputTokens?: number
  /** Members that were cut out of the body, for which the client is told. */
  readonly dropped?: readonly string[]
  /** Replies that are made: `n`, or the `best_of` it is chosen from, for each of the prompts. */
  readonly choices: number
  /** The first image part, as a parameter path (`messages[1].content[0]`), else null. */
  readonly imageParam: string | null
  /** Where in the body the parts begin that are more than text: pictures, sound, films, documents; absent: none. */
  readonly attachments?: readonly number[] | undefined
  /** How closely they are looked at where they do not say, in the client's word. */
  readonly attachmentDetail?: string | null
  /** Names of all members at the top level. */
  readonly keys: readonly string[]
  /** Embeddings: what the client expects back. */
  readonly encodingFormat: 'float' | 'base64'
  /** Embeddings: the input holds token ids and not text. */
  readonly tokenInput: boolean
  /** What is charged beside tokens, by price name (`image/1024x1024/hd`, `second`, `character`): at most so many. */
  readonly units?: Units
  /** Tokens of the prompt at most, where the body's bytes do not tell. */
  readonly inputTokens?: number
  /** Of requests for images. */
  readonly picture?: PictureAsk
  /** What is charged where the reply does not say, where `units` are only the most it can be. */
  readonly likelyUnits?: Units
  /** The longest that sound of a file's size can last: no report of more is believed. */
  readonly mostSeconds?: number
  /** Tokens of sound in files, which no byte of the body shows. */
  readonly audioTokens?: { readonly most: number; readonly likely: number }
  /** What a vendor of this format is told otherwise than the client said. */
  readonly vendorEdits?: readonly (Span & { readonly text: string })[]
}

/** What a request's address says, where a format keeps it there and not in the body. */
export interface Address {
  readonly model?: string
  readonly stream?: boolean
  /** The client's headers of `Dialect.clientHeaders` and `stateHeaders`, where it sent them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Only the tokens of the request are to be counted. */
  readonly counts?: true
  /** The files of a form; the body is then its other fields as JSON. */
  readonly files?: readonly FileInfo[]
  /** The stream is to be one JSON list in place of events (Gemini without `alt=sse`). */
  readonly list?: boolean
}

/** Puts a reply's stream into another frame on its way out; one per reply. */
export interface Reframe {
  readonly contentType: string
  push(chunk: Uint8Array): Uint8Array
  end(): Uint8Array
}

/** What a stream frame is to the relay. Plain numbers: one is made per frame. */
export const frameKind = {
  /** Comments, empty deltas, role openers: nothing a caller would miss after a failover. */
  lifecycle: 0,
  /** Content, tool call, reasoning, refusal or finish: from here on the reply is committed. */
  semantic: 1,
  /** Carries usage: to be passed through `Watcher.amend` before it is relayed. */
  usage: 2,
  /** The stream's terminator. */
  done: 3,
  /** An error in the vendor's stream: `Watcher.fault` says which. */
  fault: 4,
  /** Not relayed: it says nothing, or is no frame of this format. */
  empty: 5,
} as const
export type FrameKind = (typeof frameKind)[keyof typeof frameKind]

export interface WatchOptions {
  readonly wantsUsage: boolean
  /** What was asked, where the stream alone does not say when it has ended. */
  readonly peek?: Peek
  readonly quirks: ReplyQuirks
}

/** How a vendor's replies differ from the dialect they claim to speak. */
export interface ReplyQuirks {
  /** Corrects the JSON value of `usage` before it is read or shown, e.g. a count without reasoning. */
  readonly usage?: (usage: JsonObject) => JsonObject
  /** Where usage hides when it is not at the top level of the frame, e.g. ['x_groq', 'usage']. */
  readonly usagePath?: readonly string[]
  /** The replies must be re-written event by event, e.g. content as an array: takes the translate path. */
  readonly rewrite?: boolean
}

/** Looks at one streamed reply on the identity path, frame by frame, without altering it. */
export interface Watcher {
  /** One whole frame `bytes[start, end)`, its blank line included. */
  frame(bytes: Uint8Array, start: number, end: number): FrameKind
  /** The bytes to relay in place of the `usage` frame just given; null where nothing is relayed now. */
  amend(bytes: Uint8Array, start: number, end: number): Uint8Array | null
  /** The usage chunk the client is owed, to be relayed right before the terminator; null where none is. */
  held(): Uint8Array | null
  /** Whether the frame last given said something new: a `usage` frame may also carry text. */
  readonly semantic: boolean
  readonly fault: Fault | null
  readonly usage: Usage | null
  /** Usage was reported that cannot be believed: it is counted, and the operator told. */
  readonly unbelieved?: boolean
  /** Bytes of generated text seen so far, for counting when no usage is reported. */
  readonly outputBytes: number
  /** A finish reason was seen for some choice. */
  readonly finishReason: string | null
  readonly model: string | null
  /** The frame last given was the stream's terminal event, whatever its kind. */
  readonly ended?: boolean
  /** What the reply brought of what is charged beside tokens; absent: as was expected. */
  readonly units?: Units | null
  /** Where frames may be too long to be held: whether one that begins so may be passed on as it comes. */
  mayPass?(beginning: Uint8Array): boolean
  /** What a frame was that passed, by its beginning and its end. */
  passed?(beginning: Uint8Array, end: Uint8Array): FrameKind
  /** The frames that end the stream in an error, where they depend on what was said; else the dialect's own. */
  fail?(error: GatewayError, requestId: string): string
}

/** A whole reply, judged: either a fault, or the bytes for the client with what they say. */
export interface WholeReply {
  readonly fault: Fault | null
  readonly bytes: Uint8Array
  readonly usage: Usage | null
  /** As `Watcher.unbelieved`. */
  readonly unbelieved?: boolean
  /** Bytes of generated text; null where usage was reported, so that nobody needs to count. */
  readonly outputBytes: number | null
  readonly finishReason: string | null
  readonly model: string | null
  /** As `Watcher.units`. */
  readonly units?: Units | null
}

/** Tells a whole reply as the stream that was asked for; one per reply. */
export interface Replay {
  /** Bytes of the reply to frames for the client, as far as there are any yet. */
  push(chunk: Uint8Array): Uint8Array
  /** The last frames as `bytes`, or the fault that the reply is. */
  end(): WholeReply
}

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

/** Cuts a vendor's stream into the data of its frames, given in any pieces. */
export interface FrameSource {
  /** Data of the frames completed, in order, without a terminator. Throws FrameError where they cannot be read. */
  push(chunk: Uint8Array): readonly string[]
  end(): readonly string[]
  /** The stream's terminator was seen. */
  readonly done: boolean
  /** A stream whose connection ends before it is `done` was cut, whatever it said. */
  readonly mustEnd?: boolean
}

/** A stream that cannot be cut into frames: too long a frame, a wrong checksum. */
export class FrameError extends Error {
  override readonly name = 'FrameError'
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
export interface AskedOf {
  readonly request: ChatRequest
  /** The vendor's own name of the model. */
  readonly model: string
}

/** The hub's side of a dialect: what a format with another on the far side needs. */
export interface HubCodec {
  /** `address` is the request's own. Throws GatewayError `invalid_request_error` naming the field. */
  decodeRequest(body: JsonObject, address?: Address): Decoded<ChatRequest>
  /**
   * Throws GatewayError where leaving out what this format cannot say would change what is asked; the rest is named in
   * `dropped`.
   */
  encodeRequest(request: ChatRequest, model: string): Decoded<JsonObject>
  /** The vendor cannot fetch this itself: it is to be given the bytes (a `data:` address). Never unless given. */
  needsBytes?(part: ImagePart | FilePart): boolean
  /** A tool that another format's vendors run themselves, and this one's too: it is encoded. Never unless given. */
  hasToo?(tool: Extract<Tool, { readonly type: 'other' }>): boolean
  reader(quirks: ReplyQuirks, asked?: AskedOf): Reader
  /** Replays a whole reply as the events of its stream. */
  readWhole(body: JsonValue, quirks: ReplyQuirks, asked?: AskedOf): readonly ChatEvent[]
  writer(head: WriterHead): Writer
  /** Folds events into a whole reply. Throws UnfitReply. */
  writeWhole(events: readonly ChatEvent[], head: WriterHead): JsonObject
}

/** A dialect's side of embeddings and reranking. */
export interface ListCodec {
  /** Throws GatewayError `invalid_request_error` naming the field. */
  decodeRequest(body: JsonObject, address?: Address): Decoded<ListRequest>
  /** Throws GatewayError where the vendor cannot be asked this. */
  encodeRequest(request: ListRequest, model: string): Decoded<JsonObject>
  readReply(body: JsonValue, request: ListRequest): ListReply | Fault
  /** Throws BadVector where a vector is none. */
  writeReply(reply: ListReply, request: ListRequest, head: WriterHead): JsonObject
}

export interface Dialect {
  readonly id: DialectId
  readonly operation: Operation
  /** Where the gateway itself is asked, below the prefix; names the endpoint in logs and metrics. */
  readonly path: string
  /** What the ids of its replies begin with, e.g. `chatcmpl-`. */
  readonly idPrefix: string
  /** What a stream ends with (`data: [DONE]`), for vendors that leave it out; empty where the format has none. */
  readonly terminator: string
  /** Usage comes on every stream of this format, which has no `stream_options` to ask for it. */
  readonly usageAlways?: true
  /** What a quiet stream is sent, which every client passes over. */
  readonly heartbeat: string
  /** Headers of the client that mean something in this format, in lower case: they go on to a vendor that speaks it. */
  readonly clientHeaders?: readonly string[]
  /** Headers a vendor of this format answers with and wants back from its client, in lower case. */
  readonly stateHeaders?: readonly string[]
  /** Requests may also come as a form of these fields (`multipart/form-data`). */
  readonly form?: FormFields
  /** Requests come as a form alone. */
  readonly formOnly?: true
  /** Replies may be other than JSON: bytes of this media type are the reply, passed on as they come. */
  isRaw?(mediaType: string): boolean
  /** The longest event of a stream, in bytes; 1 MiB unless given. */
  readonly maxFrameBytes?: number
  /** Validates and locates. Throws GatewayError `invalid_request_error` naming the field. */
  peek(body: Uint8Array, address?: Address): Peek
  /** How this format's vendors cut their streams; server-sent events unless given. */
  frames?(): FrameSource
  watcher(options: WatchOptions): Watcher
  whole(body: Uint8Array, peek: Peek, quirks: ReplyQuirks): WholeReply
  /** Whether a reply that begins so and is too large to hold has to be brought to another form, for which it is held. */
  mustRecode?(head: Uint8Array, peek: Peek): boolean
  /**
   * What the end of a reply too large to hold says; `bytes` may begin anywhere in it. `items`: how often `itemMark`
   * stood in all of it.
   */
  tail(
    bytes: Uint8Array,
    quirks: ReplyQuirks,
    peek?: Peek,
    items?: number,
  ): Omit<WholeReply, 'fault' | 'bytes'>
  /** A text that each thing of a reply brings that is charged by its number: counted in one too large to hold. */
  readonly itemMark?: string
  /** What a reply says whose bytes are passed on unread (`isRaw`); `told` is its usage, where known from elsewhere. */
  raw?(peek: Peek, told: JsonObject | null): Omit<WholeReply, 'fault' | 'bytes'>
  /** The media type of such a reply, where the vendor's own word says nothing. */
  typeOf?(mediaType: string, peek: Peek): string
  /** For vendors that answer whole where a stream was asked for. */
  replay?(peek: Peek, mediaType: string): Replay
  /** Reads a vendor's error reply. `header` looks a reply header up by lower-case name. */
  fault(status: number, header: (name: string) => string | null, body: string): Fault
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
  readonly hub: HubCodec | null
  /** Texts of which one stands in every body that offers tools, or tells of calls, of types some vendors of this format lack. */
  readonly toolMarks?: readonly string[]
  /** The member that holds what a vendor sealed for its own account and wants back; undefined where any account may have it. */
  readonly sealName?: string
  /** The format whose replies hold what is brought back here sealed, where it is another. */
  readonly sealedBy?: DialectId
  /** The common form of embeddings and reranking, where the operation is one of these. */
  readonly list?: ListCodec
}
