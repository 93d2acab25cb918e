// Words with their times, put together to parts that can be read at a glance.

import type { Cue } from './subtitles.ts'

/** Two lines of 42 characters, seven seconds: what broadcasters agree on. */
const maxChars = 84
const maxSeconds = 7
/** A silence that ends a part, in seconds. */
const pauseSeconds = 0.8

interface TimedWord extends Cue {
  readonly speaker?: string
}

interface SpokenCue extends Cue {
  readonly speaker?: string
}

/** A part ends with a sentence, with a speaker, with a pause, or when it is long. `text` of a word has no spaces around it. */
export function cuesOf(words: readonly TimedWord[], space = ' '): SpokenCue[] {
  const cues: SpokenCue[] = []
  let open: SpokenCue | null = null
  for (const word of words) {
    if (open !== null && ends(open, word)) {
      cues.push(open)
      open = null
    }
    open = open === null ? { ...word } : joined(open, word, space)
  }
  return open === null ? cues : [...cues, open]
}

function joined(cue: SpokenCue, word: TimedWord, space: string): SpokenCue {
  return { ...cue, end: Math.max(cue.end, word.end), text: `${cue.text}${space}${word.text}` }
}

function ends(cue: SpokenCue, next: TimedWord): boolean {
  if (cue.speaker !== next.speaker) return true
  if (/[.!?…。！？]["'”’)»]?$/.test(cue.text)) return true
  if (next.start - cue.end > pauseSeconds) return true
  return cue.text.length + next.text.length >= maxChars || next.end - cue.start > maxSeconds
}
