// Refunds: the money leaves the wallet before the provider is asked, and returns if the provider refuses.

import type { Engine, Session } from './engine.ts'
import { nextState } from './order-state.ts'
import { takeWhatDisputesLost } from './payment-disputes.ts'
import { changeOrder, findOrder, lockOrder } from './payment-orders.ts'
import {
  bookRefund,
  clawbackOf,
  readPayments,
  stateOfRefunds,
  undoRefund,
} from './payment-refund-booking.ts'
import { readRefunds } from './payment-refund-rows.ts'
import { readStanding } from './payment-standing.ts'
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
    end: (id, how, failure, at, spending = 'last') =>
      engine.transaction((session) => end(session, id, { how, failure, at, spending })),
    done: (since, limit) =>
      readRefunds(
        engine,
        "WHERE state = 'done' AND ended_at >= ? ORDER BY ended_at DESC, id LIMIT ?",
        [since, limit],
      ),
    pending: ({ before, after, limit }) =>
      readRefunds(
        engine,
        `WHERE state = 'pending' AND at < ? AND (at, id) > (?, ?) ORDER BY at, id LIMIT ?`,
        [before, after?.at ?? 0, after?.id ?? '', limit],
      ),
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
    readonly spending: BonusSpending
  },
): Promise<boolean> {
  const { how, failure, at, spending } = ending
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
  await undoRefund(session, order, { ...refund, at })
  await takeWhatDisputesLost(session, order, { ...refund, at }, spending)
  await noteState(session, order)
  return true
}
