// What a request cost, line by line: the lines and their rounding are what was charged and written off, to the nano-unit.

import type { PriceBook } from '../meter/meter.ts'
import type { UsageRow } from '../store/usage-row.ts'
import { multiplierText } from './usage-view.ts'

interface ReceiptLine {
  /** A kind of token, or what else is priced: `input`, `second`, `image/1024x1024`. */
  readonly item: string
  readonly count: string
  /** Per million. */
  readonly priceNano: string
  /** Count by price by multiplier, rounded down. */
  readonly amountNano: string
}

export interface Receipt {
  readonly priceVersion: number
  /** The card's own name of the model: `gpt-*` for all that begin so. */
  readonly pricedAs: string
  readonly multiplier: string
  readonly lines: readonly ReceiptLine[]
  /** What the lines lack of the total: only that is rounded, up, and once. */
  readonly roundingNano: string
  readonly totalNano: string
  /** What the wallet paid, and what it could not or need not. */
  readonly chargeNano: string
  readonly writeoffNano: string
  /** Held at most, and how much of it came back; below 0: more was taken than was held. */
  readonly heldNano: string
  readonly releasedNano: string
  /** The entry of the ledger; null where nothing was taken. */
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
