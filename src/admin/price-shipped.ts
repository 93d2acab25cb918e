// Lists models whose price in force differs from the shipped one, so that an operator may adopt each.

import { shippedPrices } from '../catalog/shipped-prices.ts'
import { isPattern } from '../config/beginnings.ts'
import { type Page, pageOf } from './page.ts'
import { cardsInForce, compareCards, type Difference, type Prices } from './price-card.ts'
import type { Input } from './schema.ts'
import type { AdminContext } from './use-case.ts'

interface ShippedDifference {
  readonly model: string
  /** Version of the card in force. */
  readonly version: number
  readonly origin: 'file' | 'shipped' | 'set' | 'import'
  readonly prices: Prices
  readonly shipped: Prices
  readonly source: string
  readonly sourceDate: string | null
  readonly differences: readonly Difference[]
}

/** Sorted by model. */
export async function shippedDifferences(
  { store, nowMs, currency }: Pick<AdminContext, 'store' | 'nowMs' | 'currency'>,
  page: Input<'shippedDifferences'>,
): Promise<Page<ShippedDifference>> {
  const inForce = cardsInForce(await store.prices.all(), nowMs)
  const rows = shippedPrices(await currency()).flatMap(({ model, prices, source, sourceDate }) => {
    const card = isPattern(model) ? null : inForce(model)
    const differences = card === null ? [] : compareCards(card.prices, prices)
    if (card === null || differences.length === 0) return []
    const { version, origin } = card
    return [
      {
        model,
        version,
        origin,
        prices: card.prices,
        shipped: prices,
        source,
        sourceDate,
        differences,
      },
    ]
  })
  return pageOf(rows, ({ model }) => model, page)
}
