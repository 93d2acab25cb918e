// Tests that a payment which its provider has paid back before it was credited is not credited by a query.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStripe } from '../../src/payments/stripe.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { newOrder, paidTransaction } from '../support/payments.ts'

let dataDir: string
let store: Store
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'tollgate-refunded-'))
  store = await openStore({ dataDir, databaseUrl: null })
  await store.accounts.ensure('ann', 1)
  await store.paymentOrders.create(newOrder({ provider: 'stripe', currency: 'USD' }))
  const shown = { kind: 'redirect', url: 'https://pay.example', session: 'cs_1' } as const
  await store.paymentOrders.show('o1', shown, 2)
})
afterEach(async () => {
  await store.close()
  rmSync(dataDir, { recursive: true })
})

async function amountPaid(refunded: number): Promise<number | null> {
  const session = {
    id: 'cs_1',
    client_reference_id: 'o1',
    payment_status: 'paid',
    amount_total: 1_000,
    currency: 'usd',
    payment_intent: { id: 'pi_1', latest_charge: { created: 5, amount_refunded: refunded } },
  }
  const settings = { secretKey: 'sk', webhookSecret: 'wh', baseUrl: 'https://stripe.example' }
  const text = JSON.stringify(session)
  const reply = { status: 200, text, bytes: new Uint8Array(), header: () => null }
  const stripe = openStripe({ ...settings, currency: 'USD' }, 'USD', async () => reply)
  const order = await store.paymentOrders.find('o1')
  if (order === null) throw new Error('there is no order')
  return (await stripe.query(order)).paid?.amountMinor ?? null
}

test('what Stripe has refunded of an uncredited payment does not count as paid', async () => {
  expect([await amountPaid(0), await amountPaid(400), await amountPaid(1_000)]).toEqual([
    1_000,
    600,
    null,
  ])
})

test('a payment that was credited stays the same after its refund', async () => {
  const paid = paidTransaction({ provider: 'stripe', currency: 'USD', id: 'pi_1' })
  await store.payments.markPaid('o1', paid, null, 6)
  expect(await amountPaid(1_000)).toBe(1_000)
})
