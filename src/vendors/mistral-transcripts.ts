// Mistral's transcripts: always JSON, with timestamps and speakers requested by parameters of its own.

import type { JsonObject } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import type { TranscriptReply } from './media.ts'
import { transcripts } from './openai-transcripts.ts'
import type { Wanted } from './openai-transcripts-ask.ts'
import { count, withSound } from './usage.ts'

/** Mistral API, "Audio transcriptions": timestamps are of segments or of words, and refused with a language. */
function further({ times, words, speakers }: Wanted): JsonObject {
  return {
    ...(times && { timestamp_granularities: words ? 'word' : 'segment', language: null }),
    ...(speakers && { diarize: 'true' }),
  }
}

/** With word timestamps, Mistral puts the words in place of the segments. */
function read(reply: TranscriptReply, { words }: Wanted): TranscriptReply {
  if (!words || reply.segments === null) return reply
  const spoken = reply.segments.map(({ start, end, text }) => ({ start, end, word: text.trim() }))
  return { ...reply, segments: null, words: spoken }
}

/** Mistral reports tokens, and whole seconds of audio in addition. */
function usage(reported: JsonObject): JsonObject {
  const { prompt_tokens, prompt_tokens_details: input_token_details } = withSound(reported)
  const [input, output] = [count(prompt_tokens), count(reported.completion_tokens)]
  return {
    type: 'tokens',
    input_tokens: input,
    ...(isObject(input_token_details) && { input_token_details }),
    output_tokens: output,
    total_tokens: input + output,
    seconds: count(reported.prompt_audio_seconds),
  }
}

export const voxtral = transcripts({
  // It has none of OpenAI's formats, so `response_format` is never sent.
  formats: () => [],
  streams: () => false,
  takes: new Set(['language', 'temperature']),
  further,
  read,
  usage,
})
