// What the sandbox draws: a coloured field with a few shapes, of nothing but a text and a place in it.

import { hash } from '../../hash.ts'

export type Rgb = readonly [red: number, green: number, blue: number]

/** Places run from 0 to 1 in both directions; the result is an index into `colours`. */
export interface Scene {
  readonly colours: readonly Rgb[]
  at(x: number, y: number): number
  /** Fills a row of pixels by what `at` has in the middle of each: many times faster. */
  row(y: number, into: Uint8Array): void
}

interface Disc {
  readonly x: number
  readonly y: number
  readonly radius: number
}

const discCount = 3
const strokeHeight = 0.08

/** The same text has the same scene; `moment` moves its discs, from 0 to 1 and round again. */
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
  const behind = (y: number): number => {
    if (Math.abs(y - stroke) < strokeHeight / 2) return 5
    return y < stroke ? 0 : 1
  }
  return {
    colours,
    at(x, y) {
      const hit = discs.findIndex((disc) => Math.abs(x - disc.x) < halfWidth(disc, y))
      return hit === -1 ? behind(y) : 2 + hit
    },
    row(y, into) {
      into.fill(behind(y))
      // The first disc lies above the others.
      for (let index = discs.length - 1; index >= 0; index -= 1) {
        const disc = discs[index]
        const half = disc === undefined ? 0 : halfWidth(disc, y)
        if (disc === undefined || half === 0) continue
        const from = Math.floor((disc.x - half) * into.length - 0.5) + 1
        const to = Math.ceil((disc.x + half) * into.length - 0.5)
        into.fill(2 + index, Math.max(0, from), Math.max(0, to))
      }
    },
  }
}

/** Half of what a disc covers at a height; 0: nothing. */
function halfWidth(disc: Disc, y: number): number {
  const square = disc.radius ** 2 - (y - disc.y) ** 2
  return square > 0 ? Math.sqrt(square) : 0
}

/** Numbers from 0 up to 1: a xorshift generator seeded by the text. */
function randomOf(text: string): () => number {
  let state = hash(text) || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 4_294_967_296
  }
}

/** A hue of 0 to 1 and a lightness, at a saturation that is easy on the eye. */
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
