// Computes what a proposed rate card would have charged for the last 7 days' requests.

import { compileRate } from '../meter/rate.ts'
import { askedBy, plainPrices } from './price-card.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'
import { countsNothing, forUsage, pricesAll } from './what-if.ts'

/** Amounts in nano-units. */
interface PriceEffect {
  readonly currency: string
  readonly since: string
  readonly until: string
  /** Requests before this moment were not priced, since there are too many; null: all were. */
  readonly coveredSince: string | null
  /** Requests that asked for the model by this name and were priced. */
  readonly requests: number
  /** The actual amount: charges and write-offs. */
  readonly thenNano: string
  readonly proposedNano: string
  /** Positive: the proposed card is dearer. */
  readonly differenceNano: string
  /** Requests in no sum: they used something that the card has no price for, which would be free. */
  readonly unpriced: { readonly requests: number; readonly thenNano: string }
}

const effectMs = 7 * 86_400_000
/** No index contains models: each page reads through all rows, so there are few, large pages. */
const bounds = { most: 20_000, pages: 10, atOnce: 5_000 }

/** Prices each request with the multiplier it had, rounded as a charge would be. */
export async function priceEffect(
  { store, nowMs, currency }: Pick<AdminContext, 'store' | 'nowMs' | 'currency'>,
  input: Input<'priceEffect'>,
): Promise<PriceEffect> {
  const { model } = input
  const prices = plainPrices(input.prices)
  const asked = askedBy(prices)
  const rates = new Map<number, ReturnType<typeof compileRate>>()
  const rateAt = (multiplierPpm: number) => {
    const rate =
      rates.get(multiplierPpm) ?? compileRate({ model, version: 0, prices }, multiplierPpm)
    rates.set(multiplierPpm, rate)
    return rate
  }
  const sum = { requests: 0, thenNano: 0n, proposedNano: 0n }
  const unpriced = { requests: 0, thenNano: 0n }
  const since = nowMs - effectMs
  const coveredSince = await forUsage(store, {
    filter: { model, since, until: nowMs },
    ...bounds,
    each(row) {
      if (row.priceVersion === null) return
      const thenNano = row.chargeNano + row.writeoffNano
      const rate = rateAt(row.multiplierPpm)
      const isPriced = countsNothing(row) || pricesAll({ rate, asked }, row)
      const to = isPriced ? sum : unpriced
      to.requests += 1
      to.thenNano += thenNano
      if (isPriced) sum.proposedNano += countsNothing(row) ? 0n : rate.charge(row, row.units)
    },
  })
  return {
    currency: await currency(),
    since: timeText(since),
    until: timeText(nowMs),
    coveredSince: timeText(coveredSince),
    requests: sum.requests,
    thenNano: String(sum.thenNano),
    proposedNano: String(sum.proposedNano),
    differenceNano: String(sum.proposedNano - sum.thenNano),
    unpriced: { requests: unpriced.requests, thenNano: String(unpriced.thenNano) },
  }
}
