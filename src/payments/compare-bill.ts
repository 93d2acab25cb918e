// Compares a provider's bill with what was booked: finds entries of one side only, and differing amounts.

import type { Booked, Refund } from '../store/payment-tables.ts'
import type { BillRow } from './bill.ts'

/** `not_booked`: only in the bill. `not_billed`: only booked here. `amount`: on both sides with different amounts. */
export const differenceKinds = [
  'payment_not_booked',
  'payment_not_billed',
  'refund_not_booked',
  'refund_not_billed',
  'amount',
] as const

interface Line extends BillRow {
  /** The same on both sides: the transaction id of a payment, the refund id of a refund. */
  readonly id: string
}

interface BookedLine extends Line {
  /** Whether it must be in this day's bill; others may be in it. */
  readonly isDue: boolean
}

interface BillDifference {
  readonly kind: (typeof differenceKinds)[number]
  readonly transactionId: string
  readonly orderId: string
  readonly refundId: string | null
  /** null: missing on that side. */
  readonly billedMinor: number | null
  readonly bookedMinor: number | null
}

interface Comparison {
  readonly rows: readonly BillRow[]
  /** Payments and refunds of the day and the neighbouring days. */
  readonly booked: Booked
  /** The bill's day: since <= at < until, Unix milliseconds. */
  readonly since: number
  readonly until: number
}

/** Around midnight a payment or refund may be in the bill of the previous or the next day. */
const edgeMs = 3_600_000

export function compareBill({ rows, booked, since, until }: Comparison): readonly BillDifference[] {
  const isDueRefund = ({ state, at, endedAt }: Refund) =>
    state === 'done' && at >= since + edgeMs && (endedAt ?? at) < until - edgeMs
  return [
    ...compare('payment', {
      billed: rows.flatMap((row) =>
        row.refundId === null ? [{ ...row, id: row.transactionId }] : [],
      ),
      booked: booked.payments.map((each) => ({
        ...each,
        id: each.transactionId,
        refundId: null,
        isDue: each.paidAt >= since + edgeMs && each.paidAt < until - edgeMs,
      })),
    }),
    ...compare('refund', {
      billed: rows.flatMap((row) => (row.refundId === null ? [] : [{ ...row, id: row.refundId }])),
      booked: booked.refunds
        .filter(({ state }) => state !== 'failed')
        .map((each) => ({ ...each, refundId: each.id, isDue: isDueRefund(each) })),
    }),
  ]
}

interface Sides {
  readonly billed: readonly Line[]
  readonly booked: readonly BookedLine[]
}

function compare(of: 'payment' | 'refund', { billed, booked }: Sides): readonly BillDifference[] {
  const here = new Map(booked.map((line) => [line.id, line.amountMinor]))
  const there = new Set(billed.map(({ id }) => id))
  const inBill = billed.flatMap((line) => {
    const bookedMinor = here.get(line.id) ?? null
    if (bookedMinor === line.amountMinor) return []
    const kind = bookedMinor === null ? (`${of}_not_booked` as const) : 'amount'
    return [difference(kind, line, { billedMinor: line.amountMinor, bookedMinor })]
  })
  const missing = booked.filter(({ id, isDue }) => isDue && !there.has(id))
  return [
    ...inBill,
    ...missing.map((line) =>
      difference(`${of}_not_billed`, line, { billedMinor: null, bookedMinor: line.amountMinor }),
    ),
  ]
}

function difference(
  kind: BillDifference['kind'],
  { transactionId, orderId, refundId }: Line,
  amounts: Pick<BillDifference, 'billedMinor' | 'bookedMinor'>,
): BillDifference {
  return { kind, transactionId, orderId, refundId, ...amounts }
}
