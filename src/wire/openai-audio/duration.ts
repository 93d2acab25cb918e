// How long an upload may last where its container does not say: bounded from its size.

import type { FileInfo, Peek } from '../dialect.ts'

/** Bytes a second: the fewest anybody speaks in, and what is usual. */
interface Density {
  readonly least: number
  readonly usual: number
}

/** Low bit rates of speech: 8 kbit/s of MP3 and AAC, 6 kbit/s of Opus, 8 kHz of 8 bits as PCM. */
const densities: readonly (readonly [type: RegExp, density: Density])[] = [
  [/wav/, { least: 8_000, usual: 32_000 }],
  [/flac/, { least: 4_000, usual: 24_000 }],
  [/ogg|opus|webm/, { least: 750, usual: 4_000 }],
]
const otherwise: Density = { least: 1_000, usual: 12_000 }

/** No upload is taken to last longer: four hours. */
const mostSeconds = 14_400

/** Tokens a second: Gemini's 32 are the most any vendor makes of sound, OpenAI's 10 what is usual. */
const mostTokensPerSecond = 32
const usualTokensPerSecond = 10

/** Units and tokens of the sound in `file`, for the hold and for a reply that does not say. */
export function soundOf(file: FileInfo): Pick<Peek, 'units' | 'likelyUnits' | 'audioTokens'> {
  if (file.seconds !== null && file.seconds > 0) {
    const second = Math.ceil(file.seconds)
    return { units: { second }, audioTokens: tokensOf(second, second) }
  }
  const density = densities.find(([type]) => type.test(file.type))?.[1] ?? otherwise
  const most = secondsAt(file.size, density.least)
  const likely = secondsAt(file.size, density.usual)
  return {
    units: { second: most },
    likelyUnits: { second: likely },
    audioTokens: tokensOf(most, likely),
  }
}

function secondsAt(bytes: number, bytesPerSecond: number): number {
  return Math.min(mostSeconds, Math.max(1, Math.ceil(bytes / bytesPerSecond)))
}

function tokensOf(most: number, likely: number) {
  return { most: most * mostTokensPerSecond, likely: likely * usualTokensPerSecond }
}
