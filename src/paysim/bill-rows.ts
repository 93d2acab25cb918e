// The payments and refunds of one day in China, as the bills of Alipay and WeChat Pay list them.
import type { InterfaceFlaws } from './misbehaviour.ts'
import { chinaTime, chinaTimeMs } from './simulation.ts'
import type { Payment, Provider, Refund, State, Transaction } from './state.ts'

export interface BillRow {
  readonly payment: Payment
  readonly transaction: Transaction
  /** Set in the row of a refund. */
  readonly refund?: Refund
  /** The amount that the bill shows. */
  readonly amountMinor: number
}

const dayMs = 24 * 3_600_000

/** Unix ms of the beginning of a day like `2026-11-23`; undefined where it is not over, or not a valid date. */
export function finishedDay(date: string, now: number): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return undefined
  const start = chinaTimeMs(`${date} 00:00:00`)
  const isDay = !Number.isNaN(start) && chinaTime(start).startsWith(date)
  return isDay && start + dayMs <= now ? start : undefined
}

/** The rows in chronological order. */
export function billRows(
  state: State,
  { provider, start, flaw }: { provider: Provider; start: number; flaw: InterfaceFlaws['bill'] },
): BillRow[] {
  const isOn = ({ at }: { readonly at: number }) => at >= start && at < start + dayMs
  const payments = state.payments.filter((one) => one.provider === provider)
  const rows = payments.flatMap((payment) => [
    ...payment.transactions.filter(isOn).map((transaction): BillRow => {
      return { payment, transaction, amountMinor: transaction.amountMinor }
    }),
    ...payment.refunds.filter(isOn).flatMap((refund): BillRow[] => {
      const transaction = payment.transactions.find(({ id }) => id === refund.transactionId)
      if (transaction === undefined) return []
      return [{ payment, transaction, refund, amountMinor: refund.amountMinor }]
    }),
  ])
  rows.sort((one, other) => atOf(one) - atOf(other))
  return flawed(rows, flaw, start)
}

export function atOf({ transaction, refund }: BillRow): number {
  return (refund ?? transaction).at
}

function flawed(rows: BillRow[], flaw: InterfaceFlaws['bill'], start: number): BillRow[] {
  const [first, ...others] = rows
  if (flaw === undefined || first === undefined) return rows
  if (flaw === 'missing') return others
  if (flaw === 'amount') return [{ ...first, amountMinor: first.amountMinor + 1 }, ...others]
  // The invented row is the same each time, because the file's hash is announced before the file is read.
  const id = first.transaction.id.replace(/.{4}$/, '0000')
  const transaction = { ...first.transaction, id, at: start }
  const payment = { ...first.payment, orderId: 'unknown0order' }
  return [{ payment, transaction, amountMinor: first.amountMinor }, ...rows]
}
