// Prices images: units by size and quality, and the most tokens that one image may take.

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
/** Costs of qualities above `high` are unpublished: the hold assumes two and four times its tokens. */
const aboveHigh: ReadonlyMap<string, number> = new Map(Object.entries({ xhigh: 2, max: 4 }))
const dearestTokens = 6_240
/** Additional tokens for each partial image that a stream shows. */
const partialTokens = 100

/** The most output tokens of one image and its partial images. */
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
  // Tokens grow with the area; a narrow image takes slightly more.
  const scaled = ((squareTokens.get(known) ?? 0) * pixels * 1.05) / squarePixels
  return Math.ceil(Math.max(scaled, squareTokens.get(known) ?? 0)) * times
}

function pixelsOf(size: string | null): number | null {
  const found = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? '')
  return found === null ? null : Number(found[1]) * Number(found[2])
}

/** Whether the client left the choice to the model. */
export function isOpen(word: string | null): boolean {
  return word === null || word === 'auto'
}

/** Units by name, e.g. `image/1024x1024/hd` with the count; an unknown size or quality is left out of the name. */
export function unitsOf(
  { size, quality }: Pick<RequestedImages, 'size' | 'quality'>,
  count: number,
): Units {
  const sized = size !== null && /^[1-9]\d{0,4}x[1-9]\d{0,4}$/.test(size) ? `/${size}` : ''
  const graded =
    quality !== null && !isOpen(quality) && /^[a-z]+$/.test(quality) ? `/${quality}` : ''
  return { [`image${sized}${graded}`]: count }
}
