// How much of an order can be refunded.

import type { OrderDetails, PaymentOrder } from '../store/payment-tables.ts'
import type { AdminContext } from './use-case.ts'

/** What is left of each payment after the refunds that did not fail. */
function leftOf({ transactions, refunds }: OrderDetails): readonly number[] {
  const kept = refunds.filter(({ state }) => state !== 'failed')
  return transactions.map((paid) =>
    kept
      .filter(({ transactionId }) => transactionId === paid.id)
      .reduce((rest, { amountMinor }) => rest - amountMinor, paid.amountMinor),
  )
}

/** What was paid and not refunded; 0 while a payment is disputed, when the provider refunds nothing. */
export function refundableMinor({ state }: PaymentOrder, details: OrderDetails): number {
  return state === 'disputed' ? 0 : leftOf(details).reduce((sum, left) => sum + left, 0)
}

/** What is left of the payment, or the most of several; for a refund begun before, its amount. */
export async function wholeRefund(
  { payments }: AdminContext['store'],
  order: PaymentOrder,
  id: string | undefined,
): Promise<number> {
  const details = await payments.details(order.id)
  const begun = details.refunds.find((each) => each.id === id)
  // Where nothing is left, the refusal is about the amount of the order.
  return begun?.amountMinor ?? (Math.max(0, ...leftOf(details)) || order.amountMinor)
}
