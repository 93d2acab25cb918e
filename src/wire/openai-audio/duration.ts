// Estimates how long an uploaded file lasts: by its container, or by its size where that is missing or implausible.

import type { FileInfo, Peek } from '../request.ts'

/** Bytes per second: the lowest rate used for speech, the usual one, and the highest possible. */
interface Density {
  readonly least: number
  readonly usual: number
  readonly most: number
}

const unbounded = Number.POSITIVE_INFINITY

/** Low bit rates of speech: MP3 and AAC 8 kbit/s, Opus 6, PCM 8 kHz of 8 bits. MP3 has at most 320 kbit/s, lossless
 * AAC of two channels about 1 Mbit/s. */
const densities: ReadonlyMap<string, Density> = new Map(
  Object.entries({
    'audio/wav': { least: 8_000, usual: 32_000, most: unbounded },
    'audio/flac': { least: 4_000, usual: 24_000, most: unbounded },
    'audio/mpeg': { least: 1_000, usual: 12_000, most: 40_000 },
    'audio/ogg': { least: 750, usual: 4_000, most: 64_000 },
    'audio/webm': { least: 750, usual: 4_000, most: 64_000 },
    'audio/mp4': { least: 1_000, usual: 12_000, most: 128_000 },
  }),
)
const otherwise: Density = { least: 750, usual: 12_000, most: unbounded }

/** A container may also hold pictures; a stated duration below this part of what the size implies is not believed. */
const believedPart = 0.5

/** A hold covers four hours at most; no stated duration beyond a day is believed. */
const mostHeldSeconds = 14_400
const mostSeconds = 86_400

/** Tokens per second of audio: Gemini's 32 are the most of any vendor, OpenAI's 10 are usual. */
const mostTokensPerSecond = 32
const usualTokensPerSecond = 10

type SoundBounds = Pick<Peek, 'units' | 'likelyUnits' | 'audioTokens' | 'mostSeconds'>

/** Units and tokens of the audio in `file`, for the hold and for replies that do not report them. */
export function soundOf({ type, size, seconds }: FileInfo): SoundBounds {
  const density = densities.get(type) ?? otherwise
  const longest = Math.min(mostSeconds, secondsAt(size, density.least))
  const bound = { mostSeconds: longest }
  if (seconds !== null && seconds > 0) {
    const least = Math.floor((size / density.most) * believedPart)
    const second = Math.max(Math.ceil(seconds), least)
    return { ...bound, units: { second }, audioTokens: tokensOf(second, second) }
  }
  const most = Math.min(mostHeldSeconds, longest)
  const likely = Math.min(most, secondsAt(size, density.usual))
  return {
    ...bound,
    units: { second: most },
    likelyUnits: { second: likely },
    audioTokens: tokensOf(most, likely),
  }
}

function secondsAt(bytes: number, bytesPerSecond: number): number {
  return Math.max(1, Math.ceil(bytes / bytesPerSecond))
}

function tokensOf(most: number, likely: number) {
  return { most: most * mostTokensPerSecond, likely: likely * usualTokensPerSecond }
}
