// What a card of prices that is proposed would have brought of the last 7 days' requests.

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
  /** The requests before this moment were not looked at: there are too many. null: all were. */
  readonly coveredSince: string | null
  /** That asked for the model by this name, and were priced. */
  readonly requests: number
  /** What they came to: charged and written off. */
  readonly thenNano: string
  readonly proposedNano: string
  /** Above 0: dearer. */
  readonly differenceNano: string
  /** In no sum: they used what the card has no price for, which would be free. */
  readonly unpriced: { readonly requests: number; readonly thenNano: string }
}

const effectMs = 7 * 86_400_000
/** No index has models: each page looks through rows of them all, so that there are few and large ones. */
const bounds = { most: 20_000, pages: 10, atOnce: 5_000 }

/** Each at the multiplier it had, and rounded as it would have been. */
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
