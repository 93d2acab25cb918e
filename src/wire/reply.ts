// How replies are read as they pass: streams frame by frame, whole replies at once.

import type { Fault, GatewayError } from '../errors.ts'
import type { JsonObject, JsonValue, Usage } from './ir.ts'
import { isObject } from './json/value.ts'
import type { Peek, Units } from './request.ts'

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
  /** The usage chunk the client asked for, to be relayed right before the terminator; null where none is. */
  held(): Uint8Array | null
  /** Whether the frame last given said something new: a `usage` frame may also carry text. */
  readonly semantic: boolean
  readonly fault: Fault | null
  readonly usage: Usage | null
  /** Usage was reported that cannot be believed: it is counted, and logged. */
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

/** What a reply says of itself. */
export interface ReplyFacts {
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

/** A whole reply, judged: either a fault, or the bytes for the client with what they say. */
export interface WholeReply extends ReplyFacts {
  readonly fault: Fault | null
  readonly bytes: Uint8Array
}

/** Tells a whole reply as the stream that was asked for; one per reply. */
export interface Replay {
  /** Bytes of the reply to frames for the client, as far as there are any yet. */
  push(chunk: Uint8Array): Uint8Array
  /** The last frames as `bytes`, or the fault that the reply is. */
  end(): WholeReply
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

/** One frame of a stream as the object it holds; else what is wrong with it, as a fault's message. */
export function frameObject(data: string): JsonObject | string {
  let frame: JsonValue
  try {
    frame = JSON.parse(data) as JsonValue
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return 'an event of the stream is not JSON'
  }
  return isObject(frame) ? frame : 'an event of the stream is no object'
}
