// Tests the simulator's Stripe Checkout with Stripe's own library, in both directions.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Stripe from 'stripe'
import { last, type PaysimScene, startPaysim } from '../support/paysim.ts'

let scene: PaysimScene
let stripe: Stripe

beforeAll(async () => {
  scene = await startPaysim({ stripeWebhookUrl: 'https://merchant.example/stripe' })
  stripe = libraryOf(scene)
})
afterAll(() => scene.stop())

function libraryOf({ baseUrl, paysim }: PaysimScene, key = paysim.merchant.stripe.secretKey) {
  const { hostname, port } = new URL(baseUrl)
  return new Stripe(key, { host: hostname, port, protocol: 'http', maxNetworkRetries: 0 })
}

function session(order: string, more: object = {}) {
  return {
    mode: 'payment' as const,
    client_reference_id: order,
    success_url: 'https://merchant.example/done?session={CHECKOUT_SESSION_ID}',
    cancel_url: 'https://merchant.example/left',
    metadata: { order },
    line_items: [
      {
        quantity: 1,
        price_data: { currency: 'usd', unit_amount: 500, product_data: { name: 'Top up' } },
      },
    ],
    ...more,
  }
}

describe('requests of the library', () => {
  test('make a session, which is paid, told and refunded', async () => {
    const made = await stripe.checkout.sessions.create(session('order-1'))
    expect(made).toMatchObject({ status: 'open', payment_status: 'unpaid', amount_total: 500 })
    const pay = new URLSearchParams({ action: 'pay', payer: 'Alex Smith' })
    const paid = await fetch(made.url ?? '', { method: 'POST', body: pay, redirect: 'manual' })
    expect(paid.headers.get('location')).toBe(`https://merchant.example/done?session=${made.id}`)
    const after = await stripe.checkout.sessions.retrieve(made.id)
    expect(after).toMatchObject({ status: 'complete', payment_status: 'paid', url: null })

    const payment_intent = String(after.payment_intent)
    const once = { idempotencyKey: 'refund-1' }
    const refund = await stripe.refunds.create({ payment_intent, amount: 200 }, once)
    expect(refund).toMatchObject({ status: 'succeeded', amount: 200 })
    const again = await stripe.refunds.create({ payment_intent, amount: 200 }, once)
    expect(again.id).toBe(refund.id)
    const other = stripe.refunds.create({ payment_intent, amount: 100 }, once)
    await expect(other).rejects.toMatchObject({ type: 'StripeIdempotencyError' })
    const tooMuch = stripe.refunds.create({ payment_intent, amount: 301 })
    await expect(tooMuch).rejects.toMatchObject({ param: 'amount' })
    expect((await stripe.refunds.retrieve(refund.id)).amount).toBe(200)

    const { data, has_more } = await stripe.events.list({ limit: 100 })
    expect(data.map(({ type }) => type).sort()).toEqual([
      'charge.refunded',
      'checkout.session.completed',
    ])
    expect(has_more).toBe(false)
    const newest = last(data)
    expect((await stripe.events.retrieve(newest.id)).type).toBe(newest.type)
  })

  test('are refused with another key, without what is needed, and after the end', async () => {
    const stranger = libraryOf(scene, 'sk_test_other').checkout.sessions.create(session('order-2'))
    await expect(stranger).rejects.toMatchObject({ type: 'StripeAuthenticationError' })
    const bare = stripe.checkout.sessions.create(session('order-2', { line_items: [] }))
    await expect(bare).rejects.toMatchObject({
      code: 'parameter_missing',
      param: 'line_items[0][price_data][currency]',
    })
    const made = await stripe.checkout.sessions.create(session('order-2'))
    expect((await stripe.checkout.sessions.expire(made.id)).status).toBe('expired')
    await expect(stripe.checkout.sessions.expire(made.id)).rejects.toMatchObject({
      type: 'StripeInvalidRequestError',
    })
    const pay = new URLSearchParams({ action: 'pay' })
    const page = `${scene.baseUrl}/pay/stripe/${made.id}`
    expect((await fetch(page, { method: 'POST', body: pay })).status).toBe(200)
    expect((await stripe.checkout.sessions.retrieve(made.id)).payment_status).toBe('unpaid')
    const unknown = stripe.checkout.sessions.retrieve('cs_test_none')
    await expect(unknown).rejects.toMatchObject({ code: 'resource_missing' })
  })
})

test('webhooks are verified by the library; one changed byte or a forged one is not', async () => {
  const { webhookSecret } = scene.paysim.merchant.stripe
  const check = (body: string, header: string) =>
    stripe.webhooks.constructEventAsync(body, header, webhookSecret)
  await stripe.checkout.sessions.create(session('order-3'))
  await scene.paysim.control.pay('order-3', { amountMinor: 499 })
  const told = last(scene.notified)
  const header = told.headers.get('stripe-signature') ?? ''
  const event = await check(told.body, header)
  expect(event.type).toBe('checkout.session.completed')
  expect(event.data.object).toMatchObject({
    client_reference_id: 'order-3',
    amount_total: 499,
    metadata: { order: 'order-3' },
  })
  await expect(check(told.body.replace('499', '999'), header)).rejects.toThrow('signature')
  await stripe.checkout.sessions.create(session('order-4'))
  scene.paysim.control.misbehave({ forged: true })
  await scene.paysim.control.pay('order-4')
  const forged = last(scene.notified)
  const forgedHeader = forged.headers.get('stripe-signature') ?? ''
  await expect(check(forged.body, forgedHeader)).rejects.toThrow('signature')
  expect(last(scene.paysim.control.deliveries()).flaws).toEqual({ forged: true })
})
