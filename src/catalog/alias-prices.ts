// Prices for names that an operator gave to shipped models: what the model costs under its own name.

import { isPattern } from '../config/beginnings.ts'
import type { ShippedPrices } from './shipped-prices.ts'

/** A channel's public names with the vendor's own; a trailing `*` in either makes it a pattern. */
type Aliases = Readonly<Record<string, string>>

export interface AliasPrices extends ShippedPrices {
  readonly alias: true
  /** The models it stands for that have no card here. */
  readonly unpriced: readonly string[]
}

/**
 * A card for each public name without one, if everything it stands for costs the same; where channels disagree or a
 * model has no price, the card is empty, and the operator has to set the price. Patterns are skipped: the models they
 * stand for are not known. So are models under their own name.
 */
export function aliasPrices(
  channels: readonly { readonly models: Aliases | null }[],
  shipped: readonly ShippedPrices[],
): readonly AliasPrices[] {
  const cards = new Map(shipped.map((card) => [card.model, card]))
  // The sandbox's names with settings, which are priced as patterns.
  const patterns = shipped.filter((card) => isPattern(card.model))
  const cardOf = (own: string) =>
    cards.get(own) ?? patterns.find(({ model }) => own.startsWith(model.slice(0, -1)))
  const targets = new Map<string, Set<string>>()
  for (const { models } of channels) {
    for (const [name, own] of Object.entries(models ?? {})) {
      if (cards.has(name) || isPattern(name)) continue
      const known = targets.get(name)
      if (known === undefined) targets.set(name, new Set([own]))
      else known.add(own)
    }
  }
  return [...targets].flatMap(([model, owns]) => {
    if ([...owns].every((own) => own === model)) return []
    const alias = { model, alias: true, unpriced: [...owns].filter((own) => !cardOf(own)) } as const
    const [first, ...others] = [...owns].map(cardOf)
    return first !== undefined && others.every((card) => samePrices(first, card))
      ? [{ ...first, ...alias }]
      : [{ ...alias, prices: {}, source: 'configuration', sourceDate: null }]
  })
}

function samePrices(a: ShippedPrices, b: ShippedPrices | undefined): boolean {
  return b !== undefined && sortedText(a) === sortedText(b)
}

function sortedText({ prices }: ShippedPrices): string {
  return JSON.stringify(Object.entries(prices).sort())
}
