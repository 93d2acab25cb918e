// Transcripts and translations by Gemini models that take audio: asked by a prompt, as JSON where times are wanted.

import { GatewayError } from '../errors.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject, stringOf } from '../wire/json/value.ts'
import {
  droppedFields,
  listField,
  refuseWords,
  soundOf,
  textField,
  transcriptTokens,
  unreadable,
} from './audio-fields.ts'
import { JsonBody } from './base64.ts'
import { type Generated, generate } from './google-audio.ts'
import type { MediaAdapter, MediaCall, MediaTools, SpokenPart, TranscriptReply } from './media.ts'

/** A request may have 20 MB in total, and base64 is a third longer than the file. */
const maxFileBytes = 14_680_064

async function hear(call: MediaCall, tools: MediaTools): Promise<TranscriptReply> {
  refuseWords(call)
  const { payload } = soundOf(call)
  if (payload.size > maxFileBytes) {
    throw new GatewayError(
      'request_too_large',
      `file must be at most ${maxFileBytes} bytes with ${call.model}`,
      { param: 'file' },
    )
  }
  const timed = isTimed(call)
  const body = new JsonBody()
  const value = bodyFor(call, timed, {
    mimeType: usualTypes.get(payload.type) ?? payload.type,
    data: body.hole(payload),
  })
  const reply = await generate(call, tools, value, body)
  const dropped = droppedFields(call, ['language', 'keywords', 'prompt', 'temperature'])
  return { ...transcriptIn(reply, timed), dropped }
}

function isTimed({ fields }: MediaCall): boolean {
  return /^(srt|vtt|verbose_json|diarized_json)$/.test(textField(fields, 'response_format') ?? '')
}

function bodyFor(call: MediaCall, timed: boolean, inlineData: JsonObject): JsonObject {
  const { temperature } = call.fields
  return {
    contents: [
      {
        role: 'user',
        parts: [{ inlineData }, { text: instructions(call, timed) }],
      },
    ],
    generationConfig: {
      temperature: typeof temperature === 'number' ? temperature : 0,
      ...(timed && { responseMimeType: 'application/json', responseSchema: schema }),
    },
  }
}

/** Google accepts only these names of media types. */
const usualTypes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'audio/mpeg': 'audio/mp3',
    'audio/x-wav': 'audio/wav',
    'audio/wave': 'audio/wav',
    'audio/x-m4a': 'audio/mp4',
  }),
)

const schema: JsonObject = {
  type: 'OBJECT',
  properties: {
    language: { type: 'STRING' },
    segments: {
      type: 'ARRAY',
      items: {
        type: 'OBJECT',
        properties: {
          start: { type: 'STRING' },
          end: { type: 'STRING' },
          speaker: { type: 'STRING' },
          text: { type: 'STRING' },
        },
        required: ['start', 'end', 'speaker', 'text'],
      },
    },
  },
  required: ['language', 'segments'],
}

function instructions(call: MediaCall, timed: boolean): string {
  const { fields, dialect } = call
  const language = textField(fields, 'language')
  const keywords = listField(fields, 'keywords')
  const prompt = textField(fields, 'prompt')
  const task =
    dialect === 'openai-translations'
      ? 'Translate what is said in this recording into English.'
      : 'Write down word for word what is said in this recording, in the language it is said in.'
  const form = timed
    ? 'Cut it into segments of at most one sentence. Give the start and the end of each as MM:SS.mmm, ' +
      'its speaker as A, B, C in the order in which they first speak, and the language as an ISO 639-1 code.'
    : 'Answer with that text alone: no times, no names of speakers, no remarks. Answer nothing where nobody speaks.'
  return [
    task,
    form,
    ...(language === null ? [] : [`The language is ${language}.`]),
    ...(keywords.length === 0 ? [] : [`These may be said: ${keywords.join(', ')}.`]),
    ...(prompt === null ? [] : [`This came before the recording, or shows its style: ${prompt}`]),
  ].join('\n')
}

function transcriptIn(reply: Generated, timed: boolean): TranscriptReply {
  const said = reply.parts.map(({ text }) => stringOf(text)).join('')
  const { usage } = reply
  const tokens = usage === null ? null : transcriptTokens(countsOf(usage))
  const plain = { kind: 'transcript', seconds: null, words: null, usage: tokens } as const
  if (!timed) return { ...plain, text: said.trim(), language: null, segments: null }
  const { language, segments } = parsed(said)
  const parts = Array.isArray(segments) ? segments.flatMap(partOf) : []
  return {
    ...plain,
    text: parts.map(({ text }) => text.trim()).join(' '),
    language: typeof language === 'string' ? language : null,
    segments: parts,
  }
}

function countsOf(usage: NonNullable<Generated['usage']>) {
  const { input, cachedInput, cacheWrite, audioInput = 0, imageInput = 0 } = usage
  return {
    input: input + cachedInput + cacheWrite + imageInput,
    audioInput,
    output: usage.output + usage.reasoning,
  }
}

function parsed(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as JsonValue
    if (isObject(value)) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw unreadable('the transcript is not the JSON that was asked for')
}

function partOf(value: JsonValue): SpokenPart[] {
  if (!isObject(value) || typeof value.text !== 'string') return []
  const [start, end] = [secondsOf(value.start), secondsOf(value.end)]
  if (start === null || end === null) return []
  const { speaker, text } = value
  return [{ start, end, text, speaker: typeof speaker === 'string' ? speaker : 'A' }]
}

/** Parses `01:02.500`, `1:01:02`, or seconds. */
function secondsOf(value: JsonValue | undefined): number | null {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !/^\d+(:\d+){0,2}([.,]\d+)?$/.test(value.trim())) return null
  const parts = value.trim().replace(',', '.').split(':').map(Number)
  return parts.reduce((sum, part) => sum * 60 + part, 0)
}

export const geminiTranscripts: MediaAdapter = { serve: hear }
