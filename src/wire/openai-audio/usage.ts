// Reads the usage of audio replies: tokens, or seconds of audio.

import { unbelieved } from '../hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { readUsage } from '../openai/usage.ts'
import type { Peek, Units } from '../request.ts'

/** The longest duration that is believed, in seconds: one day. */
const mostSeconds = 86_400
/** Vendors may bill short files as if they were longer, up to this many seconds. */
const leastBoundSeconds = 60

const noTokens: Usage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

interface SoundUsage {
  /** Zero tokens where the vendor counts in seconds; null where it reported nothing. */
  readonly usage: Usage | null
  readonly seconds: number | null
  readonly unbelieved?: true
}

/**
 * Reads OpenAI's `{"type": "tokens", ...}` and `{"type": "duration", "seconds"}`, and Mistral's usage, which has both
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

/** The output of speech is all audio, whether the vendor says so or not. */
export function spokenUsage({ output, audioOutput = 0, ...usage }: Usage): Usage {
  return { ...usage, output: 0, audioOutput: audioOutput + output }
}

/** A number above 0 and at most a day in seconds, else null. */
export function positive(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && value > 0 && value <= mostSeconds ? value : null
}

/**
 * Seconds to charge: what the vendor reported, but at most what a file of this size can last, or a minute if that is
 * more; null where it reported none. The duration in the file's container is no limit: its client may have forged it.
 */
export function reportedSeconds(seconds: number | null, peek: Peek): number | null {
  if (seconds === null) return null
  return Math.min(seconds, Math.max(leastBoundSeconds, peek.mostSeconds ?? mostSeconds))
}

/** A vendor may round; a file that lasts this much longer than its container says has a forged one. */
const believedTimes = 1.5

/**
 * Units of a JSON transcript: as reported, else by its own duration where the file did not show one, or one that is far
 * too short.
 */
export function transcriptUnits(body: JsonObject, sound: SoundUsage, peek: Peek): Units | null {
  const reported = reportedSeconds(sound.seconds, peek)
  if (reported !== null) return { second: reported }
  const lasted = reportedSeconds(positive(body.duration), peek)
  if (lasted === null) return null
  // Without `likelyUnits` the units of the request are those of the container.
  const stated = peek.likelyUnits === undefined ? (peek.units?.['second'] ?? 0) : 0
  return lasted > stated * believedTimes ? { second: Math.ceil(lasted) } : null
}
