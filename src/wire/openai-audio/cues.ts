// Joins timed words into subtitle cues of readable length.

import type { Cue } from './subtitles.ts'

/** Two lines of 42 characters and seven seconds, the usual rule of broadcasters. */
const maxChars = 84
const maxSeconds = 7
/** A silence of this many seconds ends a cue. */
const pauseSeconds = 0.8

interface TimedWord extends Cue {
  readonly speaker?: string
}

interface SpokenCue extends Cue {
  readonly speaker?: string
}

/** What stands between the words of a text: some scripts have no spaces. */
export function spaceIn(text: string): string {
  return text.trim().includes(' ') ? ' ' : ''
}

/** A cue ends with a sentence, a speaker or a pause, or when it is too long. A word's `text` has no outer spaces. */
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
