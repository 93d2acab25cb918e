// Stripe's disputes: opened by a payer, and closed in favour of one side.
import { newStripeId, type Simulation } from './simulation.ts'
import type { Dispute, Payment } from './state.ts'

export interface Disputes {
  /** Disputes a paid order on the payer's behalf. Resolves when the first notification is answered. */
  open(orderId: string): Promise<void>
  /** Closes the dispute by the bank's decision, for the merchant (`won`) or against it. Resolves like `open`. */
  close(orderId: string, how: 'won' | 'lost'): Promise<void>
}

/** Both methods throw where there is no such order, or nothing to dispute. */
export function createDisputes({ state, clock, save, notify }: Simulation): Disputes {
  const paymentOf = (orderId: string): Payment => {
    const payment = state.payments.find((one) => {
      return one.provider === 'stripe' && one.orderId === orderId
    })
    if (payment === undefined) throw new Error(`no order ${orderId}`)
    return payment
  }
  return {
    async open(orderId) {
      const payment = paymentOf(orderId)
      const transaction = payment.transactions.at(-1)
      if (transaction === undefined) throw new Error(`${orderId} is not paid`)
      const dispute: Dispute = {
        id: newStripeId('du'),
        transactionId: transaction.id,
        amountMinor: transaction.amountMinor,
        reason: 'fraudulent',
        at: clock.now(),
        status: 'needs_response',
      }
      payment.disputes = [...(payment.disputes ?? []), dispute]
      save()
      await notify(payment, 'disputed', dispute.id)
    },
    async close(orderId, how) {
      const payment = paymentOf(orderId)
      const dispute = payment.disputes?.at(-1)
      if (dispute === undefined) throw new Error(`${orderId} is not disputed`)
      dispute.status = how
      save()
      await notify(payment, 'dispute closed', dispute.id)
    },
  }
}

export function isDisputed({ disputes = [] }: Payment, transactionId: string): boolean {
  return disputes.some((one) => one.transactionId === transactionId && one.status !== 'won')
}

export function disputeView(payment: Payment, dispute: Dispute) {
  return {
    id: dispute.id,
    object: 'dispute',
    amount: dispute.amountMinor,
    charge: dispute.transactionId.replace(/^pi_/, 'ch_'),
    created: Math.floor(dispute.at / 1000),
    currency: payment.currency,
    livemode: false,
    metadata: {},
    payment_intent: dispute.transactionId,
    reason: dispute.reason,
    status: dispute.status,
  }
}
