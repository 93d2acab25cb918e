// Tests what Stripe needs beyond other providers: an account that sells other things too, and sessions of a certain
// length.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { person } from '../support/control.ts'
import { health } from '../support/payments.ts'
import { stripeNotification, stripeSignature } from './providers.ts'
import { type PaymentScene, startPaymentScene } from './scene.ts'

let scene: PaymentScene
beforeAll(async () => {
  scene = await startPaymentScene({ databaseUrl: null })
})
afterAll(() => scene.close())

test('what else is sold through the same account is acknowledged, kept, and credits nothing', async () => {
  const order = await scene.order({ provider: 'stripe' })
  const { webhookSecret } = scene.simulator.paysim.merchant.stripe
  const paid = { id: order.id, amountMinor: 1_000 }
  const sales = [
    [200, { client_reference_id: null, metadata: {} }],
    // A Payment Link, whose buyer has chosen the reference.
    [200, { metadata: {} }],
    [200, { client_reference_id: 'ours', metadata: { order: 'ours' } }],
    [400, { client_reference_id: 'another-order' }],
    [
      200,
      {
        client_reference_id: 'of-another-deployment',
        metadata: { checkout_order: 'of-another-deployment' },
      },
    ],
    [400, { metadata: { checkout_order: 'of-another-deployment' } }],
  ] as const
  for (const [expected, change] of sales) {
    const body = stripeNotification(paid, { currency: 'cny', ...change })
    const headers = { 'stripe-signature': stripeSignature(body, webhookSecret) }
    const path = '/api/payments/stripe/notify'
    const { status } = await scene.stage.reply(null, path, { method: 'POST', headers, body })
    expect([change, status]).toEqual([change, expected])
  }
  expect(await order.postedNano()).toBe(0n)
  expect((await order.read()).state).toBe('shown')
  expect((await health(scene.stage.store, 'stripe')).takenAt).not.toBeNull()
})

test("an inquiry of the payer's bank holds up no refund, until Stripe takes the money for it", async () => {
  const { control, merchant } = scene.simulator.paysim
  const order = await scene.order({ provider: 'stripe' })
  await control.pay(order.id)
  const { tradeNumber } = await order.read()
  const notified = async (what: string, status: string) => {
    const dispute = { id: `du_${order.id}`, payment_intent: tradeNumber, amount: 1_000, status }
    const event = { id: `evt_${what}`, type: `charge.dispute.${what}`, data: { object: dispute } }
    const body = JSON.stringify(event)
    const headers = { 'stripe-signature': stripeSignature(body, merchant.stripe.webhookSecret) }
    const path = '/api/payments/stripe/notify'
    const reply = await scene.stage.reply(null, path, { method: 'POST', headers, body })
    return [reply.status, (await order.read()).state]
  }
  expect(await notified('created', 'warning_needs_response')).toEqual([200, 'credited'])
  expect((await order.refund({ reason: 'asked for', amount: '4.00' })).json.state).toBe('done')
  expect(await notified('funds_withdrawn', 'needs_response')).toEqual([200, 'disputed'])
  expect((await order.refund({ reason: 'asked for', amount: '4.00' })).status).toBe(409)
  expect(await notified('closed', 'warning_closed')).toEqual([200, 'part_refunded'])
})

test('an order that could not be shown is shown until it expires', async () => {
  const { simulator, stage } = scene
  await stage.store.accounts.ensure('late', 1)
  const body = { provider: 'stripe', amount: '10.00', attempt: 'late' }
  const order = () => stage.send(person('late'), 'POST', '/api/orders', { body })
  simulator.paysim.control.misbehave({ down: true })
  expect((await order()).json).toMatchObject({ status: 409, field: 'provider' })
  simulator.clock.advance(14 * 60_000)
  expect((await order()).json).toMatchObject({ state: 'shown', pay: { kind: 'redirect' } })
})

test('what Stripe says about the operator is logged, and not shown to customers', async () => {
  const message = 'Invalid API Key provided: sk_live_****abcd'
  const stripe = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => Response.json({ error: { message } }, { status: 401 }),
  })
  const baseUrl = stripe.url.href.slice(0, -1)
  const payments = { stripe: { secretKey: 'sk', webhookSecret: 'whsec', baseUrl } }
  const refused = await startPaymentScene({ databaseUrl: null, payments })
  try {
    await refused.stage.store.accounts.ensure('ann', 1)
    const body = { provider: 'stripe', amount: '10.00', attempt: 'one' }
    const { json } = await refused.stage.send(person('ann'), 'POST', '/api/orders', { body })
    expect(json).toMatchObject({ status: 409, reason: 'provider_unreachable' })
    expect(JSON.stringify(json)).not.toContain('Key')
    expect(refused.problems.map((problem) => problem.message)).toEqual([message])
  } finally {
    await refused.close()
    await stripe.stop(true)
  }
})
