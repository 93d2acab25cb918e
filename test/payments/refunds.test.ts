// Tests refunds that cannot be asked for: they hold up no other refund, and are refused where they could never end.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPayments } from '../../src/payments/payments.ts'
import type { Refund } from '../../src/store/payment-tables.ts'
import type { Store } from '../../src/store/store.ts'
import { person } from '../support/control.ts'
import { engineCases } from '../support/deployment.ts'
import { newOrder, paidTransaction, unit } from '../support/payments.ts'
import { type PaymentScene, startPaymentScene } from './scene.ts'

describe.each(engineCases)(
  'refunds and orders without their provider, on $engine',
  ({ databaseUrl }) => {
    let scene: PaymentScene
    let store: Store
    beforeAll(async () => {
      scene = await startPaymentScene({ databaseUrl })
      store = scene.stage.store
    })
    afterAll(() => scene.close())

    const root = person('root', 'admin')
    /** A process that is configured for no provider. */
    const without = () =>
      createPayments({
        store,
        settings: { ...scene.settings, alipay: null, wechatpay: null, stripe: null },
        currency: 'CNY',
        mode: 'live',
        send: () => Promise.reject(new Error('nobody is asked')),
        onProblem: () => undefined,
      })

    async function credited(id: string, mode: 'live' | 'play'): Promise<void> {
      await store.accounts.ensure(id, 1)
      await store.paymentOrders.create(newOrder({ id, account: id, mode }))
      const paid = paidTransaction({ id: `trade-${id}`, mode, payerHash: null })
      await store.payments.markPaid(id, paid, null, 5)
    }

    test('without an amount, what is left of the payment is refunded, not what was ordered', async () => {
      await store.accounts.ensure('part', 1)
      await store.paymentOrders.create(newOrder({ id: 'part', account: 'part' }))
      const paid = { id: 'trade-part', amountMinor: 500, payerHash: null }
      await store.payments.markPaid('part', paidTransaction(paid), null, 5)
      const refund = (body: object) =>
        scene.stage.send(root, 'POST', '/api/orders/part/refund', {
          body: { reason: 'asked for', ...body },
        })
      expect((await refund({ amount: '2.00', refund: 'r1' })).json.amount).toBe('2.00')
      expect((await refund({ refund: 'r2' })).json.amount).toBe('3.00')
      expect((await refund({ refund: 'r2' })).json.amount).toBe('3.00')
    })

    test('an order in play money is not refunded where real money is taken, and keeps its money', async () => {
      await credited('played', 'play')
      const path = '/api/orders/played/refund'
      const refused = await scene.stage.send(root, 'POST', path, { body: { reason: 'asked for' } })
      expect(refused.json).toMatchObject({ status: 409, field: 'id' })
      expect((await scene.stage.send(root, 'GET', `${path}?amount=1`)).json.status).toBe(409)
      expect((await store.journal.wallet('played'))?.postedNano).toBe(10n * unit)
    })

    test('51 refunds that stay pending do not keep a later one from being made', async () => {
      await credited('stuck', 'play')
      const at = Date.now() - 600_000
      const refund = { amountMinor: 1, actor: 'root', reason: 'asked for' }
      for (let n = 0; n < 51; n += 1)
        await store.refunds.begin({ ...refund, id: `s${n}`, orderId: 'stuck', at }, 'last')
      const made = await scene.order({ provider: 'stripe' })
      await scene.simulator.paysim.control.pay(made.id)
      const asked = { ...refund, id: 'later', orderId: made.id, at: at + 1 }
      expect(await store.refunds.begin(asked, 'last')).toMatchObject({ outcome: 'begun' })
      // The others are of an order in play money, whose provider cannot be asked here.
      for (const _ of [1, 2]) await scene.payments.sweep(Date.now())
      expect((await made.read()).refunds).toMatchObject([{ id: 'later', state: 'done' }])
      expect(await store.refunds.pending({ before: at + 9, after: null, limit: 99 })).toHaveLength(
        51,
      )
    })

    test("a refund of WeChat Pay that is another shop's of the same merchant is not taken for ours", async () => {
      const { control } = scene.simulator.paysim
      const [ours, others] = [
        await scene.order({ provider: 'wechatpay' }),
        await scene.order({ provider: 'wechatpay' }),
      ]
      for (const { id } of [ours, others]) await control.pay(id)
      const order = await store.paymentOrders.find(others.id)
      if (order?.transactionId == null) throw new Error('not paid')
      const asked = { id: '2001', orderId: order.id, transactionId: order.transactionId }
      const offered = await scene.payments.offered()
      const shop = offered.find(({ name }) => name === 'wechatpay')?.provider
      const refund = { ...asked, amountMinor: 400, reason: 'asked for' } as Refund
      expect(await shop?.refund(refund, order)).toBe('pending')
      const body = { reason: 'asked for', amount: '4.00', refund: '2001' }
      const { json } = await ours.refund(body)
      expect(json).toMatchObject({
        state: 'failed',
        failure: 'the merchant has another refund 2001',
      })
      expect(await ours.postedNano()).toBe(10n * unit)
    })

    test('an open order whose provider was removed ends, and a late payment still counts', async () => {
      const made = await scene.order({ provider: 'alipay' })
      await fetch(made.pay.url)
      const order = await store.paymentOrders.find(made.id)
      if (order === null) throw new Error('no order')
      expect(await without().end(order, 'close')).toBeTrue()
      expect(await made.read()).toMatchObject({ state: 'closed' })
      await scene.simulator.paysim.control.pay(made.id)
      expect(await made.read()).toMatchObject({ state: 'credited', flag: 'late' })
    })
  },
)
