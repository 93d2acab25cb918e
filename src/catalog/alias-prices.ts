// Prices of names an operator gave to shipped models: what the model costs under its own name.

import { isPattern } from '../config/beginnings.ts'
import type { ShippedPrices } from './shipped-prices.ts'

/** A channel's public names and the vendor's own for them; `*` at the end of either is a pattern. */
type Aliases = Readonly<Record<string, string>>

/**
 * A card for each public name that has none, where all that it stands for costs the same; where channels disagree the
 * operator has to say. Patterns are left out: what they stand for is not known.
 */
export function aliasPrices(
  channels: readonly { readonly models: Aliases | null }[],
  shipped: readonly ShippedPrices[],
): readonly ShippedPrices[] {
  const cards = new Map(shipped.map((card) => [card.model, card]))
  // The sandbox's names with settings.
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
