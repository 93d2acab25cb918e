// Tests when bills are compared, and what is reported about them.

import { expect, test } from 'bun:test'
import type { OrderDesk } from '../admin/orders.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import { createBillWatch } from './payment-bills.ts'

const hourMs = 3_600_000
/** Midnight of 2026-11-23 in China. */
const midnight = Date.parse('2026-11-23T00:00:00+08:00')

/** The state that all processes of a deployment share: bills of days before the 22nd are compared. */
function keptBills(): Store['bills'] {
  const kept = new Map<string, number>()
  for (let day = 15; day < 22; day += 1) kept.set(`2026-11-${day}`, Number.POSITIVE_INFINITY)
  return {
    async take({ day }, nowMs, until) {
      if ((kept.get(day) ?? 0) > nowMs) return false
      kept.set(day, until)
      return true
    },
    async done({ day }) {
      kept.set(day, Number.POSITIVE_INFINITY)
    },
    again: async () => undefined,
    differing: async () => [],
  }
}

function stage(bills = keptBills()) {
  const asked: string[] = []
  const warned: object[] = []
  let isDown = false
  const provider = {
    currency: 'CNY',
    async bill(day: string) {
      asked.push(day)
      if (isDown) throw new Error('down')
      return [{ transactionId: 't1', orderId: 'o1', refundId: null, amountMinor: 100 }]
    },
  }
  const desk = {
    mode: 'live',
    payments: { offered: async () => [{ name: 'alipay', provider }] },
  } as unknown as OrderDesk
  const store = {
    payments: { booked: async () => ({ payments: [], refunds: [] }) },
    paymentOrders: { find: async () => null },
    bills,
  } as unknown as Store
  const log = { warn: (fields: object) => warned.push(fields) } as unknown as Log
  const watch = createBillWatch({ store, log, desk: async () => desk })
  return { asked, warned, watch, fail: (down: boolean) => (isDown = down) }
}

test('once a day, when bills are there, and a difference is a warning', async () => {
  const { asked, warned, watch } = stage()
  await watch.look(midnight + 10 * hourMs)
  expect(asked).toEqual([])
  for (const hours of [11, 12, 23]) await watch.look(midnight + hours * hourMs)
  expect(asked).toEqual(['2026-11-22'])
  expect(warned).toMatchObject([{ provider: 'alipay', day: '2026-11-22', count: 1 }])
  await watch.look(midnight + 35 * hourMs)
  expect(asked).toEqual(['2026-11-22', '2026-11-23'])
})

test('after a failure it is asked again an hour later', async () => {
  const { asked, watch, fail } = stage()
  fail(true)
  await expect(watch.look(midnight + 11 * hourMs)).rejects.toThrow('down')
  await watch.look(midnight + 11.5 * hourMs)
  expect(asked).toHaveLength(1)
  fail(false)
  await watch.look(midnight + 12.1 * hourMs)
  await watch.look(midnight + 14 * hourMs)
  expect(asked).toHaveLength(2)
})

test('a day on which it was not compared is compared later, for a week', async () => {
  const { asked, watch, fail } = stage()
  fail(true)
  await expect(watch.look(midnight + 23 * hourMs)).rejects.toThrow('down')
  fail(false)
  asked.length = 0
  await watch.look(midnight + 2 * 24 * hourMs + 11 * hourMs)
  expect(asked).toEqual(['2026-11-22', '2026-11-23', '2026-11-24'])
  asked.length = 0
  await watch.look(midnight + 12 * 24 * hourMs + 11 * hourMs)
  expect(asked).toHaveLength(7)
  expect(asked[0]).toBe('2026-11-28')
})

test('of two processes one compares, and the other takes over where it fails', async () => {
  const bills = keptBills()
  const [first, second] = [stage(bills), stage(bills)]
  first.fail(true)
  await expect(first.watch.look(midnight + 11 * hourMs)).rejects.toThrow('down')
  await second.watch.look(midnight + 11.5 * hourMs)
  expect(second.asked).toEqual([])
  await second.watch.look(midnight + 12.6 * hourMs)
  first.fail(false)
  await first.watch.look(midnight + 14 * hourMs)
  expect([first.asked, second.asked]).toEqual([['2026-11-22'], ['2026-11-22']])
})
