// Writes transcripts that came as JSON as the text or the subtitles that were requested.

import type { JsonObject, JsonValue } from '../ir.ts'
import { objectsIn, stringOf } from '../json/value.ts'
import type { Peek } from '../request.ts'
import { cuesOf, spaceIn } from './cues.ts'
import { TranscriptReplay } from './replay.ts'
import { type Cue, subRip, webVtt } from './subtitles.ts'

/** Null where the reply of this media type may pass: it is not JSON, or JSON was requested. */
export function plainTranscript(peek: Peek, mediaType: string): TranscriptReplay | null {
  if (!/json/.test(mediaType)) return null
  const fields = JSON.parse(new TextDecoder().decode(peek.body)) as JsonObject
  const write = writers.get(stringOf(fields.response_format))
  return write === undefined ? null : new TranscriptReplay(peek, mediaType, write)
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
