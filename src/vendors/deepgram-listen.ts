// Deepgram's transcripts of recordings: API reference, "Transcribe pre-recorded audio" (POST /v1/listen).

import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject, listOf, objectsIn, stringOf } from '../wire/json/value.ts'
import { droppedFields, listField, soundOf, textField, unreadable } from './audio-fields.ts'
import {
  type MediaCall,
  MediaFault,
  type MediaTools,
  type SpokenPart,
  type TranscriptReply,
  type VendorReply,
  type Word,
} from './media.ts'

/** Serves OpenAI's transcriptions. */
export async function listen(call: MediaCall, tools: MediaTools): Promise<TranscriptReply> {
  const { payload } = soundOf(call)
  const reply = await tools.ask({
    method: 'POST',
    url: `${tools.baseUrl}/v1/listen?${queryFor(call)}`,
    body: [payload],
    contentType: payload.type,
  })
  if (reply.status < 200 || reply.status >= 300) throw faultOf(call, tools, reply)
  const dropped = droppedFields(call, ['language', 'languages', 'keywords'])
  return { ...transcriptIn(reply.json()), dropped }
}

function queryFor({ fields, model }: MediaCall): URLSearchParams {
  const query = new URLSearchParams({ model, smart_format: 'true', utterances: 'true' })
  if (textField(fields, 'response_format') === 'diarized_json') query.set('diarize', 'true')
  const language = textField(fields, 'language')
  const languages = language === null ? listField(fields, 'languages') : [language]
  const [only] = languages
  if (only !== undefined && languages.length === 1) query.set('language', only)
  else if (languages.length === 0) query.set('detect_language', 'true')
  else for (const each of languages) query.append('detect_language', each)
  // Newer models take key terms, older ones keywords.
  const name = /^(nova-3|flux)/.test(model) ? 'keyterm' : 'keywords'
  for (const each of listField(fields, 'keywords')) query.append(name, each)
  return query
}

/** Deepgram sends one error for an unknown model or language: it is the client's own fault if it named a language. */
function faultOf(call: MediaCall, tools: MediaTools, reply: VendorReply): MediaFault {
  const failed = tools.faultOf(reply)
  const { fault } = failed
  if (fault.kind !== 'unknown_model' || textField(call.fields, 'language') === null) return failed
  return new MediaFault({ ...fault, kind: 'rejected', param: 'language' })
}

function transcriptIn(body: JsonValue): TranscriptReply {
  const results = isObject(body) ? body.results : undefined
  const metadata = isObject(body) && isObject(body.metadata) ? body.metadata : {}
  if (!isObject(results)) throw unreadable('the reply has no results')
  const { channels, utterances } = results
  const tracks = objectsIn(channels)
  const best = tracks.flatMap(bestOf)
  if (best.length === 0) throw unreadable('the reply has no transcript')
  const { duration } = metadata
  const language = tracks[0]?.detected_language
  return {
    kind: 'transcript',
    text: best.map(({ transcript }) => stringOf(transcript)).join('\n'),
    language: typeof language === 'string' ? language : null,
    seconds: typeof duration === 'number' && duration > 0 ? duration : null,
    segments: Array.isArray(utterances) ? utterances.flatMap(partOf) : null,
    words: best.flatMap(({ words }) => (Array.isArray(words) ? words.flatMap(wordOf) : [])),
    usage: null,
  }
}

function bestOf({ alternatives }: JsonObject): JsonObject[] {
  const [best] = listOf(alternatives)
  return isObject(best) ? [best] : []
}

function partOf(value: JsonValue): SpokenPart[] {
  if (!isObject(value)) return []
  const { start, end, transcript, speaker } = value
  if (typeof start !== 'number' || typeof end !== 'number') return []
  const who = typeof speaker === 'number' ? { speaker: String(speaker) } : {}
  return [{ start, end, text: stringOf(transcript), ...who }]
}

function wordOf(value: JsonValue): Word[] {
  if (!isObject(value)) return []
  const { start, end, word, punctuated_word } = value
  if (typeof start !== 'number' || typeof end !== 'number') return []
  return [{ start, end, word: stringOf(punctuated_word ?? word) }]
}
