// Contracts for reading replies on the way from vendor to client: streams frame by frame, whole replies at once.

import type { Fault, GatewayError } from '../errors.ts'
import type { JsonObject, JsonValue, Usage } from './ir.ts'
import { isObject } from './json/value.ts'
import type { Peek, Units } from './request.ts'

/** Changes the framing of a reply's stream on its way to the client; one per reply. */
export interface Reframe {
  readonly contentType: string
  push(chunk: Uint8Array): Uint8Array
  end(): Uint8Array
}

/** What a stream frame means to the relay. Plain numbers, because one is produced for every frame. */
export const frameKind = {
  /** Comments, empty deltas, role openers: nothing a client would miss if another channel took over. */
  lifecycle: 0,
  /** Content, tool call, reasoning, refusal or finish: the commit point. */
  semantic: 1,
  /** Carries usage: must pass through `Watcher.amend` before it is relayed. */
  usage: 2,
  /** The stream's terminator. */
  done: 3,
  /** An error in the vendor's stream: `Watcher.fault` says which. */
  fault: 4,
  /** Not relayed: it carries nothing, or is not a frame of this format. */
  empty: 5,
} as const
export type FrameKind = (typeof frameKind)[keyof typeof frameKind]

/** How much of a reply passed that is not parsed. */
export interface Passed {
  readonly bytes: number
  /** It ended well. */
  readonly isWhole: boolean
}

export interface WatchOptions {
  readonly wantsUsage: boolean
  /** The request, for formats whose stream alone does not show when it has ended. */
  readonly peek?: Peek
  readonly quirks: ReplyQuirks
}

/** How a vendor's replies differ from the dialect they claim to speak. */
export interface ReplyQuirks {
  /** Corrects the JSON value of `usage` before it is read or shown, e.g. a count that leaves out reasoning. */
  readonly usage?: (usage: JsonObject) => JsonObject
  /** Path of usage where it is not at the top level of the frame, e.g. ['x_groq', 'usage']. */
  readonly usagePath?: readonly string[]
  /** The reply must be rewritten event by event (e.g. its content is an array), so it takes the translate path. */
  readonly rewrite?: boolean
  /** Citations of its Responses have an address alone, where official clients require a title and a place. */
  readonly bareCitations?: boolean
}

/** Looks at one streamed reply on the identity path, frame by frame, without altering it. */
export interface Watcher {
  /** Reads one whole frame `bytes[start, end)`, its blank line included. */
  frame(bytes: Uint8Array, start: number, end: number): FrameKind
  /** The bytes to relay in place of the `usage` frame just given; null where nothing is relayed now. */
  amend(bytes: Uint8Array, start: number, end: number): Uint8Array | null
  /** The usage chunk the client asked for, to be relayed right before the terminator; null if there is none. */
  held(): Uint8Array | null
  /** Whether the frame last given said something new: a `usage` frame may also carry text. */
  readonly semantic: boolean
  readonly fault: Fault | null
  readonly usage: Usage | null
  /** The vendor reported implausible usage: tokens are counted instead, and the incident is logged. */
  readonly unbelieved?: boolean
  /** Bytes of generated text seen so far, for counting when no usage is reported. */
  readonly outputBytes: number
  /** A finish reason was seen for some choice. */
  readonly finishReason: string | null
  /** Of several choices one has begun and has no finish reason, so that a stream that ends now was cut off. */
  readonly unended?: boolean
  /** The stream may end here, although it brought less than was asked for. */
  readonly mayEnd?: boolean
  readonly model: string | null
  /** The frame last given was the stream's terminal event, whatever its kind. */
  readonly ended?: boolean
  /** The terminator last given has blanks that clients fail at: the format's own is relayed in its place. */
  readonly endsOddly?: boolean
  /** Quantities other than tokens that the reply was charged for; absent: as the request led to expect. */
  readonly units?: Units | null
  /** For frames that may be too long to hold: whether a frame that begins like this may be relayed as it arrives. */
  mayPass?(beginning: Uint8Array): boolean
  /** Classifies a frame that was relayed as it arrived, from its beginning and its end. */
  passed?(beginning: Uint8Array, end: Uint8Array): FrameKind
  /**
   * The frames that end the stream with an error, if they depend on earlier frames; else the dialect's own are used.
   */
  fail?(error: GatewayError, requestId: string): string
}

/** What a reply states about itself. */
export interface ReplyFacts {
  readonly usage: Usage | null
  /** See `Watcher.unbelieved`. */
  readonly unbelieved?: boolean
  /** Bytes of generated text; null where usage was reported and no count is needed. */
  readonly outputBytes: number | null
  readonly finishReason: string | null
  readonly model: string | null
  /** See `Watcher.units`. */
  readonly units?: Units | null
}

/** A whole reply after inspection: either a fault, or the bytes for the client and the facts read from them. */
export interface WholeReply extends ReplyFacts {
  readonly fault: Fault | null
  readonly bytes: Uint8Array
}

/** Turns a whole reply into the stream that the client asked for; one per reply. */
export interface Replay {
  /** The media type of what it gives; left out: a stream of events. */
  readonly type?: string
  /** Takes the next bytes of the reply; gives the frames for the client that are complete so far. */
  push(chunk: Uint8Array): Uint8Array
  /** The last frames as `bytes`, or the fault if the reply is one. */
  end(): WholeReply
  /** What passed so far, where the client gets it as it arrives. */
  readonly passed?: ReplyFacts
}

/** Cuts a vendor's stream, given in any pieces, into the data of its frames. */
export interface FrameSource {
  /** The data of each frame that is now complete, in order, without the terminator. Throws FrameError if unreadable. */
  push(chunk: Uint8Array): readonly string[]
  end(): readonly string[]
  /** The stream's terminator was seen. */
  readonly done: boolean
  /** The format always ends its streams: one whose connection closes before `done` was cut off. */
  readonly mustEnd?: boolean
}

/** A stream that cannot be cut into frames: too long a frame, a wrong checksum. */
export class FrameError extends Error {
  override readonly name = 'FrameError'
}

/** Parses one frame of a stream into the object it holds, or gives what is wrong with it as a fault's message. */
export function frameObject(
  data: string,
  parse: (data: string) => JsonValue = JSON.parse,
): JsonObject | string {
  let frame: JsonValue
  try {
    frame = parse(data)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return 'an event of the stream is not JSON'
  }
  return isObject(frame) ? frame : 'an event of the stream is no object'
}
