// Refunds: the money leaves the wallet before the provider is asked, and returns if the provider refuses.

import type { Nano } from '../money.ts'
import type { Engine, Session } from './engine.ts'
import { postAll } from './journal.ts'
import { house, type Transfer, walletOf } from './ledger.ts'
import { nextState, type OrderEvent } from './order-state.ts'
import { changeOrder, clearingOf, findOrder, lockOrder } from './payment-orders.ts'
import { readRefunds } from './payment-refund-rows.ts'
import {
  bonusesOf,
  bonusLeft,
  moveBonusBase,
  readCounters,
  readStanding,
} from './payment-standing.ts'
import type {
  BonusSpending,
  PaymentOrder,
  Refund,
  RefundBegun,
  RefundPlanned,
  RefundTable,
} from './payment-tables.ts'
import { cleanText, cleanTextOrNull } from './text.ts'
import { lockWallets } from './wallets.ts'

type NewRefund = Parameters<RefundTable['begin']>[0]

export function refundTable(engine: Engine): RefundTable {
  return {
    plan: ({ orderId, amountMinor }, spending) =>
      engine.snapshot(async (session) =>
        plan(session, await findOrder(session, orderId), { amountMinor, spending }),
      ),
    begin: (asked, spending) => engine.transaction((session) => begin(session, asked, spending)),
    end: (id, how, failure, at) =>
      engine.transaction((session) => end(session, id, { how, failure, at })),
    done: (since, limit) =>
      readRefunds(
        engine,
        "WHERE state = 'done' AND ended_at >= ? ORDER BY ended_at DESC, id LIMIT ?",
        [since, limit],
      ),
    pending: (before, limit) =>
      readRefunds(engine, `WHERE state = 'pending' AND at < ? ORDER BY at, id LIMIT ?`, [
        before,
        limit,
      ]),
  }
}

async function begin(
  session: Session,
  asked: NewRefund,
  spending: BonusSpending,
): Promise<RefundBegun> {
  const order = await lockOrder(session, asked.orderId)
  const [known] = await readRefunds(session, 'WHERE id = ?', [cleanText(asked.id)])
  if (known !== undefined) return { outcome: 'known', refund: known }
  const wallet = order && (await lockWallets(session, [order.account])).get(order.account)
  const planned = await plan(session, order, { amountMinor: asked.amountMinor, spending })
  if (planned.outcome !== 'planned') return planned
  if (!order || !wallet) return { outcome: 'not_paid' }
  const { amountNano, clawbackNano, transactionId } = planned
  if (amountNano + clawbackNano > wallet.postedNano - wallet.leasedNano)
    return { outcome: 'leased', accounts: [order.account] }
  const refund: Refund = {
    ...asked,
    account: order.account,
    provider: order.provider,
    transactionId,
    amountNano,
    clawbackNano,
    state: 'pending',
    failure: null,
    endedAt: null,
  }
  await bookRefund(session, order, refund)
  await noteState(session, order)
  return { outcome: 'begun', refund }
}

interface RefundAmount {
  readonly amountMinor: number
  readonly spending: BonusSpending
}

type Planned =
  | Exclude<RefundPlanned, { readonly outcome: 'planned' }>
  | (Extract<RefundPlanned, { readonly outcome: 'planned' }> & { readonly transactionId: string })

/** Plans a refund of one payment, limited to what is left of it and what the account can give back. */
async function plan(
  session: Session,
  order: PaymentOrder | null,
  { amountMinor, spending }: RefundAmount,
): Promise<Planned> {
  if (order === null) return { outcome: 'not_paid' }
  if (order.state === 'disputed') return { outcome: 'disputed' }
  const standing = await readStanding(session, order.account, { mode: order.mode, spending })
  const payments = await readPayments(session, order.id)
  if (standing === null || payments.length === 0) return { outcome: 'not_paid' }
  const amountNano = BigInt(amountMinor) * order.nanoPerMinor
  const payment = payments.find(({ leftMinor }) => leftMinor >= amountMinor)
  const mostNano =
    BigInt(Math.max(...payments.map(({ leftMinor }) => leftMinor))) * order.nanoPerMinor
  const refundableNano = standing.refundableNano < mostNano ? standing.refundableNano : mostNano
  if (payment === undefined || amountNano > refundableNano)
    return { outcome: 'too_much', refundableNano }
  const clawbackNano = await clawbackOf(session, order, { amountMinor, payments, spending })
  return { outcome: 'planned', amountNano, clawbackNano, transactionId: payment.id }
}

/** Takes the refund out of the wallet, whose free money must suffice. */
export async function bookRefund(
  session: Session,
  order: PaymentOrder,
  refund: Refund,
): Promise<void> {
  await insertRefund(session, refund)
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
  const sql = 'UPDATE payment_bonus SET taken_nano = taken_nano + ? WHERE order_id = ?'
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
    { ...paid, amountNano },
    ...(clawbackNano > 0n ? [{ ...given, amountNano: clawbackNano }] : []),
  ]
}

export async function stateOfRefunds(session: Session, orderId: string): Promise<OrderEvent> {
  const payments = await readPayments(session, orderId)
  const isWhole = payments.every(({ leftMinor }) => leftMinor === 0)
  const isNone = payments.every(({ leftMinor, amountMinor }) => leftMinor === amountMinor)
  return isWhole ? 'refund_whole' : isNone ? 'refund_none' : 'refund_part'
}

/** Sets the order's state from its refunds; a failed refund does not end a dispute. */
async function noteState(session: Session, order: PaymentOrder): Promise<void> {
  const isDisputed = order.state === 'disputed'
  const event = isDisputed ? 'dispute' : await stateOfRefunds(session, order.id)
  const state = nextState(order.state, event)
  if (state === null) throw new Error(`An order that is ${order.state} cannot be refunded.`)
  await changeOrder(session, order.id, state, { sql: 'query_at = NULL', values: [] })
}

async function end(
  session: Session,
  id: string,
  ending: {
    readonly how: 'done' | 'failed'
    readonly failure: string | null
    readonly at: number
  },
): Promise<boolean> {
  const { how, failure, at } = ending
  const [refund] = await readRefunds(session, 'WHERE id = ?', [cleanText(id)])
  const order = refund && (await lockOrder(session, refund.orderId))
  if (!refund || !order) return false
  const changed = await session.run(
    `UPDATE payment_refund SET state = ?, failure = ?, ended_at = ? WHERE id = ? AND state = 'pending'`,
    [how, cleanTextOrNull(failure), at, refund.id],
  )
  if (changed === 0) return false
  if (how === 'done') return true
  await lockWallets(session, [order.account])
  await noteState(session, order)
  const undone = transfersOf(order, { ...refund, at }).map((transfer) => ({
    ...transfer,
    id: transfer.id.replace(':', '_undone:'),
    code: `${transfer.code}_undone`,
    debit: transfer.credit,
    credit: transfer.debit,
  }))
  await postAll(session, undone)
  await moveBonus(session, refund, -1n)
  return true
}
