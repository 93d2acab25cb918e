// ElevenLabs' transcripts, made of words and spaces: API reference, "Create transcript" (POST /v1/speech-to-text).

import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject } from '../wire/json/value.ts'
import { cuesOf, spaceIn } from '../wire/openai-audio/cues.ts'
import { droppedFields, soundOf, textField, unreadable } from './audio-fields.ts'
import {
  checkSuccess,
  type MediaCall,
  type MediaTools,
  type SpokenPart,
  type TranscriptReply,
  type Word,
} from './media.ts'
import { multipart } from './multipart.ts'

/** Serves OpenAI's transcriptions. */
export async function writeDown(call: MediaCall, tools: MediaTools): Promise<TranscriptReply> {
  const { segments: body, contentType } = multipart(fieldsFor(call), [
    { ...soundOf(call), field: 'file' },
  ])
  const url = `${tools.baseUrl}/v1/speech-to-text`
  const reply = await tools.ask({ method: 'POST', url, body, contentType })
  checkSuccess(reply, tools)
  const dropped = droppedFields(call, ['language', 'temperature'])
  return { ...transcriptIn(reply.json()), dropped }
}

function fieldsFor({ fields, model }: MediaCall): (readonly [string, string])[] {
  const language = textField(fields, 'language')
  const { temperature } = fields
  return [
    ['model_id', model],
    ['timestamps_granularity', 'word'],
    // OpenAI's transcripts contain no events such as laughter or music.
    ['tag_audio_events', 'false'],
    ...(textField(fields, 'response_format') === 'diarized_json'
      ? [['diarize', 'true'] as const]
      : []),
    ...(language === null ? [] : [['language_code', language] as const]),
    ...(typeof temperature === 'number' ? [['temperature', String(temperature)] as const] : []),
  ]
}

interface Spoken extends Word {
  readonly speaker: string | null
}

function transcriptIn(body: JsonValue): TranscriptReply {
  if (!isObject(body) || typeof body.text !== 'string') throw unreadable('the reply has no text')
  const { text, language_code, words, audio_duration_secs: seconds } = body
  const spoken = Array.isArray(words) ? words.flatMap(wordOf) : null
  return {
    kind: 'transcript',
    text,
    language: typeof language_code === 'string' ? language_code : null,
    seconds: typeof seconds === 'number' && seconds > 0 ? seconds : null,
    segments: spoken === null ? null : partsOf(spoken, text),
    words: spoken?.map(({ word, start, end }) => ({ word, start, end })) ?? null,
    usage: null,
  }
}

function wordOf(value: JsonValue): Spoken[] {
  if (!isObject(value) || value.type !== 'word') return []
  const { start, end, text, speaker_id: speaker }: JsonObject = value
  if (typeof start !== 'number' || typeof end !== 'number' || typeof text !== 'string') return []
  return [{ start, end, word: text, speaker: typeof speaker === 'string' ? speaker : null }]
}

function partsOf(words: readonly Spoken[], text: string): readonly SpokenPart[] {
  const timed = words.map(({ word, start, end, speaker }) => ({
    start,
    end,
    text: word,
    ...(speaker !== null && { speaker }),
  }))
  return cuesOf(timed, spaceIn(text))
}
