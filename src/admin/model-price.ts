// The prices of a model for a group: each price with the group's multiplier, beside the vendor's own.

import { priceNames } from '../config/prices.ts'
import { isTokenPrice } from '../meter/card.ts'
import { multiplierPpm } from '../meter/rate.ts'
import { ceilDiv, parseUnits } from '../money.ts'
import type { PriceRow } from '../store/ledger.ts'
import { askedBy } from './price-card.ts'
import { timeText } from './time.ts'

/** Amounts in nano-units of the currency for a million of the unit. */
export interface PriceLine {
  /** The name on the rate card: `input>200000`, `image/1024x1024/hd`. */
  readonly name: string
  /** The unit that is counted: `token`, `request`, `image`, `second`, `character`, ... */
  readonly unit: string
  /** Applies to prompts longer than this many tokens; 0: to all. */
  readonly above: number
  /** The group's price, rounded up for display: a charge is rounded once per request instead. */
  readonly priceNano: string
  /** The price without the group's multiplier. */
  readonly baseNano: string
  /** The vendor's published price, where the catalogue has one. */
  readonly officialNano: string | null
}

export interface GroupPrice {
  readonly version: number
  /** When this version takes effect; null: it always was in effect. */
  readonly from: string | null
  /** When the version was stored. */
  readonly updatedAt: string
  readonly origin: PriceRow['origin']
  /** The group's multiplier for this model: `0.8`. */
  readonly multiplier: string
  readonly lines: readonly PriceLine[]
}

const million = 1_000_000n

export function groupPrice(
  row: PriceRow,
  multiplier: string,
  official: PriceRow['prices'] | null,
): GroupPrice {
  return {
    version: row.version,
    from: row.effectiveFrom === 0 ? null : timeText(row.effectiveFrom),
    updatedAt: timeText(row.createdAt),
    origin: row.origin,
    multiplier,
    lines: priceLines(row.prices, multiplier, official),
  }
}

/** In the order used everywhere, lower tiers first. */
export function priceLines(
  prices: PriceRow['prices'],
  multiplier: string,
  official: PriceRow['prices'] | null,
): PriceLine[] {
  const ppm = BigInt(multiplierPpm(multiplier))
  const asked = askedBy(official ?? {})
  return Object.entries(prices)
    .map(([name, text]) => {
      const { kind, unit, above } = partsOf(name)
      const base = parseUnits(text) ?? 0n
      const line = {
        name,
        unit,
        above,
        priceNano: String(ceilDiv(base * ppm, million)),
        baseNano: String(base),
        officialNano: asked(name)?.toString() ?? null,
      }
      return { line, rank: priceNames.indexOf(kind) }
    })
    .sort((one, other) => one.rank - other.rank || one.line.above - other.line.above)
    .map(({ line }) => line)
}

function partsOf(name: string) {
  const [kind = '', ...narrowed] = name.split(/[>/]/)
  const above = name.includes('>') ? Number(narrowed[0]) : 0
  return { kind, unit: isTokenPrice(kind) ? 'token' : kind, above }
}
