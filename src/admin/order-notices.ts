// Notices about orders: credited after they had ended, and refunds that were paid.

import { formatUnits } from '../money.ts'
import { type Crossing, plain } from './notice.ts'
import type { AdminContext } from './use-case.ts'

const dayMs = 86_400_000
const mostAtOnce = 200

/** Covers the last day. */
export async function orderCrossings({
  store,
  nowMs,
  currency,
}: AdminContext): Promise<readonly Crossing[]> {
  const since = nowMs - dayMs
  const [late, refunded] = await Promise.all([
    store.paymentOrders.late(since, mostAtOnce),
    store.refunds.done(since, mostAtOnce),
  ])
  if (late.length + refunded.length === 0) return []
  const code = await currency()
  const valueOf = (nano: bigint) => `${formatUnits(nano)} ${code}`
  return [
    ...late.map(({ id, account, creditNano }) => ({
      account,
      subject: id,
      facts: {
        ...plain,
        rule: 'order_late' as const,
        currency: code,
        text: `The payment of order ${id} came after it had ended: ${valueOf(creditNano)} was credited.`,
        valueNano: String(creditNano),
        orderId: id,
      },
    })),
    ...refunded.map(({ id, account, orderId, amountNano }) => ({
      account,
      subject: id,
      facts: {
        ...plain,
        rule: 'order_refunded' as const,
        currency: code,
        text: `${valueOf(amountNano)} of order ${orderId} was refunded.`,
        valueNano: String(amountNano),
        orderId,
      },
    })),
  ]
}
