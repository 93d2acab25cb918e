// Tests calls to Stripe: a day's charges and refunds, of this deployment only; payments without their holder; refunds.

import { expect, test } from 'bun:test'
import { stripeNotification, stripeSignature } from '../../test/payments/providers.ts'
import { newOrder } from '../../test/support/payments.ts'
import type { PaymentOrder, Refund } from '../store/payment-tables.ts'
import { BillUnreadable } from './bill.ts'
import { ProviderRefused, type Send } from './provider.ts'
import { openStripe } from './stripe.ts'

const settings = {
  ...{ secretKey: 'sk_1', webhookSecret: 'whsec_1', currency: null },
  baseUrl: 'https://stripe.test',
}

function charge(id: number, metadata: object = { checkout_order: `o${id}` }) {
  const payment = { payment_intent: `pi_${id}`, amount: id, status: 'succeeded' }
  return { id: `ch_${id}`, ...payment, metadata }
}

const charges = [
  charge(1),
  charge(2, {}),
  { ...charge(3), status: 'failed' },
  charge(4, { order: 'o4' }),
  charge(5),
]
const ours = { id: 'ch_1', metadata: { checkout_order: 'o1' } }
const refund = { payment_intent: 'pi_1', status: 'succeeded', charge: ours }
const refunds = [
  { ...refund, id: 're_1', amount: 1, metadata: { refund: 'tr1' } },
  { ...refund, id: 're_2', amount: 2, status: 'pending' },
  { ...refund, id: 're_3', amount: 3, status: 'canceled' },
  { ...refund, id: 're_4', amount: 4, charge: { id: 'ch_2', metadata: {} } },
]

test('all pages of the day by China’s clocks; a refund of the dashboard is one, other sales are none', async () => {
  const asked: URL[] = []
  const send: Send = async ({ url: text }) => {
    const url = new URL(text)
    asked.push(url)
    const all: readonly { readonly id: string }[] = url.pathname.endsWith('refunds')
      ? refunds
      : charges
    const after = url.searchParams.get('starting_after')
    const start = all.findIndex(({ id }) => id === after) + 1
    return reply({ data: all.slice(start, start + 2), has_more: start + 2 < all.length })
  }
  const rows = await openStripe(settings, 'USD', send).bill('2026-11-22')
  expect(rows).toEqual([
    { transactionId: 'pi_1', orderId: 'o1', refundId: null, amountMinor: 1 },
    { transactionId: 'pi_4', orderId: 'o4', refundId: null, amountMinor: 4 },
    { transactionId: 'pi_5', orderId: 'o5', refundId: null, amountMinor: 5 },
    { transactionId: 'pi_1', orderId: 'o1', refundId: 'tr1', amountMinor: 1 },
    { transactionId: 'pi_1', orderId: 'o1', refundId: 're_2', amountMinor: 2 },
  ])
  expect(asked.map(({ pathname }) => pathname)).toEqual([
    ...['/v1/charges', '/v1/charges', '/v1/charges', '/v1/refunds', '/v1/refunds'],
  ])
  const since = Date.parse('2026-11-22T00:00:00+08:00') / 1_000
  expect(asked[0]?.searchParams.get('created[gte]')).toBe(String(since))
  expect(asked[0]?.searchParams.get('created[lt]')).toBe(String(since + 86_400))
})

test('a payment that waits for its holder is refused: nobody is there', async () => {
  const details = { returnUrl: '', notifyUrl: '', subject: '', clientAddress: null }
  const instructions = { kind: 'none', url: '', intent: 'pi_1' }
  const order = { ...newOrder({ method: 'off_session' }), instructions } as unknown as PaymentOrder
  const asked: string[] = []
  const start = (status: string) => {
    const send: Send = async ({ url }) => {
      asked.push(url)
      return reply({ id: 'pi_1', status })
    }
    return openStripe(settings, 'USD', send).start(order, details)
  }
  expect(await start('succeeded')).toMatchObject({ kind: 'none', intent: 'pi_1' })
  expect(asked).toEqual(['https://stripe.test/v1/payment_intents/pi_1/confirm'])
  for (const status of ['requires_action', 'requires_payment_method', 'canceled'])
    await expect(start(status)).rejects.toThrow(`the payment is ${status}`)
})

test('a refund that stays pending is made once, also after Stripe has forgotten its idempotency key', async () => {
  const made: { id: string; status: string; metadata: { refund: string } }[] = []
  let failing: number | null = null
  const send: Send = async ({ method, body = '' }) => {
    if (failing !== null) return { ...reply({ error: { message: 'not now' } }), status: failing }
    if (method === 'GET') return reply({ data: made, has_more: false })
    const metadata = { refund: new URLSearchParams(body).get('metadata[refund]') ?? '' }
    const one = { id: `re_${made.length}`, status: 'pending', metadata }
    made.push(one)
    return reply(one)
  }
  const stripe = openStripe(settings, 'USD', send)
  const refunded = (id: string) => {
    const asked = { id, transactionId: 'pi_1', amountMinor: 5 } as Refund
    return stripe.refund(asked, newOrder() as PaymentOrder)
  }
  // Neither a busy Stripe nor a key that was replaced meanwhile says that it is not made.
  for (failing of [401, 409, 429, 503])
    await expect(refunded('tr1')).rejects.not.toBeInstanceOf(ProviderRefused)
  failing = null
  expect([await refunded('tr1'), await refunded('tr1')]).toEqual(['pending', 'pending'])
  expect(await refunded('tr2')).toBe('pending')
  expect(made.map(({ metadata }) => metadata.refund)).toEqual(['tr1', 'tr2'])
  for (const one of made) one.status = 'succeeded'
  expect(await refunded('tr1')).toBe('done')
  for (const one of made) one.status = 'failed'
  await expect(refunded('tr2')).rejects.toBeInstanceOf(ProviderRefused)
})

test('a payer is known by the card, whatever e-mail address is given, and paid when the charge was', async () => {
  const charged = (fingerprint: string | null) => ({
    id: 'pi_1',
    latest_charge: {
      created: 1_700_000_000,
      payment_method_details: fingerprint === null ? {} : { card: { fingerprint } },
    },
  })
  const session = (email: string) => ({
    ...{ id: 'cs_1', client_reference_id: 'o1', metadata: { checkout_order: 'o1' } },
    ...{ payment_status: 'paid', payment_intent: 'pi_1', amount_total: 5, currency: 'usd' },
    customer_details: { email },
  })
  const order = { ...newOrder(), instructions: { session: 'cs_1' } } as unknown as PaymentOrder
  const now = Date.now()
  const paidBy = async (email: string, fingerprint: string | null, isAway = false) => {
    const send: Send = async ({ url }) => {
      if (url.includes('/v1/payment_intents/') && isAway) throw new Error('away')
      return url.includes('/v1/payment_intents/')
        ? reply(charged(fingerprint))
        : reply({ ...session(email), payment_intent: charged(fingerprint) })
    }
    const stripe = openStripe(settings, 'USD', send)
    const body = stripeNotification({ id: 'o1', amountMinor: 5 }, session(email))
    const header = () => stripeSignature(body, settings.webhookSecret)
    const notified = (await stripe.readNotification({ body, header }, now)).paid
    return { notified, found: (await stripe.query(order)).paid }
  }
  const ann = await paidBy('ann@a.example', 'card-1')
  const other = await paidBy('other@a.example', 'card-1')
  expect(ann.notified).toEqual(ann.found)
  expect(ann.notified?.paidAt).toBe(1_700_000_000_000)
  expect(other.notified?.payerHash).toBe(ann.notified?.payerHash ?? '')
  // Another way to pay has no card, and a Stripe that is away does not hold a payment up.
  const wallets = [await paidBy('ann@a.example', null), await paidBy('bob@a.example', null)]
  expect(new Set([ann, ...wallets].map(({ notified }) => notified?.payerHash)).size).toBe(3)
  const { notified } = await paidBy('ann@a.example', 'card-1', true)
  expect(notified).toMatchObject({
    amountMinor: 5,
    payerHash: wallets[0]?.notified?.payerHash ?? '',
  })
})

test('a list without an end is given up', async () => {
  const send: Send = async () => reply({ data: [charge(1)], has_more: true })
  await expect(openStripe(settings, 'USD', send).bill('2026-11-22')).rejects.toBeInstanceOf(
    BillUnreadable,
  )
})

function reply(content: object) {
  const text = JSON.stringify(content)
  return { status: 200, text, bytes: new TextEncoder().encode(text), header: () => null }
}
