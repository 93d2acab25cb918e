// Tests the notices of orders, on both engines: each is sent once, to the account of its order.

import { expect, test } from 'bun:test'
import { onEachEngine } from '../../test/contract/engines.ts'
import { adminOf } from '../../test/support/admin.ts'
import { newOrder, paidTransaction, unit } from '../../test/support/payments.ts'
import { raiseAlerts } from './alert-rules.ts'

const nowMs = 1_900_000_000_000
const hourMs = 3_600_000

onEachEngine('order notices', (start) => {
  test('a late credit and a refund that was paid are told once, whichever process looks', async () => {
    const { store, open } = await start()
    const other = await open()
    for (const account of ['ann', 'bob']) await store.accounts.ensure(account, 1)
    const orders = store.paymentOrders
    for (const id of ['o1', 'o2']) await orders.create(newOrder({ id, attempt: id }))
    await orders.end('o1', 'close', nowMs - hourMs)
    await store.payments.markPaid('o1', paidTransaction({ id: 't1' }), null, nowMs - 1)
    await store.payments.markPaid('o2', paidTransaction({ id: 't2' }), null, nowMs - 1)
    const asked = { id: 'r1', orderId: 'o2', amountMinor: 400, actor: 'op', reason: '', at: nowMs }
    await store.refunds.begin(asked, 'last')
    const raise = (at: number, from = store) => raiseAlerts(adminOf(from, { nowMs: at }), [])
    const raised = await Promise.all([raise(nowMs), raise(nowMs, other)])
    expect(raised[0] + raised[1]).toBe(1)
    await store.refunds.end('r1', 'done', null, nowMs)
    expect([await raise(nowMs + 1), await raise(nowMs + 2)]).toEqual([1, 0])
    expect(await raise(nowMs + 47 * hourMs)).toBe(0)
    expect(await raise(nowMs + 49 * hourMs)).toBe(0)
    expect(await store.alerts.raised()).toEqual([])
    const filter = { account: 'ann', unread: true, limit: 9 }
    const notices = await store.alertNotices.list(filter)
    expect(notices.map(({ document }) => document)).toMatchObject([
      { rule: 'order_refunded', orderId: 'o2', valueNano: String(4n * unit) },
      { rule: 'order_late', orderId: 'o1', valueNano: String(10n * unit) },
    ])
    expect(await store.alertNotices.list({ ...filter, account: 'bob' })).toEqual([])
  })
})
