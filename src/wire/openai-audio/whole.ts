// Inspects whole audio replies: a transcript in JSON, or bytes that are passed on without parsing.

import type { JsonObject } from '../ir.ts'
import { JsonSyntaxError, parseSpan, valueEnd } from '../json/scan.ts'
import { isObject } from '../json/value.ts'
import { wholeMedia } from '../openai/media.ts'
import { lastMember } from '../openai/whole.ts'
import type { Passed, WholeReply } from '../reply.ts'
import type { Peek } from '../request.ts'
import { readSoundUsage, reportedSeconds, spokenUsage, transcriptUnits } from './usage.ts'

type Seen = Omit<WholeReply, 'fault' | 'bytes'>

/** A transcript in any of OpenAI's JSON forms. */
export function wholeTranscript(bytes: Uint8Array, peek: Peek): WholeReply {
  return wholeMedia(bytes, (body) => {
    const { text, model } = body
    if (typeof text !== 'string') return { kind: 'unreadable', message: 'the reply has no text' }
    const sound = readSoundUsage(body.usage)
    return {
      usage: sound.usage,
      ...(sound.unbelieved && { unbelieved: true }),
      outputBytes: sound.usage === null ? new TextEncoder().encode(text).length : null,
      finishReason: null,
      model: typeof model === 'string' ? model : null,
      units: transcriptUnits(body, sound, peek),
    }
  })
}

/** Usage is at the end of a transcript, even if that is too long to hold. */
export function tailTranscript(bytes: Uint8Array, peek?: Peek): Seen {
  const { value } = lastMember(bytes, 'usage', bytes.length)
  return seenOf(value < 0 ? undefined : objectAt(bytes, value), peek, bytes.length)
}

function objectAt(bytes: Uint8Array, at: number): JsonObject | undefined {
  try {
    const value = parseSpan(bytes, at, valueEnd(bytes, at))
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

/** The facts of a transcript passed on without parsing, from usage reported elsewhere, else by its bytes of text. */
export function rawTranscript(peek: Peek, reported: JsonObject | null, { bytes }: Passed): Seen {
  return seenOf(reported ?? undefined, peek, bytes)
}

function seenOf(
  reported: JsonObject | undefined,
  peek: Peek | undefined,
  outputBytes: number,
): Seen {
  const { usage, seconds, unbelieved } = readSoundUsage(reported)
  const second = peek === undefined ? seconds : reportedSeconds(seconds, peek)
  return {
    usage,
    ...(unbelieved && { unbelieved }),
    outputBytes: usage === null ? outputBytes : null,
    finishReason: null,
    model: null,
    ...(second !== null && { units: { second } }),
  }
}

/**
 * Speech without reported usage: the tokens likely for the text's length, given as bytes of text. Of speech that broke
 * off, the part that passed.
 */
export function rawSpeech(
  peek: Peek,
  reported: JsonObject | null,
  { bytes, isWhole }: Passed,
): Seen {
  const seen = seenOf(reported ?? undefined, peek, 0)
  if (seen.usage !== null) return { ...seen, usage: spokenUsage(seen.usage) }
  const { likelyUnits: likely = {} } = peek
  const seconds = likely['second'] ?? 0
  const outputBytes = seconds * speechTokensPerSecond * countedBytesPerToken
  const part = isWhole ? 1 : bytes / (seconds * leastSpeechBytesPerSecond)
  if (part >= 1) return { ...seen, outputBytes }
  const units = Object.fromEntries(
    Object.entries(likely).map(([name, count]) => [name, Math.ceil(count * part)]),
  )
  return { ...seen, outputBytes: Math.ceil(outputBytes * part), units }
}

/** Opus of 32 kbit/s; other formats have more. */
const leastSpeechBytesPerSecond = 4_000

/** OpenAI's voices take about 20 tokens per second. */
const speechTokensPerSecond = 20
/** The token count takes four bytes as one token. */
const countedBytesPerToken = 4
