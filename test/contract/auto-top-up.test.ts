// Tests automatic top-up rules in the store, on both engines: one order at a time, whatever becomes of the rule.

import { expect, test } from 'bun:test'
import { newOrder } from '../support/payments.ts'
import { onEachEngine } from './engines.ts'

onEachEngine('automatic top-up', (start) => {
  test('a rule that is removed and made again waits for the order of the one before', async () => {
    const { store } = await start()
    await store.accounts.ensure('ann', 1)
    await store.paymentOrders.create(newOrder({ id: 'agreed', account: 'ann' }))
    const put = (revision: number) =>
      store.autoTopUps.put({
        account: 'ann',
        mode: 'live',
        agreement: 'agreed',
        thresholdNano: 1n,
        amountMinor: 1_000,
        monthMinor: 100_000,
        revision,
      })
    const begin = (orderId: string) =>
      store.autoTopUps.begin({ account: 'ann', revision: 1 }, orderId, 0)
    expect(await put(0)).toBe(true)
    expect(await begin('first')).toBe(true)
    const method = 'off_session'
    await store.paymentOrders.create(newOrder({ id: 'first', account: 'ann', method }))
    expect(await store.autoTopUps.remove('ann')).toBe(true)
    expect(await put(0)).toBe(true)
    expect(await begin('second')).toBe(false)
    await store.paymentOrders.end('first', 'close', 2)
    expect(await begin('second')).toBe(true)
  })
})
