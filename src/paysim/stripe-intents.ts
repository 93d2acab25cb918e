// Stripe's payments with a saved card, without its holder's presence, where the bank allows them.
import { createHash } from 'node:crypto'
import { newStripeId } from './simulation.ts'
import type { Payment, Transaction } from './state.ts'
import {
  type Fields,
  integer,
  metadataOf,
  missing,
  required,
  type StripeCall,
  StripeFault,
  seconds,
  wrong,
} from './stripe-call.ts'

export const offSession = 'off_session'
const yearMs = 365 * 24 * 3_600_000

const words = {
  card_declined: 'Your card was declined.',
  authentication_required: 'Your card was declined. This transaction requires authentication.',
}

/** The card that a session has saved. */
export function cardOf({ customer = '' }: Payment): string {
  return customer.replace(/^cus_/, 'pm_')
}

export function createIntent(call: StripeCall): Fields {
  const { simulation, form, webhookUrl } = call
  const customer = required(form, 'customer')
  const isKnown = simulation.state.payments.some((one) => {
    return one.customer === customer && one.product !== offSession && one.transactions.length > 0
  })
  if (!isKnown) throw missing(`No such customer: '${customer}'`, 'customer')
  const card = required(form, 'payment_method')
  if (card !== customer.replace(/^cus_/, 'pm_'))
    throw wrong('payment_method', 'The PaymentMethod does not belong to the customer')
  const now = simulation.clock.now()
  const id = newStripeId('pi')
  const attached = metadataOf(form)
  const payment: Payment = {
    id,
    provider: 'stripe',
    orderId: attached['order'] ?? id,
    product: offSession,
    subject: form.get('description') ?? '',
    amountMinor: integer(form, 'amount'),
    currency: required(form, 'currency').toLowerCase(),
    createdAt: now,
    expiresAt: now + yearMs,
    notifyUrl: webhookUrl,
    returnUrl: '',
    cancelUrl: '',
    attached,
    customer,
    opened: false,
    transactions: [],
    refunds: [],
  }
  simulation.state.payments.push(payment)
  simulation.save()
  return intentView(payment)
}

export function retrieveIntent(call: StripeCall): Fields {
  const payment = pagePaymentOf(call) ?? intentOf(call)
  return intentView(payment, call.form.get('expand[]') === 'latest_charge')
}

/** The payment made on a checkout page, as its intent shows it. */
function pagePaymentOf({ simulation, caught }: StripeCall): Payment | undefined {
  for (const payment of simulation.state.payments) {
    const paid = payment.transactions.find(({ id }) => id === caught)
    if (paid === undefined || payment.product === offSession) continue
    return { ...payment, id: paid.id, attached: payment.chargeAttached ?? {}, transactions: [paid] }
  }
  return undefined
}

function intentOf({ simulation, caught }: StripeCall): Payment {
  const payment = simulation.state.payments.find((one) => one.id === caught)
  if (payment?.product === offSession) return payment
  throw missing(`No such payment_intent: '${caught}'`, 'intent')
}

/** Confirms an intent, once; its event follows. */
export function confirmIntent(call: StripeCall): Fields {
  const payment = intentOf(call)
  const { simulation, declines } = call
  requireOpen(payment, 'confirm')
  if (declines !== undefined) {
    const details = { type: 'card_error', code: declines, payment_intent: intentView(payment) }
    throw new StripeFault(words[declines], details, 402)
  }
  const { id, amountMinor } = payment
  payment.transactions.push({ id, amountMinor, payer: 'kept card', at: simulation.clock.now() })
  simulation.save()
  void simulation.notify(payment, 'paid', id)
  return intentView(payment)
}

export function cancelIntent(call: StripeCall): Fields {
  const payment = intentOf(call)
  requireOpen(payment, 'cancel')
  payment.closedAt = call.simulation.clock.now()
  call.simulation.save()
  return intentView(payment)
}

function requireOpen(payment: Payment, what: string): void {
  const { status } = intentView(payment)
  if (status === 'requires_confirmation') return
  const message = `You cannot ${what} this PaymentIntent because it has a status of ${status}.`
  throw new StripeFault(message, { code: 'payment_intent_unexpected_state' })
}

/** A charge as it is expanded; its card is the payer's, whatever e-mail address the payer gives. */
export function chargeDetails({ id, at, payer }: Transaction) {
  const fingerprint = createHash('sha256').update(`card of ${payer}`).digest('hex').slice(0, 16)
  return {
    id: id.replace(/^pi_/, 'ch_'),
    object: 'charge',
    created: seconds(at),
    payment_method_details: { type: 'card', card: { fingerprint } },
  }
}

function latestCharge({ transactions: [paid] }: Payment, isWhole: boolean) {
  if (paid === undefined) return null
  const id = paid.id.replace(/^pi_/, 'ch_')
  return isWhole ? chargeDetails(paid) : id
}

/** `isWhole`: with its charge as an object, not only its id. */
export function intentView(payment: Payment, isWhole = false) {
  const isPaid = payment.transactions.length > 0
  const isCanceled = payment.closedAt !== undefined
  return {
    id: payment.id,
    object: 'payment_intent',
    amount: payment.amountMinor,
    amount_received: isPaid ? payment.amountMinor : 0,
    created: seconds(payment.createdAt),
    currency: payment.currency,
    customer: payment.customer ?? null,
    latest_charge: latestCharge(payment, isWhole),
    livemode: false,
    metadata: payment.attached,
    payment_method: cardOf(payment),
    status: isPaid ? 'succeeded' : isCanceled ? 'canceled' : 'requires_confirmation',
  }
}
