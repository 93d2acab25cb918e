// Which prices each kind of model needs, so that no request is free by accident.

import type { ModelKind } from '../config/types.ts'
import { type Card, fittingImage, isImage } from './card.ts'
import type { Units } from './meter.ts'

const tokens = ['input', 'output'] as const

/** Sets of price names by kind, one of which a card must have in full. `image` and `second`: any such price. */
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
  // A job is charged by what was asked of it: its vendor counts no tokens.
  video: [['second'], ['request']],
}

/**
 * The name of a price that such a request needs and the card lacks; null where it lacks none. A price of 0 counts as a
 * price.
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

/** Whether prompts of every length have this price: one for long prompts only is not enough. */
function isPriced(
  { bands: [base], units, dearestImage, dearestSecond }: Card,
  name: string,
): boolean {
  if (name === 'image') return dearestImage !== null
  if (name === 'second') return dearestSecond !== null
  return units.has(name) || [...base.prices.keys()].some((kind) => kind === name)
}
