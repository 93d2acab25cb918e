// Writes transcripts in OpenAI's forms: three kinds of JSON, plain text, subtitles, or events.

import { invalidRequest } from '../../errors.ts'
import type { MediaCall, MediaUsage, SpokenPart, TranscriptReply } from '../../vendors/media.ts'
import type { JsonObject } from '../../wire/ir.ts'
import { cuesOf, spaceIn } from '../../wire/openai-audio/cues.ts'
import { type EventSegment, transcriptEvents } from '../../wire/openai-audio/events.ts'
import { subRip, webVtt } from '../../wire/openai-audio/subtitles.ts'
import type { Written } from '../adapters/written.ts'

const plainText = 'text/plain; charset=utf-8'

/** Throws GatewayError where the form needs times or speakers that the vendor did not report. */
export function writeTranscript(reply: TranscriptReply, call: MediaCall): Written {
  const usage = usageOf(reply)
  const written = (type: string, text: string): Written => ({
    type,
    chunks: once(text),
    usage: () => usage,
  })
  const format = call.fields['response_format'] ?? 'json'
  const json = (body: JsonObject): Written =>
    written('application/json', JSON.stringify({ ...body, ...(usage !== null && { usage }) }))
  if (call.stream) {
    const segments = format === 'diarized_json' ? speakers(partsOf(reply, format)) : []
    return written('text/event-stream', transcriptEvents({ text: reply.text, segments, usage }))
  }
  switch (format) {
    case 'text':
      return written(plainText, `${reply.text.trim()}\n`)
    case 'srt':
      return written(plainText, subRip(partsOf(reply, format)))
    case 'vtt':
      return written(plainText, webVtt(partsOf(reply, format)))
    case 'verbose_json':
      return json(verbose(reply, call))
    case 'diarized_json':
      return json(diarized(reply, call))
    default:
      return json({ text: reply.text })
  }
}

/** The usage that the vendor reports, else the length of the audio. */
function usageOf({ usage, seconds }: TranscriptReply): MediaUsage | null {
  if (usage !== null || seconds === null) return usage
  return { type: 'duration', seconds: Math.ceil(seconds) }
}

/** The vendor's own segments, else segments made from its words. */
function partsOf(reply: TranscriptReply, format: string): readonly SpokenPart[] {
  if (reply.segments !== null) return reply.segments
  if (reply.words !== null) {
    const words = reply.words.map((each) => ({ ...each, text: each.word }))
    return cuesOf(words, spaceIn(reply.text))
  }
  // Silence has no segments.
  if (reply.text.trim() === '') return []
  throw invalidRequest(
    `response_format ${format} is not possible with this model, which returns no timestamps; use json or text`,
    'response_format',
  )
}

function taskOf({ dialect }: MediaCall): string {
  return dialect === 'openai-translations' ? 'translate' : 'transcribe'
}

function durationOf({ seconds }: TranscriptReply, parts: readonly SpokenPart[]): number {
  return seconds ?? parts.at(-1)?.end ?? 0
}

function verbose(reply: TranscriptReply, call: MediaCall): JsonObject {
  const asked = call.fields['timestamp_granularities']
  const wanted = Array.isArray(asked) && asked.length > 0 ? asked : ['segment']
  const parts = partsOf(reply, 'verbose_json')
  if (wanted.includes('word') && reply.words === null && reply.text.trim() !== '') {
    throw invalidRequest(
      'timestamp_granularities word is not possible with this model, which returns no timestamps of words',
      'timestamp_granularities',
    )
  }
  return {
    task: taskOf(call),
    language: languageName(reply.language),
    duration: durationOf(reply, parts),
    text: reply.text,
    ...(wanted.includes('word') && {
      words: (reply.words ?? []).map(({ word, start, end }) => ({ word, start, end })),
    }),
    ...(wanted.includes('segment') && { segments: parts.map(segmentOf) }),
  }
}

/** Has every member that clients expect; those that only Whisper knows of its own work are 0. */
function segmentOf({ start, end, text }: SpokenPart, id: number): JsonObject {
  return {
    id,
    seek: 0,
    start,
    end,
    text,
    tokens: [],
    temperature: 0,
    avg_logprob: 0,
    compression_ratio: 0,
    no_speech_prob: 0,
  }
}

function diarized(reply: TranscriptReply, call: MediaCall): JsonObject {
  const parts = partsOf(reply, 'diarized_json')
  return {
    task: taskOf(call),
    duration: durationOf(reply, parts),
    text: reply.text,
    segments: speakers(parts).map((each) => ({ type: 'transcript.text.segment', ...each })),
  }
}

/** Speakers are named A, B, ... in the order in which they first speak, whatever the vendor calls them. */
function speakers(parts: readonly SpokenPart[]): EventSegment[] {
  const names = new Map<string, string>()
  return parts.map(({ start, end, text, speaker }, at) => {
    if (speaker === undefined) {
      throw invalidRequest(
        'response_format diarized_json is not possible with this model, which does not identify speakers',
        'response_format',
      )
    }
    const name = names.get(speaker) ?? letters(names.size)
    names.set(speaker, name)
    return { id: `seg_${at}`, start, end, text, speaker: name }
  })
}

/** A to Z, then AA. */
function letters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26))
  return index < 26 ? last : letters(Math.floor(index / 26) - 1) + last
}

/** Created for the first transcript that names its language: it takes 2 MB that most servers never need. */
let languages: Intl.DisplayNames | null = null

/** OpenAI's name of a language: `english` for `en`, `eng` or `en-GB`. Names are kept as they are. */
function languageName(language: string | null): string {
  if (language === null) return ''
  if (!/^[a-z]{2,3}(-|$)/i.test(language)) return language
  const [code = ''] = language.split('-', 1)
  languages ??= new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })
  return (languages.of(code) ?? language).toLowerCase()
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}
