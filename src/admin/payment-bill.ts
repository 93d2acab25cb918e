// Compares a payment provider's bill of a day with what was booked, and lists the differences.

import { minorText } from '../payments/amount.ts'
import { BillUnreadable } from '../payments/bill.ts'
import { chinaDay } from '../payments/china-time.ts'
import { compareBill } from '../payments/compare-bill.ts'
import { ProviderRefused } from '../payments/provider.ts'
import type { OrderDesk } from './orders.ts'
import type { Input } from './schema.ts'
import { type AdminContext, AdminError } from './use-case.ts'

/** How long before or after the day of its bill a payment or refund may have been booked. */
const aroundMs = 2 * 86_400_000
const mostListed = 1_000

/**
 * The result replaces that of an earlier comparison; asking does not mark a bill as compared. Throws AdminError where
 * the day is not over, or the provider is not configured or cannot be asked. `isOrder`: the order is known here, so
 * checking it with its provider can credit it.
 */
export async function comparePaymentBill(
  { store, nowMs }: AdminContext,
  { payments, mode }: OrderDesk,
  { provider: name, day }: Input<'paymentBill'>,
) {
  const { since, until } = chinaDay(day)
  if (until > nowMs)
    throw new AdminError('invalid', 'day', 'is not over yet in China’s time zone', 'day_not_over')
  const offered = (await payments.offered()).find((each) => each.name === name)
  if (offered === undefined)
    throw new AdminError('invalid', 'provider', 'is not configured in this deployment')
  const { provider } = offered
  const rows = await provider.bill(day).catch((error: unknown) => {
    throw new AdminError('conflict', 'provider', refusalOf(error))
  })
  const range = { since: since - aroundMs, until: until + aroundMs }
  const booked = await store.payments.booked({ provider: name, mode, ...range })
  const differences = compareBill({ rows, booked, since, until })
  await store.bills.again({ provider: name, day }, nowMs, differences.length)
  const listed = await Promise.all(
    differences.slice(0, mostListed).map(async ({ billedMinor, bookedMinor, ...difference }) => ({
      ...difference,
      billed: billedMinor === null ? null : minorText(billedMinor),
      booked: bookedMinor === null ? null : minorText(bookedMinor),
      isOrder: (await store.paymentOrders.find(difference.orderId)) !== null,
    })),
  )
  const paid = rows.filter(({ refundId }) => refundId === null)
  const sum = (of: readonly { readonly amountMinor: number }[]) =>
    minorText(of.reduce((total, { amountMinor }) => total + amountMinor, 0))
  return {
    provider: name,
    day,
    currency: provider.currency,
    payments: paid.length,
    paid: sum(paid),
    refunds: rows.length - paid.length,
    refunded: sum(rows.filter(({ refundId }) => refundId !== null)),
    differences: listed,
    moreDifferences: Math.max(0, differences.length - mostListed),
  }
}

function refusalOf(error: unknown): string {
  if (error instanceof ProviderRefused) return `refuses its bill: ${error.message}`
  if (error instanceof BillUnreadable) return error.message
  return `cannot be asked for its bill: ${error instanceof Error ? error.message : String(error)}`
}
