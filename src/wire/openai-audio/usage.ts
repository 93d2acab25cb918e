// What replies about sound say that they cost: tokens, or seconds of sound.

import { unbelieved } from '../hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { readUsage } from '../openai/usage.ts'
import type { Peek, Units } from '../request.ts'

/** Nothing that is believed lasts longer, in seconds: a day. */
const mostSeconds = 86_400
/** Vendors bill short files as if they were longer, but not longer than this, in seconds. */
const leastBoundSeconds = 60

const noTokens: Usage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

interface SoundUsage {
  /** Of no tokens where the vendor counts in seconds; null where it said nothing. */
  readonly usage: Usage | null
  readonly seconds: number | null
  readonly unbelieved?: true
}

/**
 * OpenAI's `{"type": "tokens", ...}` and `{"type": "duration", "seconds"}`, and Mistral's, which has both
 * (`prompt_audio_seconds` beside its tokens).
 */
export function readSoundUsage(value: JsonValue | undefined): SoundUsage {
  if (!isObject(value)) return { usage: null, seconds: null }
  const seconds = positive(value.seconds) ?? positive(value.prompt_audio_seconds)
  const read = readUsage(value)
  const doubt = unbelieved(read, value)
  if (doubt.unbelieved) return { usage: null, seconds: null, ...doubt }
  return { usage: read ?? (seconds === null ? null : noTokens), seconds }
}

/** All that speech brings is sound, whether the vendor says so or not. */
export function spokenUsage({ output, audioOutput = 0, ...usage }: Usage): Usage {
  return { ...usage, output: 0, audioOutput: audioOutput + output }
}

/** A number above 0 that is no nonsense, else null. */
export function positive(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && value > 0 && value <= mostSeconds ? value : null
}

/**
 * Seconds to charge: what the vendor reported, to at most what a file of this size can last, and a minute; null where
 * it reported none. What the file's container says is no bound: its client may have written it.
 */
export function reportedSeconds(seconds: number | null, peek: Peek): number | null {
  if (seconds === null) return null
  return Math.min(seconds, Math.max(leastBoundSeconds, peek.mostSeconds ?? mostSeconds))
}

/** What a transcript in JSON cost: as reported, else by its own length where the file did not tell it before. */
export function transcriptUnits(body: JsonObject, sound: SoundUsage, peek: Peek): Units | null {
  const reported = reportedSeconds(sound.seconds, peek)
  if (reported !== null) return { second: reported }
  // Without likely units those expected are exact.
  if (peek.likelyUnits === undefined) return null
  const lasted = reportedSeconds(positive(body.duration), peek)
  return lasted === null ? null : { second: Math.ceil(lasted) }
}
