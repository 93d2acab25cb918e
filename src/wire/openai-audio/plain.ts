// Writes transcripts that came as JSON as the text or the subtitles that were requested, and the reverse.

import type { JsonObject, JsonValue } from '../ir.ts'
import { objectsIn, stringOf } from '../json/value.ts'
import type { Peek } from '../request.ts'
import { cuesOf, spaceIn } from './cues.ts'
import { TranscriptReplay } from './replay.ts'
import { type Cue, subRip, webVtt } from './subtitles.ts'

/** Null where the reply of this media type may pass: it is JSON or not, as was requested. */
export function plainTranscript(peek: Peek, mediaType: string): TranscriptReplay | null {
  const isJson = /json/.test(mediaType)
  if (!isJson && mediaType !== 'text/plain') return null
  const fields = JSON.parse(new TextDecoder().decode(peek.body)) as JsonObject
  const write = writers.get(stringOf(fields.response_format))
  if (isJson === (write === undefined)) return null
  const type = isJson ? 'text/plain; charset=utf-8' : 'application/json'
  return new TranscriptReplay(peek, mediaType, { write: write ?? JSON.stringify, type })
}

const writers: ReadonlyMap<string, (body: JsonObject) => string | null> = new Map([
  ['text', ({ text }: JsonObject) => `${stringOf(text).trim()}\n`],
  ['srt', subtitles(subRip)],
  ['vtt', subtitles(webVtt)],
])

function subtitles(write: (cues: readonly Cue[]) => string) {
  return ({ text, segments, words }: JsonObject) => {
    const said = stringOf(text).trim()
    const spoken = timed(segments, 'text')
    const cues = spoken.length > 0 ? spoken : cuesOf(timed(words, 'word'), spaceIn(said))
    return cues.length === 0 && said !== '' ? null : write(cues)
  }
}

/** The elements of a list that have times. */
function timed(list: JsonValue | undefined, name: string): Cue[] {
  return objectsIn(list).flatMap(({ start, end, [name]: text }) =>
    typeof start === 'number' && typeof end === 'number'
      ? [{ start, end, text: stringOf(text).trim() }]
      : [],
  )
}
