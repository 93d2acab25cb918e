// What happened on one of China's days, as the bills of Alipay and WeChat Pay list it.
import type { InterfaceFlaws } from './misbehaviour.ts'
import { chinaTime, chinaTimeMs } from './simulation.ts'
import type { Payment, Provider, Refund, State, Transaction } from './state.ts'

export interface BillRow {
  readonly payment: Payment
  readonly transaction: Transaction
  /** Present in the row of a refund. */
  readonly refund?: Refund
  /** As the bill says it. */
  readonly amountMinor: number
}

const dayMs = 24 * 3_600_000

/** Unix ms of the beginning of `2026-11-23` where that day is over; undefined where it is not, or is none. */
export function finishedDay(date: string, now: number): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return undefined
  const start = chinaTimeMs(`${date} 00:00:00`)
  const isDay = !Number.isNaN(start) && chinaTime(start).startsWith(date)
  return isDay && start + dayMs <= now ? start : undefined
}

/** In the order in which they happened. */
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
  // The same each time it is asked for, as the file's hash is told before the file.
  const id = first.transaction.id.replace(/.{4}$/, '0000')
  const transaction = { ...first.transaction, id, at: start }
  const payment = { ...first.payment, orderId: 'unknown0order' }
  return [{ payment, transaction, amountMinor: first.amountMinor }, ...rows]
}
