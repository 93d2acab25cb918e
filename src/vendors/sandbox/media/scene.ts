// What the sandbox draws: a coloured background with a few shapes, determined by a text and a moment.

import { hash } from '../../hash.ts'

export type Rgb = readonly [red: number, green: number, blue: number]

export interface Scene {
  readonly colours: readonly Rgb[]
  /** Fills a row of pixels with indexes into `colours`; `y` runs from 0 to 1. */
  row(y: number, into: Uint8Array): void
}

interface Disc {
  readonly x: number
  readonly y: number
  readonly radius: number
}

const discCount = 3
const strokeHeight = 0.08

/** The same text gives the same scene; `moment`, from 0 to 1, moves its discs once around. */
export function sceneOf(text: string, moment = 0): Scene {
  const random = randomOf(text)
  const hue = random()
  const colours = [0, 0.08, 0.42, 0.5, 0.58, 0.75].map((step, index) =>
    rgb(hue + step, index < 2 ? 0.75 - 0.2 * index : 0.45),
  )
  const discs: readonly Disc[] = Array.from({ length: discCount }, () => {
    const [start, y, size] = [random(), random(), random()]
    return { x: (start + moment) % 1, y: 0.2 + 0.6 * y, radius: 0.08 + 0.12 * size }
  })
  const stroke = 0.2 + 0.6 * random()
  return {
    colours,
    row(y, into) {
      const field = y < stroke ? 0 : 1
      into.fill(Math.abs(y - stroke) < strokeHeight / 2 ? 5 : field)
      // The first disc lies above the others.
      for (const [index, disc] of [...discs.entries()].reverse()) {
        const half = halfWidth(disc, y)
        const from = Math.floor((disc.x - half) * into.length - 0.5) + 1
        const to = Math.ceil((disc.x + half) * into.length - 0.5)
        into.fill(2 + index, Math.max(0, from), Math.max(0, to))
      }
    },
  }
}

/** Half of the width that a disc covers at a height; 0: nothing. */
function halfWidth(disc: Disc, y: number): number {
  const square = disc.radius ** 2 - (y - disc.y) ** 2
  return square > 0 ? Math.sqrt(square) : 0
}

/** Returns numbers in [0, 1): a xorshift generator seeded by the text. */
function randomOf(text: string): () => number {
  let state = hash(text) || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 4_294_967_296
  }
}

/** A colour of this hue (0 to 1) and lightness, at a moderate saturation. */
function rgb(hue: number, lightness: number): Rgb {
  const saturation = 0.55
  const reach = saturation * Math.min(lightness, 1 - lightness)
  const channel = (offset: number): number => {
    const turn = (offset + hue * 12) % 12
    const value = lightness - reach * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))
    return Math.round(255 * value)
  }
  return [channel(0), channel(8), channel(4)]
}
