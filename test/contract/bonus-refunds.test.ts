// Tests that a bonus which expires while a refund is under way is gone also if the refund fails, on both engines.

import { expect, test } from 'bun:test'
import { newOrder, paidTransaction, unit } from '../support/payments.ts'
import { onEachEngine } from './engines.ts'

const bonus = { amountNano: 2n * unit, expiresAt: 9_000 }

onEachEngine('a bonus that expires during a refund', (start) => {
  test.each([
    ['of all', 1_000],
    ['of a part', 500],
  ])('%s does not come back for ever when the refund fails', async (_, amountMinor) => {
    const { store } = await start()
    const postedNano = async () => (await store.journal.wallet('ann'))?.postedNano
    const expire = (at: number) =>
      store.payments.expireBonuses(at, { spending: 'last', inPart: false })
    await store.accounts.ensure('ann', 1)
    await store.paymentOrders.create(newOrder())
    await store.payments.markPaid('o1', paidTransaction(), bonus, 6_000)
    expect(await postedNano()).toBe(12n * unit)
    const refund = {
      id: 'r1',
      orderId: 'o1',
      amountMinor,
      actor: 'root',
      reason: 'asked',
      at: 7_000,
    }
    expect((await store.refunds.begin(refund, 'last')).outcome).toBe('begun')
    await expire(9_001)
    await store.refunds.end('r1', 'failed', 'no', 9_500, 'last')
    await expire(10_000)
    await expire(11_000)
    expect(await postedNano()).toBe(10n * unit)
    const report = await store.audit.run(() => (row) => row.chargeNano)
    expect(report.findings).toEqual([])
  })
})
