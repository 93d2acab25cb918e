// Derives every balance and total again from the journal, and reports differences.

import { createPriceBook } from '../meter/price-book.ts'
import type { Store } from '../store/store.ts'
import { timeText } from './time.ts'

/** Most set-aside rows listed; `setAside` counts all of them. */
const mostShown = 1_000

export type Audit = Awaited<ReturnType<typeof auditLedger>>

export async function auditLedger({
  store,
}: {
  readonly store: Pick<Store, 'audit' | 'settlements'>
}) {
  const { setAside, findings, ...counts } = await store.audit.run((cards) => {
    const book = createPriceBook(cards)
    return (row) => {
      const { priceVersion, multiplierPpm, units } = row
      const rate = priceVersion === null ? null : book.version(priceVersion, multiplierPpm)
      return rate?.charge(row, units) ?? null
    }
  })
  const isDamaged = findings.some(({ kind }) => kind === 'integrity')
  const setAsides = isDamaged ? [] : await store.settlements.setAsides(mostShown)
  return {
    ok: findings.length === 0,
    ...counts,
    findings,
    setAside,
    setAsides: setAsides.map(({ heldNano, at, ...kept }) => ({
      ...kept,
      heldNano: String(heldNano),
      at: timeText(at),
    })),
  }
}
