// The sandbox's transcription model: sentences that say so themselves, spread over the duration of the upload.

import { invalidRequest } from '../../../errors.ts'
import type { MediaCall, MediaReply, SpokenPart, Upload, Word } from '../../media.ts'

/** Seconds of audio for each sentence. */
const secondsPerSentence = 4
const mostSentences = 2_000
/** For audio whose container does not state its length: about the usual bit rate of speech. */
const assumedBytesPerSecond = 8_000

const sentences = [
  'No model listened to it.',
  'These words stand where yours would.',
  'Each of them has its time.',
  'They are the same whenever it is sent again.',
]

/** Throws `invalid_request_error` where there is no file. */
export function transcriptReply(call: MediaCall): MediaReply {
  const file = call.uploads.find(({ field }) => field === 'file')
  if (file === undefined) throw invalidRequest("'file' is required", 'file')
  const seconds = rounded(file.seconds ?? file.payload.size / assumedBytesPerSecond)
  const translated = call.dialect === 'openai-translations'
  const parts = spokenParts(said(file, seconds, translated), seconds)
  const { language } = call.fields
  return {
    kind: 'transcript',
    text: parts.map(({ text }) => text).join(' '),
    language: typeof language === 'string' && !translated ? language : 'english',
    seconds,
    segments: parts,
    words: parts.flatMap(wordsOf),
    usage: { type: 'duration', seconds: Math.ceil(seconds) },
  }
}

function said({ name }: Upload, seconds: number, translated: boolean): readonly string[] {
  const deed = translated ? 'translates' : 'transcribes'
  const first = `The sandbox of Tollgate ${deed} ${name}, ${seconds} seconds long.`
  const count = Math.min(mostSentences, Math.max(1, Math.round(seconds / secondsPerSentence)))
  return Array.from({ length: count }, (_, index) =>
    index === 0 ? first : (sentences[(index - 1) % sentences.length] ?? ''),
  )
}

/** Divides the time among the sentences by their letters; two speakers alternate. */
function spokenParts(texts: readonly string[], seconds: number): readonly SpokenPart[] {
  return spread(texts, 0, seconds).map(({ start, end, text }, index) => ({
    start,
    end,
    text,
    speaker: index % 2 === 0 ? 'A' : 'B',
  }))
}

function wordsOf({ text, start, end }: SpokenPart): readonly Word[] {
  return spread(text.split(' '), start, end).map((part) => ({
    start: part.start,
    end: part.end,
    word: part.text,
  }))
}

function spread(
  texts: readonly string[],
  from: number,
  to: number,
): readonly { readonly start: number; readonly end: number; readonly text: string }[] {
  const letters = texts.reduce((sum, text) => sum + text.length, 0)
  let before = 0
  const time = (count: number): number =>
    rounded(from + ((to - from) * count) / Math.max(1, letters))
  return texts.map((text) => {
    const start = time(before)
    before += text.length
    return { start, end: time(before), text }
  })
}

/** Rounds to milliseconds. */
function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000
}
