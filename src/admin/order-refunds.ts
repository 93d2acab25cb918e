// Refunds of orders: what one would take from the wallet, and making it.

import { randomBytes } from 'node:crypto'
import { minorText, parseMinor } from '../payments/amount.ts'
import { bonusSpending } from '../payments/bonus-spending.ts'
import { whenFree } from '../payments/when-free.ts'
import type { PaymentMode, PaymentOrder, RefundPlanned } from '../store/payment-tables.ts'
import { findOrder, type OrderDesk, refundView } from './orders.ts'
import { wholeRefund } from './refund-amount.ts'
import type { Input } from './schema.ts'
import { type AdminContext, AdminError } from './use-case.ts'

/** The provider of the other mode cannot be asked, so a refund there would never end. */
async function findOfMode(
  admin: AdminContext,
  mode: PaymentMode,
  id: string,
): Promise<PaymentOrder> {
  const order = await findOrder(admin, { id, owner: undefined })
  if (order.mode === mode) return order
  const [its, ours] = order.mode === 'play' ? ['play', 'real'] : ['real', 'play']
  const message = `the order was paid in ${its} money, and this deployment takes ${ours} money now`
  throw new AdminError('conflict', 'id', message)
}

/** Takes the money from the wallet and has the provider refund it, once for each `refund` id. */
export async function refundOrder(
  admin: AdminContext,
  { payments, settings, mode }: OrderDesk,
  input: Input<'refundOrder'>,
) {
  const order = await findOfMode(admin, mode, input.id)
  const { store, actor, nowMs } = admin
  const amountMinor =
    input.amount === undefined
      ? await wholeRefund(store, order, input.refund)
      : parseMinor(input.amount)
  if (!amountMinor) throw new AdminError('invalid', 'amount', 'expected more than 0')
  const id = input.refund ?? `tr${nowMs.toString(36)}${randomBytes(10).toString('hex')}`
  const spending = bonusSpending(settings)
  const asked = { id, orderId: order.id, amountMinor, actor, reason: input.reason, at: nowMs }
  const begun = await whenFree(store.leases, () => store.refunds.begin(asked, spending))
  if (begun.outcome === 'leased')
    throw new AdminError(
      'conflict',
      'amount',
      'running requests hold money that would be refunded: try again later',
      'refund_held',
    )
  if (!('refund' in begun)) throw notRefunded(order, begun)
  const { refund } = begun
  const isSame = refund.orderId === order.id && refund.amountMinor === amountMinor
  if (!isSame) throw new AdminError('conflict', 'refund', 'was used for another refund')
  const failure = refund.state === 'pending' ? await failureOf(payments.refund(refund)) : null
  const { refunds } = await store.payments.details(order.id)
  const kept = refunds.find((each) => each.id === refund.id) ?? refund
  return { ...refundView(kept), failure: kept.failure ?? failure }
}

/** Where the provider cannot be asked now, the sweeper asks again: the money has left the wallet already. */
function failureOf(work: Promise<void>): Promise<string | null> {
  return work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
}

function notRefunded(
  { state, currency, nanoPerMinor: rate }: PaymentOrder,
  refused: Exclude<RefundPlanned, { readonly outcome: 'planned' }>,
): AdminError {
  if (refused.outcome === 'not_paid')
    return new AdminError(
      'conflict',
      'id',
      `the order is ${state}: nothing of it was paid`,
      'not_paid',
    )
  if (refused.outcome === 'disputed')
    return new AdminError(
      'conflict',
      'id',
      'the order is disputed: its provider refunds nothing',
      'disputed',
    )
  const most = minorText(Number(refused.refundableNano / rate))
  return new AdminError(
    'conflict',
    'amount',
    `at most ${most} ${currency} can be refunded`,
    'refund_too_large',
  )
}

/** What a refund of that amount would take from the wallet; nothing is begun. Throws AdminError. */
export async function planRefund(
  admin: AdminContext,
  { settings, mode }: OrderDesk,
  { id, amount }: Input<'planRefund'>,
) {
  const order = await findOfMode(admin, mode, id)
  const amountMinor = parseMinor(amount)
  if (!amountMinor) throw new AdminError('invalid', 'amount', 'expected more than 0')
  const spending = bonusSpending(settings)
  const planned = await admin.store.refunds.plan({ orderId: order.id, amountMinor }, spending)
  if (planned.outcome !== 'planned') throw notRefunded(order, planned)
  return {
    amount: minorText(amountMinor),
    amountNano: String(planned.amountNano),
    clawbackNano: String(planned.clawbackNano),
  }
}
