// Turns whole replies into event streams, for vendors that do not stream transcripts or speech, and transcripts in JSON
// into text, for those that ignore the requested form.

import type { JsonObject, JsonValue } from '../ir.ts'
import { join } from '../json/splice.ts'
import { isObject, stringOf } from '../json/value.ts'
import type { Replay, ReplyFacts, WholeReply } from '../reply.ts'
import type { Peek } from '../request.ts'
import { type EventSegment, speechDelta, speechDone, transcriptEvents } from './events.ts'
import { positive } from './usage.ts'
import { rawSpeech, wholeTranscript } from './whole.ts'

const encoder = new TextEncoder()
const nothing = new Uint8Array(0)
/** The largest transcript accepted. */
const maxBytes = 16_777_216

const unseen = { usage: null, outputBytes: 0, finishReason: 'stop', model: null }

export class TranscriptReplay implements Replay {
  private readonly peek: Peek
  private readonly isJson: boolean
  private readonly write: (body: JsonObject) => string | null
  private readonly chunks: Uint8Array[] = []
  private byteCount = 0
  readonly type?: string

  /** `written`: what is made of a transcript in JSON, null where that is impossible, and its type; left out: events. */
  constructor(
    peek: Peek,
    mediaType: string,
    written?: { readonly write: TranscriptReplay['write']; readonly type: string },
  ) {
    this.peek = peek
    this.write = written?.write ?? eventsOf
    if (written !== undefined) this.type = written.type
    // A page is no transcript, and not JSON either.
    this.isJson = /json|html/.test(mediaType)
  }

  push(chunk: Uint8Array): Uint8Array {
    this.byteCount += chunk.length
    if (this.byteCount <= maxBytes) this.chunks.push(chunk)
    return nothing
  }

  end(): WholeReply {
    const bytes = join(this.chunks)
    if (this.byteCount > maxBytes) {
      const fault = { kind: 'unreadable', message: 'the reply is too long' } as const
      return { ...unseen, fault, bytes: nothing }
    }
    if (!this.isJson) {
      const text = new TextDecoder().decode(bytes).trim()
      if (this.type !== undefined) return asJson(bytes, text, this.peek)
      const events = transcriptEvents({ text, usage: null })
      const outputBytes = bytes.length
      return { ...unseen, outputBytes, fault: null, bytes: encoder.encode(events) }
    }
    const whole = wholeTranscript(bytes, this.peek)
    if (whole.fault !== null) return { ...whole, bytes: nothing }
    const text = this.write(JSON.parse(new TextDecoder().decode(bytes)) as JsonObject)
    const fault = { kind: 'unreadable', message: 'the transcript has no times' } as const
    return text === null
      ? { ...whole, fault, bytes: nothing }
      : { ...whole, bytes: encoder.encode(text) }
  }
}

/** A transcript in JSON that its vendor calls text, or its text alone where the JSON has no more. */
function asJson(bytes: Uint8Array, text: string, peek: Peek): WholeReply {
  const { response_format: format = 'json' } = JSON.parse(
    new TextDecoder().decode(peek.body),
  ) as JsonObject
  if (text.startsWith('{') || format !== 'json') return wholeTranscript(bytes, peek)
  return wholeTranscript(encoder.encode(JSON.stringify({ text })), peek)
}

/** The events of a body that is already known to be a transcript. */
function eventsOf({ text, usage, segments }: JsonObject): string {
  const spoken = Array.isArray(segments) ? segments.flatMap(spokenSegment) : []
  return transcriptEvents({
    text: String(text),
    segments: spoken,
    usage: isObject(usage) ? usage : null,
  })
}

/** Nothing for a segment without a speaker. */
function spokenSegment(value: JsonValue, at: number): EventSegment[] {
  if (!isObject(value) || typeof value.speaker !== 'string') return []
  const { id, start, end, text, speaker } = value
  return [
    {
      id: typeof id === 'string' ? id : `seg_${at}`,
      start: positive(start) ?? 0,
      end: positive(end) ?? 0,
      text: stringOf(text),
      speaker,
    },
  ]
}

/** Wraps audio in events as it arrives. */
export class SpeechReplay implements Replay {
  private readonly peek: Peek
  private byteCount = 0

  constructor(peek: Peek) {
    this.peek = peek
  }

  push(chunk: Uint8Array): Uint8Array {
    if (chunk.length === 0) return nothing
    this.byteCount += chunk.length
    return encoder.encode(speechDelta(chunk))
  }

  get passed(): ReplyFacts {
    return this.seen(false)
  }

  end(): WholeReply {
    const fault =
      this.byteCount === 0 ? ({ kind: 'unreadable', message: 'the reply is empty' } as const) : null
    const bytes = encoder.encode(speechDone(null))
    return { ...this.seen(true), finishReason: 'stop', fault, bytes }
  }

  private seen(isWhole: boolean) {
    return rawSpeech(this.peek, null, { bytes: this.byteCount, isWhole })
  }
}
