// Tests that an automatic top-up is not charged in another currency than its payer agreed to.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setAutoTopUp } from '../../src/admin/auto-top-up.ts'
import { topUpAccounts } from '../../src/admin/auto-top-up-run.ts'
import { createPayments } from '../../src/payments/payments.ts'
import { openStore } from '../../src/store/open.ts'
import { adminOf } from '../support/admin.ts'
import { newOrder, paidTransaction, unit } from '../support/payments.ts'

test('after a change of the currency nothing is charged, and the rule stops until it is agreed to anew', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-agreed-'))
  const store = await openStore({ dataDir, databaseUrl: null })
  const calls: string[] = []
  const desk = (currency: string) => {
    const stripe = {
      secretKey: 'sk',
      webhookSecret: 'wh',
      baseUrl: 'https://stripe.example',
      currency,
    }
    const settings = {
      ...{
        minimum: '1',
        maximum: '10000',
        presets: [],
        orderMinutes: 15,
        queryBeforeCredit: false,
      },
      ...{ issuer: null, simulator: false, rates: { HKD: '0.128', USD: '1' }, bonus: null },
      ...{ alipay: null, wechatpay: null, stripe },
    } as never
    const payments = createPayments({
      store,
      settings,
      currency: 'USD',
      mode: 'live',
      async send({ url }) {
        calls.push(url)
        return { status: 200, text: '{}', bytes: new Uint8Array(), header: () => null }
      },
      onProblem: (error) => expect(error).toBeUndefined(),
    })
    return { payments, settings, mode: 'live', address: 'https://gateway.example' } as never
  }
  const admin = adminOf(store)
  await store.accounts.ensure('ann', 1)
  const agreed = {
    id: 'o1',
    provider: 'stripe',
    method: 'checkout_saved',
    currency: 'HKD',
  } as const
  await store.paymentOrders.create(newOrder(agreed))
  const paid = paidTransaction({ provider: 'stripe', currency: 'HKD', id: 'pi_1' })
  await store.payments.markPaid('o1', paid, null, 6)
  const rule = { account: 'ann', thresholdNano: 999n * unit, amount: '100', monthMost: '100' }
  await setAutoTopUp(admin, desk('HKD'), rule)
  await topUpAccounts(admin, desk('USD'), (error) => expect(error).toBeUndefined())
  expect(calls).toEqual([])
  expect((await store.autoTopUps.find('ann'))?.problem).toBe('it was agreed to in HKD, not USD')
  await expect(setAutoTopUp(admin, desk('USD'), rule)).rejects.toMatchObject({ field: 'account' })
  await store.close()
  rmSync(dataDir, { recursive: true })
})
