// How much of an order can be refunded.

import type { OrderDetails, PaymentOrder } from '../store/payment-tables.ts'
import type { AdminContext } from './use-case.ts'

/** What was paid and not refunded; 0 while a payment is disputed, when the provider refunds nothing. */
export function refundableMinor(
  { state }: PaymentOrder,
  { transactions, refunds }: OrderDetails,
): number {
  if (state === 'disputed') return 0
  const sum = (of: readonly { readonly amountMinor: number }[]) =>
    of.reduce((total, { amountMinor }) => total + amountMinor, 0)
  return sum(transactions) - sum(refunds.filter((each) => each.state !== 'failed'))
}

/** All that is left of the payment, or of the largest where there are several; for a refund begun before, its amount. */
export async function wholeRefund(
  { payments }: AdminContext['store'],
  order: PaymentOrder,
  id: string | undefined,
): Promise<number> {
  const { transactions, refunds } = await payments.details(order.id)
  const left = transactions.map((paid) =>
    refunds
      .filter(({ transactionId, state }) => transactionId === paid.id && state !== 'failed')
      .reduce((rest, { amountMinor }) => rest - amountMinor, paid.amountMinor),
  )
  const begun = refunds.find((each) => each.id === id)
  // Where nothing is left, the refusal is about the amount of the order.
  return begun?.amountMinor ?? (Math.max(0, ...left) || order.amountMinor)
}
