// Writes down what the configuration and the catalogue say of prices, where they say anything new.

import type { ModelConfig } from '../config/types.ts'
import { parseUnits } from '../money.ts'
import type { PriceRow, PriceTable } from '../store/ledger.ts'

/** A card as the catalogue ships it. */
export interface ShippedCard {
  readonly model: string
  readonly prices: Readonly<Record<string, string>>
  readonly source: string
  /** The day the prices were read there. */
  readonly sourceDate: string | null
}

type Wanted = Pick<PriceRow, 'model' | 'prices' | 'origin' | 'source' | 'sourceDate'>

/**
 * Appends a version for each declared or shipped card that differs from the newest of its origin and model, and an
 * empty one for a declared card that is gone; returns every version there is. `declared` are the models of the
 * configuration, patterns included. A model's first card of an origin holds from the beginning, so that a clock
 * set back leaves no model without a price; a later one holds from `nowMs`. Of several processes at once, one writes.
 */
export async function ensurePrices(
  table: PriceTable,
  declared: Readonly<Record<string, ModelConfig>>,
  shipped: readonly ShippedCard[],
  nowMs: number,
): Promise<readonly PriceRow[]> {
  for (;;) {
    const known = await table.all()
    const added = missing(known, declared, shipped, nowMs)
    if (added.length === 0) return known
    const versions = await table.appendAfter(known.at(-1)?.version ?? 0, added)
    if (versions !== null) return table.all()
  }
}

/** The cards to be appended to those that are known, in order of their versions. */
function missing(
  known: readonly PriceRow[],
  declared: Readonly<Record<string, ModelConfig>>,
  shipped: readonly ShippedCard[],
  nowMs: number,
): Omit<PriceRow, 'version'>[] {
  const newest = new Map<string, PriceRow>()
  for (const row of known) newest.set(keyOf(row), row)
  const wanted: Wanted[] = [
    ...shipped.map((card) => ({ ...card, origin: 'shipped' as const })),
    ...declaredCards(declared),
  ]
  const declaredNow = new Set(wanted.map(keyOf))
  for (const row of newest.values()) {
    if (row.origin === 'file' && !declaredNow.has(keyOf(row)))
      wanted.push(cardOfFile(row.model, {}))
  }
  return wanted.flatMap((card) => {
    const before = newest.get(keyOf(card))
    if (samePrices(before?.prices ?? {}, card.prices)) return []
    const effectiveFrom = before === undefined ? 0 : Math.max(nowMs, before.effectiveFrom)
    return [{ ...card, effectiveFrom, actor: null, createdAt: nowMs }]
  })
}

function declaredCards(declared: Readonly<Record<string, ModelConfig>>): Wanted[] {
  return Object.entries(declared).flatMap(([model, { prices }]) =>
    prices === null ? [] : [cardOfFile(model, prices)],
  )
}

function cardOfFile(model: string, prices: Wanted['prices']): Wanted {
  return { model, prices, origin: 'file', source: 'configuration', sourceDate: null }
}

function keyOf({ origin, model }: Pick<PriceRow, 'origin' | 'model'>): string {
  return `${origin} ${model}`
}

/** By what they come to: `0.150` is `0.15`. */
function samePrices(a: Wanted['prices'], b: Wanted['prices']): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const [one, other] = [a[name], b[name]]
      return one !== undefined && other !== undefined && parseUnits(one) === parseUnits(other)
    })
  )
}
