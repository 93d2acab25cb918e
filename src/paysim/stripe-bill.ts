// Charges and refunds of a period, and the refunds of one payment, as Stripe's lists return them: newest first, page by page.
import { type BillRow, billRows } from './bill-rows.ts'
import type { Payment } from './state.ts'
import { type Fields, integer, missing, type StripeCall, seconds, wrong } from './stripe-call.ts'

/** The merchant's metadata of the charge; in an intentionally wrong bill it contains the changed order number. */
function metadataOfCharge({ simulation }: StripeCall, payment: Payment): Fields {
  const original = simulation.state.payments.find(({ id }) => id === payment.id)?.orderId
  const attached = payment.chargeAttached ?? payment.attached
  return Object.fromEntries(
    Object.entries(attached).map(([name, value]) => [
      name,
      value === original ? payment.orderId : value,
    ]),
  )
}

function rowsOf({ simulation, form, bill }: StripeCall) {
  const intent = form.get('payment_intent')
  if (intent !== null) return refundRows(simulation.state.payments, intent)
  const start = integer(form, 'created[gte]') * 1_000
  const end = integer(form, 'created[lt]') * 1_000
  const rows = billRows(simulation.state, { provider: 'stripe', start, flaw: bill })
  return rows.filter(({ refund, transaction }) => (refund ?? transaction).at < end).toReversed()
}

function refundRows(payments: readonly Payment[], intent: string): BillRow[] {
  return payments.flatMap((payment) => {
    const transaction = payment.transactions.find(({ id }) => id === intent)
    if (transaction === undefined) return []
    const refunds = payment.refunds.filter(({ transactionId }) => transactionId === intent)
    return refunds.map((refund) => ({
      payment,
      transaction,
      refund,
      amountMinor: refund.amountMinor,
    }))
  })
}

export function listCharges(call: StripeCall): Fields {
  const charges = rowsOf(call)
    .filter(({ refund }) => refund === undefined)
    .map(({ payment, transaction, amountMinor }) => ({
      id: transaction.id.replace(/^pi_/, 'ch_'),
      object: 'charge',
      amount: amountMinor,
      created: seconds(transaction.at),
      currency: payment.currency,
      metadata: metadataOfCharge(call, payment),
      payment_intent: transaction.id,
      status: 'succeeded',
    }))
  return pageOf(call, '/v1/charges', charges)
}

export function listRefunds(call: StripeCall): Fields {
  const refunds = rowsOf(call).flatMap(({ payment, transaction, refund, amountMinor }) => {
    if (refund === undefined) return []
    const charge = transaction.id.replace(/^pi_/, 'ch_')
    const isWhole = call.form.get('expand[]') === 'data.charge'
    return [
      {
        id: refund.id,
        object: 'refund',
        amount: amountMinor,
        charge: isWhole ? { id: charge, metadata: metadataOfCharge(call, payment) } : charge,
        created: seconds(refund.at),
        currency: payment.currency,
        metadata: refund.attached ?? {},
        payment_intent: transaction.id,
        status: 'succeeded',
      },
    ]
  })
  return pageOf(call, '/v1/refunds', refunds)
}

function pageOf({ form }: StripeCall, url: string, all: readonly { readonly id: string }[]) {
  const limit = form.has('limit') ? integer(form, 'limit') : 10
  if (limit > 100) throw wrong('limit', 'This value must be less than or equal to 100')
  const after = form.get('starting_after')
  const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  if (after !== null && start === 0) throw missing(`No such object: ${after}`, 'starting_after')
  const data = all.slice(start, start + limit)
  return { object: 'list', url, has_more: start + limit < all.length, data }
}
