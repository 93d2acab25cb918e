// Prices for names that an operator gave to shipped models: what the model costs under its own name.

import { isPattern } from '../config/beginnings.ts'
import type { ShippedPrices } from './shipped-prices.ts'

/** A channel's public names with the vendor's own; a trailing `*` in either makes it a pattern. */
type Aliases = Readonly<Record<string, string>>

/**
 * A card for each public name without one, if everything it stands for costs the same; where channels disagree, the
 * operator has to set the price. Patterns are skipped: the models they stand for are not known.
 */
export function aliasPrices(
  channels: readonly { readonly models: Aliases | null }[],
  shipped: readonly ShippedPrices[],
): readonly ShippedPrices[] {
  const cards = new Map(shipped.map((card) => [card.model, card]))
  // The sandbox's names with settings, which are priced as patterns.
  const patterns = shipped.filter((card) => isPattern(card.model))
  const patternOf = (own: string) =>
    patterns.find(({ model }) => own.startsWith(model.slice(0, -1)))
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
    const [first, ...others] = [...owns].map((own) => cards.get(own) ?? patternOf(own))
    const agreed = others.every((card) => card !== undefined && samePrices(card, first))
    return first === undefined || !agreed ? [] : [{ ...first, model }]
  })
}

function samePrices(a: ShippedPrices, b: ShippedPrices | undefined): boolean {
  return b !== undefined && sortedText(a) === sortedText(b)
}

function sortedText({ prices }: ShippedPrices): string {
  return JSON.stringify(Object.entries(prices).sort())
}
