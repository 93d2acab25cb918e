// Tests which booked payments must be in the bill of a day.

import { expect, test } from 'bun:test'
import { chinaDay } from './china-time.ts'
import { compareBill } from './compare-bill.ts'

test('a payment seconds from midnight may be in the bill of the neighbouring day; one of noon must be in it', () => {
  const { since, until } = chinaDay('2026-11-22')
  const missing = (paidAt: number) => {
    const payment = { transactionId: 't1', orderId: 'o1', amountMinor: 100, paidAt }
    return compareBill({ rows: [], booked: { payments: [payment], refunds: [] }, since, until })
  }
  expect(missing(since + 2_000)).toEqual([])
  expect(missing(until - 2_000)).toEqual([])
  expect(missing((since + until) / 2)).toMatchObject([{ kind: 'payment_not_billed' }])
})
