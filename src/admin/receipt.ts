// Explains the cost of a request line by line: lines and rounding add up to charge plus write-off, to the nano-unit.

import type { PriceBook } from '../meter/meter.ts'
import type { UsageRow } from '../store/usage-row.ts'
import { multiplierText } from './usage-view.ts'

interface ReceiptLine {
  /** A kind of token or another priced unit: `input`, `second`, `image/1024x1024`. */
  readonly item: string
  readonly count: string
  /** Price per million. */
  readonly priceNano: string
  /** Count × price × multiplier, rounded down. */
  readonly amountNano: string
}

export interface Receipt {
  readonly priceVersion: number
  /** The model name on the rate card: `gpt-*` for all models that begin so. */
  readonly pricedAs: string
  readonly multiplier: string
  readonly lines: readonly ReceiptLine[]
  /** What the lines lack of the total, which alone is rounded up, once. */
  readonly roundingNano: string
  readonly totalNano: string
  /** The amount the wallet paid, and the amount written off. */
  readonly chargeNano: string
  readonly writeoffNano: string
  /** The largest hold, and the part of it given back; negative: more was charged than held. */
  readonly heldNano: string
  readonly releasedNano: string
  /** The journal entry; null where nothing was charged. */
  readonly entry: string | null
}

/** null where the request was never priced. */
export function receiptOf(row: UsageRow, book: PriceBook): Receipt | null {
  const { requestId, priceVersion, multiplierPpm, chargeNano, writeoffNano, heldNano } = row
  const rate = priceVersion === null ? null : book.version(priceVersion, multiplierPpm)
  if (rate === null) return null
  const lines = rate.lines(row, row.units)
  const totalNano = chargeNano + writeoffNano
  const roundingNano = lines.reduce((left, { amountNano }) => left - amountNano, totalNano)
  return {
    priceVersion: rate.version,
    pricedAs: rate.model,
    multiplier: multiplierText(multiplierPpm),
    lines: lines.map(({ item, count, priceNano, amountNano }) => ({
      item,
      count,
      priceNano: String(priceNano),
      amountNano: String(amountNano),
    })),
    roundingNano: String(roundingNano),
    totalNano: String(totalNano),
    chargeNano: String(chargeNano),
    writeoffNano: String(writeoffNano),
    heldNano: String(heldNano),
    releasedNano: String(heldNano - chargeNano),
    entry: chargeNano > 0n ? `usage:${requestId}` : null,
  }
}
