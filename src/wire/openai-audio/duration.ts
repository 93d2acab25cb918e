// How long an upload lasts: by its container, and by its size where that does not say, or lies.

import type { FileInfo, Peek } from '../request.ts'

/** Bytes a second: the fewest anybody speaks in, what is usual, and the most there are. */
interface Density {
  readonly least: number
  readonly usual: number
  readonly most: number
}

const unbounded = Number.POSITIVE_INFINITY

/** Low bit rates of speech: 8 kbit/s of MP3 and AAC, 6 kbit/s of Opus, 8 kHz of 8 bits as PCM. MP3 has 320 kbit/s at most. */
const densities: ReadonlyMap<string, Density> = new Map(
  Object.entries({
    'audio/wav': { least: 8_000, usual: 32_000, most: unbounded },
    'audio/flac': { least: 4_000, usual: 24_000, most: unbounded },
    'audio/mpeg': { least: 1_000, usual: 12_000, most: 40_000 },
    'audio/ogg': { least: 750, usual: 4_000, most: 64_000 },
    'audio/webm': { least: 750, usual: 4_000, most: 64_000 },
  }),
)
const otherwise: Density = { least: 750, usual: 12_000, most: unbounded }

/** A container may hold pictures too; one that claims less than this part of what its bytes come to is not believed. */
const believedPart = 0.5

/** No hold is for more: four hours. Nothing that is believed lasts longer than a day. */
const mostHeldSeconds = 14_400
const mostSeconds = 86_400

/** Tokens a second: Gemini's 32 are the most any vendor makes of sound, OpenAI's 10 what is usual. */
const mostTokensPerSecond = 32
const usualTokensPerSecond = 10

type SoundBounds = Pick<Peek, 'units' | 'likelyUnits' | 'audioTokens' | 'mostSeconds'>

/** Units and tokens of the sound in `file`, for the hold and for a reply that does not say. */
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
