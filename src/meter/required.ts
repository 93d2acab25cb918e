// Which prices a model of each kind cannot do without, so that nothing is free by accident.

import type { ModelKind } from '../config/types.ts'
import { type Card, fittingImage, isImage } from './card.ts'
import type { Units } from './meter.ts'

const tokens = ['input', 'output'] as const

/** By kind: sets of price names of which one must be there whole. `image` and `second` stand for any price of one. */
const required: Readonly<Record<ModelKind, readonly (readonly string[])[]>> = {
  chat: [tokens],
  completion: [tokens],
  realtime: [tokens],
  embedding: [['input'], ['request']],
  rerank: [['input'], ['request'], ['search']],
  moderation: [['input'], ['request']],
  image: [['image'], tokens, ['input', 'imageOutput']],
  transcription: [['second'], tokens, ['request']],
  translation: [['second'], tokens, ['request']],
  speech: [['character'], ['second'], tokens, ['input', 'audioOutput'], ['request']],
  video: [['second'], tokens, ['request']],
}

/**
 * The name of a price that a request of this kind, for these units, needs and the card lacks; null where it has
 * all. A price of 0 is a price.
 */
export function missingPrice(card: Card, kind: ModelKind, units: Units | null): string | null {
  const sets = required[kind]
  if (!sets.some((names) => names.every((name) => isPriced(card, name)))) {
    const begun = sets.find((names) => names.some((name) => isPriced(card, name))) ?? sets[0]
    return begun?.find((name) => !isPriced(card, name)) ?? null
  }
  if (units === null || card.dearestImage === null) return null
  return (
    Object.keys(units).find((name) => isImage(name) && fittingImage(card, name) === null) ?? null
  )
}

/** Whether every prompt has a price for it: a price of long prompts alone does not do. */
function isPriced(
  { bands: [base], units, dearestImage, dearestSecond }: Card,
  name: string,
): boolean {
  if (name === 'image') return dearestImage !== null
  if (name === 'second') return dearestSecond !== null
  return units.has(name) || [...base.prices.keys()].some((kind) => kind === name)
}
