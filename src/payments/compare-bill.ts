// A provider's bill against what was booked: what stands on one side alone, or with another amount.

import type { Booked, Refund } from '../store/payment-tables.ts'
import type { BillRow } from './bill.ts'

/**
 * `payment_not_booked`: paid at the provider, not credited here. `payment_not_billed`: credited here, not in the bill.
 * `amount`: another amount. `refund_not_booked`, `refund_not_billed`: the same of refunds.
 */
type DifferenceKind =
  | 'payment_not_booked'
  | 'payment_not_billed'
  | 'refund_not_booked'
  | 'refund_not_billed'
  | 'amount'

interface BillDifference {
  readonly kind: DifferenceKind
  readonly transactionId: string
  readonly orderId: string
  readonly refundId: string | null
  /** null: it is not there. */
  readonly billedMinor: number | null
  readonly bookedMinor: number | null
}

interface Comparison {
  readonly rows: readonly BillRow[]
  /** Of the day and those beside it. */
  readonly booked: Booked
  /** The day's. */
  readonly since: number
  readonly until: number
}

/** Around midnight a refund may stand in the bill of the day before or after. */
const edgeMs = 3_600_000

export function compareBill(comparison: Comparison): readonly BillDifference[] {
  return [...comparePayments(comparison), ...compareRefunds(comparison)]
}

function comparePayments({ rows, booked, since, until }: Comparison): BillDifference[] {
  const billed = rows.filter(({ refundId }) => refundId === null)
  const billedIds = new Set(billed.map(({ transactionId }) => transactionId))
  const known = new Map(booked.payments.map((each) => [each.transactionId, each]))
  const ofBill = billed.flatMap(({ transactionId, orderId, amountMinor }): BillDifference[] => {
    const here = known.get(transactionId)
    if (here?.amountMinor === amountMinor) return []
    const bookedMinor = here?.amountMinor ?? null
    const kind = here === undefined ? 'payment_not_booked' : 'amount'
    return [{ kind, transactionId, orderId, refundId: null, billedMinor: amountMinor, bookedMinor }]
  })
  const ofDay = booked.payments.filter(({ paidAt }) => paidAt >= since && paidAt < until)
  const missing = ofDay.filter(({ transactionId }) => !billedIds.has(transactionId))
  return [
    ...ofBill,
    ...missing.map(({ transactionId, orderId, amountMinor }): BillDifference => {
      const kind = 'payment_not_billed'
      return {
        kind,
        transactionId,
        orderId,
        refundId: null,
        billedMinor: null,
        bookedMinor: amountMinor,
      }
    }),
  ]
}

function compareRefunds({ rows, booked, since, until }: Comparison): BillDifference[] {
  const billed = rows.filter(({ refundId }) => refundId !== null)
  const billedIds = new Set(billed.map(({ refundId }) => refundId))
  const known = new Map(booked.refunds.map((each) => [each.id, each]))
  const ofBill = billed.flatMap((row): BillDifference[] => {
    const here = known.get(row.refundId ?? '')
    const isBooked = here !== undefined && here.state !== 'failed'
    if (isBooked && here.amountMinor === row.amountMinor) return []
    const { transactionId, orderId, refundId, amountMinor: billedMinor } = row
    const kind = isBooked ? 'amount' : 'refund_not_booked'
    const bookedMinor = isBooked ? here.amountMinor : null
    return [{ kind, transactionId, orderId, refundId, billedMinor, bookedMinor }]
  })
  const isOfDay = ({ state, endedAt, at }: Refund) =>
    state === 'done' && at >= since + edgeMs && (endedAt ?? at) < until - edgeMs
  const missing = booked.refunds.filter((each) => isOfDay(each) && !billedIds.has(each.id))
  return [
    ...ofBill,
    ...missing.map(({ id, transactionId, orderId, amountMinor }): BillDifference => {
      const kind = 'refund_not_billed'
      return {
        kind,
        transactionId,
        orderId,
        refundId: id,
        billedMinor: null,
        bookedMinor: amountMinor,
      }
    }),
  ]
}
