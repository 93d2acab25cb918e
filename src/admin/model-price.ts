// What a model costs a group, line by line: each price with the group's multiplier, and beside it what its vendor asks.

import { priceNames } from '../config/prices.ts'
import { isTokenPrice } from '../meter/card.ts'
import { multiplierPpm } from '../meter/rate.ts'
import { ceilDiv, parseUnits } from '../money.ts'
import type { PriceRow } from '../store/ledger.ts'
import { askedBy } from './price-card.ts'
import { timeText } from './time.ts'

/** Amounts in nano-units of the currency for a million of the unit. */
export interface PriceLine {
  /** As a card names it: `input>200000`, `image/1024x1024/hd`. */
  readonly name: string
  /** What is counted: `token`, `request`, `image`, `second`, `character`, ... */
  readonly unit: string
  /** Of prompts longer than so many tokens; 0: of every one. */
  readonly above: number
  /** For the group, rounded up: what is charged is rounded once for each request, not here. */
  readonly priceNano: string
  /** Without the group's multiplier. */
  readonly baseNano: string
  /** What the vendor publishes, as far as the catalogue knows. */
  readonly officialNano: string | null
}

export interface GroupPrice {
  readonly version: number
  /** From when this version holds; null: from the beginning. */
  readonly from: string | null
  /** When it was written down. */
  readonly updatedAt: string
  readonly origin: PriceRow['origin']
  /** Of the group for this model: `0.8`. */
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

/** In the order in which prices are listed everywhere, lower tiers first. */
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
