// What images cost beside the prompt: units by size and quality, and the most tokens that one may come to.

import type { RequestedImages, Units } from '../request.ts'

/** Output tokens of one image (OpenAI, "Image generation", table of sizes and qualities). */
const published: ReadonlyMap<string, Readonly<Record<string, number>>> = new Map(
  Object.entries({
    '1024x1024': { low: 272, medium: 1_056, high: 4_160 },
    '1024x1536': { low: 408, medium: 1_584, high: 6_240 },
    '1536x1024': { low: 400, medium: 1_568, high: 6_208 },
  }),
)
const squareTokens: ReadonlyMap<string, number> = new Map(
  Object.entries({ low: 272, medium: 1_056, high: 4_160 }),
)
const squarePixels = 1_024 * 1_024
/** Nobody published what the qualities above `high` come to: held at twice and four times as much. */
const aboveHigh: ReadonlyMap<string, number> = new Map(Object.entries({ xhigh: 2, max: 4 }))
const dearestTokens = 6_240
/** An image on the way, shown in a stream, counts as so many more. */
const partialTokens = 100

/** At most, for one image and those shown on the way to it. */
export function outputTokensOf({ size, quality, partials }: RequestedImages): number {
  return imageTokens(size, quality ?? 'high') + partials * partialTokens
}

function imageTokens(size: string | null, quality: string): number {
  const times = aboveHigh.get(quality) ?? 1
  const known = squareTokens.get(quality) === undefined ? 'high' : quality
  const exact = published.get(size ?? '')?.[known]
  if (exact !== undefined) return exact * times
  const pixels = pixelsOf(size)
  if (pixels === null) return dearestTokens * times
  // Tokens grow with the area; a narrow image has a little more of them.
  const scaled = ((squareTokens.get(known) ?? 0) * pixels * 1.05) / squarePixels
  return Math.ceil(Math.max(scaled, squareTokens.get(known) ?? 0)) * times
}

function pixelsOf(size: string | null): number | null {
  const found = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? '')
  return found === null ? null : Number(found[1]) * Number(found[2])
}

/** Left to the model. */
export function isOpen(word: string | null): boolean {
  return word === null || word === 'auto'
}

/** `image/1024x1024/hd`: count; without what is not known. */
export function unitsOf(
  { size, quality }: Pick<RequestedImages, 'size' | 'quality'>,
  count: number,
): Units {
  const sized = size !== null && /^[1-9]\d{0,4}x[1-9]\d{0,4}$/.test(size) ? `/${size}` : ''
  const graded =
    quality !== null && !isOpen(quality) && /^[a-z]+$/.test(quality) ? `/${quality}` : ''
  return { [`image${sized}${graded}`]: count }
}
