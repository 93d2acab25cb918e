// Reads the usage of realtime responses, and of transcriptions within a session, into disjoint token kinds.

import { believed, countOf as count, Remainder } from '../hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { isObject, objectOf } from '../json/value.ts'

/** The longest duration that is believed, in seconds: one day. */
const maxSeconds = 86_400

function objectIn(parent: JsonObject, name: string): JsonObject {
  const value = parent[name]
  return isObject(value) ? value : {}
}

/**
 * Reads `usage` of a `response.done` (OpenAI, "Realtime server events"), where the prompt counts, also those by
 * medium, include cached tokens. Null where neither prompt nor reply was counted.
 */
export function readRealtimeUsage(value: JsonValue | undefined): Usage | null {
  return isObject(value) ? believed(value, read) : null
}

function read(value: JsonObject): Usage | null {
  const [prompt, reply] = [count(value.input_tokens), count(value.output_tokens)]
  if (prompt === null && reply === null) return null
  return { ...readPrompt(value, prompt ?? 0), ...readReply(value, reply ?? 0) }
}

/** How many of the cached tokens are audio and images; together never more than were cached. */
export interface CachedMedia {
  readonly audio: number
  readonly image: number
}

export function readCachedMedia(value: JsonValue | undefined): CachedMedia {
  const details = objectIn(objectOf(value), 'input_token_details')
  const media = objectIn(details, 'cached_tokens_details')
  const rest = new Remainder(readRealtimeUsage(value)?.cachedInput ?? 0)
  const audio = rest.take(count(media.audio_tokens) ?? 0)
  return { audio, image: rest.take(count(media.image_tokens) ?? 0) }
}

function readPrompt(usage: JsonObject, prompt: number) {
  const details = objectIn(usage, 'input_token_details')
  const cachedDetails = objectIn(details, 'cached_tokens_details')
  const rest = new Remainder(prompt)
  const cachedInput = rest.take(count(details.cached_tokens) ?? 0)
  const fresh = (name: string) => (count(details[name]) ?? 0) - (count(cachedDetails[name]) ?? 0)
  const audioInput = rest.take(fresh('audio_tokens'))
  const imageInput = rest.take(fresh('image_tokens'))
  return {
    input: rest.left,
    cachedInput,
    cacheWrite: 0,
    ...(audioInput > 0 && { audioInput }),
    ...(imageInput > 0 && { imageInput }),
  }
}

function readReply(usage: JsonObject, reply: number) {
  const details = objectIn(usage, 'output_token_details')
  const rest = new Remainder(reply)
  const audioOutput = rest.take(count(details.audio_tokens) ?? 0)
  const reasoning = rest.take(count(details.reasoning_tokens) ?? 0)
  return { output: rest.left, reasoning, ...(audioOutput > 0 && { audioOutput }) }
}

/** The usage of a transcription: tokens, or the seconds of its audio. */
export interface TranscriptUsage {
  readonly usage: Usage
  readonly seconds: number | null
}

const nothing: Usage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** Reads `usage` of a `conversation.item.input_audio_transcription.completed`; null where it has no counts. */
export function readTranscriptUsage(value: JsonValue | undefined): TranscriptUsage | null {
  if (!isObject(value)) return null
  const { type, seconds } = value
  if (type === 'duration') {
    const said = typeof seconds === 'number' && seconds > 0 && seconds <= maxSeconds
    return said ? { usage: nothing, seconds } : null
  }
  const usage = readRealtimeUsage(value)
  return usage === null || promptTokens(usage) === 0 ? null : { usage, seconds: null }
}

function promptTokens({ input, cachedInput, audioInput = 0 }: Usage): number {
  return input + cachedInput + audioInput
}
