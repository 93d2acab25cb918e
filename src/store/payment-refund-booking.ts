// Books refunds: what a refund takes out of a wallet, with which part of the bonus, and how it returns.

import type { Nano } from '../money.ts'
import type { Session } from './engine.ts'
import { postAll } from './journal.ts'
import { house, type Transfer, walletOf } from './ledger.ts'
import type { OrderEvent } from './order-state.ts'
import { clearingOf } from './payment-orders.ts'
import { bonusesOf, bonusLeft, moveBonusBase, readCounters } from './payment-standing.ts'
import type { BonusSpending, PaymentOrder, Refund } from './payment-tables.ts'
import { cleanText } from './text.ts'

/**
 * Takes the refund out of the wallet, whose free money must suffice. One that takes a bonus alone, since the paid money
 * is spent, has no row: it returns nothing to the payer.
 */
export async function bookRefund(
  session: Session,
  order: PaymentOrder,
  refund: Refund,
): Promise<void> {
  if (refund.amountMinor > 0) await insertRefund(session, refund)
  await moveBonus(session, refund, 1n)
  await postAll(session, transfersOf(order, refund))
}

interface Payment {
  readonly id: string
  readonly amountMinor: number
  /** Part that is not refunded yet. */
  readonly leftMinor: number
}

/** Credited payments of the order, in the order they arrived. */
export function readPayments(session: Session, orderId: string): Promise<Payment[]> {
  return session.query<Payment>(
    `SELECT id, amount_minor AS "amountMinor", CAST(amount_minor - coalesce((SELECT sum(amount_minor)
          FROM payment_refund WHERE payment_refund.order_id = payment_transaction.order_id
            AND transaction_id = payment_transaction.id AND state <> 'failed'), 0) AS BIGINT) AS "leftMinor"
      FROM payment_transaction WHERE order_id = ? AND transfer IS NOT NULL ORDER BY at, id`,
    [orderId],
  )
}

interface Clawing {
  readonly payments: readonly Payment[]
  readonly amountMinor: number
  readonly spending: BonusSpending
}

/** Amount of the order's bonus to take back, in proportion to the refunded part; at most what is left of the bonus. */
export async function clawbackOf(
  session: Session,
  order: PaymentOrder,
  { payments, amountMinor, spending }: Clawing,
): Promise<Nano> {
  const [bonus] = await bonusesOf(session, 'order_id = ?', [order.id])
  const counters = await readCounters(session, order.account)
  if (bonus === undefined || counters === null) return 0n
  const paid = payments.reduce((sum, { amountMinor }) => sum + BigInt(amountMinor), 0n)
  const left = payments.reduce((sum, { leftMinor }) => sum + BigInt(leftMinor), 0n)
  const refunded = paid - left + BigInt(amountMinor)
  const dueNano = (bonus.amountNano * refunded + paid - 1n) / paid - bonus.takenNano
  const leftNano = bonusLeft(bonus, counters, spending)
  const takenNano = dueNano < leftNano ? dueNano : leftNano
  return takenNano < 0n ? 0n : takenNano
}

async function insertRefund(session: Session, refund: Refund): Promise<void> {
  await session.run(
    `INSERT INTO payment_refund (id, order_id, account, provider, transaction_id, amount_minor, amount_nano,
        clawback_nano, state, actor, reason, at, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      cleanText(refund.id),
      refund.orderId,
      refund.account,
      refund.provider,
      refund.transactionId,
      refund.amountMinor,
      refund.amountNano,
      refund.clawbackNano,
      refund.state,
      cleanText(refund.actor),
      cleanText(refund.reason),
      refund.at,
      refund.endedAt,
    ],
  )
}

/** `sign` -1n: the refund failed, and its bonus is restored. */
async function moveBonus(session: Session, refund: Refund, sign: 1n | -1n): Promise<void> {
  const { orderId, account, amountNano, clawbackNano } = refund
  // A bonus that expired during the refund expires again with what is restored.
  const again = sign === -1n ? ', expired_at = NULL' : ''
  const sql = `UPDATE payment_bonus SET taken_nano = taken_nano + ?${again} WHERE order_id = ?`
  if (clawbackNano > 0n) await session.run(sql, [sign * clawbackNano, orderId])
  // Counters only grow: returned money is a credit, while the refund itself remains among the debits.
  if (sign === 1n) await moveBonusBase(session, account, amountNano + clawbackNano)
}

function transfersOf(order: PaymentOrder, refund: Refund): Transfer[] {
  const { id, actor, reason, at, amountNano, clawbackNano } = refund
  const entry = { debit: walletOf(order.account), actor, reason, at }
  const paid = { ...entry, id: `refund:${id}`, code: 'refund', credit: clearingOf(order) }
  const given = { ...entry, id: `clawback:${id}`, code: 'clawback', credit: house.promo }
  return [
    ...(amountNano > 0n ? [{ ...paid, amountNano }] : []),
    ...(clawbackNano > 0n ? [{ ...given, amountNano: clawbackNano }] : []),
  ]
}

export async function stateOfRefunds(session: Session, orderId: string): Promise<OrderEvent> {
  const payments = await readPayments(session, orderId)
  const isWhole = payments.every(({ leftMinor }) => leftMinor === 0)
  const isNone = payments.every(({ leftMinor, amountMinor }) => leftMinor === amountMinor)
  return isWhole ? 'refund_whole' : isNone ? 'refund_none' : 'refund_part'
}

/** Returns the money of a refund that failed, and its bonus. */
export async function undoRefund(
  session: Session,
  order: PaymentOrder,
  refund: Refund,
): Promise<void> {
  const undone = transfersOf(order, refund).map((transfer) => ({
    ...transfer,
    id: transfer.id.replace(':', '_undone:'),
    code: `${transfer.code}_undone`,
    debit: transfer.credit,
    credit: transfer.debit,
  }))
  await postAll(session, undone)
  await moveBonus(session, refund, -1n)
}
