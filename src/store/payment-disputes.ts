// Disputes: payers reclaim money through their banks. While one is open nothing is refunded; a lost one is taken back.

import type { Nano } from '../money.ts'
import type { Engine, Session } from './engine.ts'
import { postAll } from './journal.ts'
import { house } from './ledger.ts'
import { nextState } from './order-state.ts'
import { changeOrder, clearingOf, lockOrder } from './payment-orders.ts'
import { bookRefund, clawbackOf, readPayments, stateOfRefunds } from './payment-refund-booking.ts'
import { readRefunds } from './payment-refund-rows.ts'
import { readStanding } from './payment-standing.ts'
import type {
  BonusSpending,
  Dispute,
  DisputeNoted,
  DisputeSeen,
  DisputeTable,
  PaymentOrder,
  Refund,
} from './payment-tables.ts'
import { cleanText } from './text.ts'
import { lockWallets } from './wallets.ts'

export function disputeTable(engine: Engine): DisputeTable {
  return {
    note: (seen, spending) =>
      engine.transaction((session) => note(session, cleaned(seen), spending)),
  }
}

function cleaned(seen: DisputeSeen): DisputeSeen {
  return { ...seen, id: cleanText(seen.id), reason: cleanText(seen.reason) }
}

async function note(
  session: Session,
  seen: DisputeSeen,
  spending: BonusSpending,
): Promise<DisputeNoted> {
  const [payment] = await session.query<{ readonly orderId: string }>(
    `SELECT order_id AS "orderId" FROM payment_transaction
      WHERE provider = ? AND id = ? AND mode = ? AND transfer IS NOT NULL`,
    [seen.provider, cleanText(seen.transactionId), seen.mode],
  )
  const order = payment === undefined ? null : await lockOrder(session, payment.orderId)
  if (order === null) return { outcome: 'unknown_payment' }
  const disputes = await readDisputes(session, order.id)
  const known = disputes.find(({ id }) => id === seen.id)
  // Messages arrive in any order, so an earlier one does not reopen a dispute that has ended.
  if (known !== undefined && (known.endedAt !== null || seen.state === 'open'))
    return { outcome: 'known', orderId: order.id }
  const taking = { seen, spending, disputes }
  const lossNano = seen.state === 'lost' ? await takeBack(session, order, taking) : 0n
  if (lossNano === 'leased') return { outcome: 'leased', accounts: [order.account] }
  await keep(session, order, { seen, lossNano })
  await noteState(session, order)
  return { outcome: 'noted', orderId: order.id }
}

const insert = `INSERT INTO payment_dispute (provider, id, order_id, transaction_id, amount_minor, reason, state, loss_nano,
    at, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (provider, id) DO UPDATE SET state = excluded.state, loss_nano = excluded.loss_nano,
    amount_minor = excluded.amount_minor, ended_at = excluded.ended_at`

interface Kept {
  readonly seen: DisputeSeen
  readonly lossNano: Nano
}

async function keep(session: Session, { id }: PaymentOrder, { seen, lossNano }: Kept) {
  await session.run(insert, [
    seen.provider,
    seen.id,
    id,
    cleanText(seen.transactionId),
    seen.amountMinor,
    seen.reason,
    seen.state,
    lossNano,
    seen.at,
    seen.state === 'open' ? null : seen.at,
  ])
}

/** The order stays `disputed` until all its disputes are won. */
async function noteState(session: Session, order: PaymentOrder): Promise<void> {
  const disputes = await readDisputes(session, order.id)
  const isWon = disputes.every(({ state }) => state === 'won')
  const event = isWon ? await stateOfRefunds(session, order.id) : 'dispute'
  const state = nextState(order.state, event)
  if (state === null) throw new Error(`An order that is ${order.state} cannot be disputed.`)
  const flag = isWon
    ? `flag = CASE WHEN flag = 'disputed' THEN NULL ELSE flag END`
    : `flag = 'disputed'`
  await changeOrder(session, order.id, state, { sql: flag, values: [] })
}

interface Taking {
  readonly seen: DisputeSeen
  readonly spending: BonusSpending
  /** The order's disputes before this message. */
  readonly disputes: readonly Dispute[]
}

/** Returns the part that the account lacks and the operator loses. */
async function takeBack(
  session: Session,
  order: PaymentOrder,
  { seen, spending, disputes }: Taking,
): Promise<Nano | 'leased'> {
  const lost = disputes.filter(({ transactionId }) => transactionId === seen.transactionId)
  const lostNano = lost.reduce((sum, one) => sum + one.lossNano, 0n)
  return take(session, order, { seen, spending, lostNano, entry: seen.id })
}

interface Claim {
  readonly seen: DisputeSeen
  readonly spending: BonusSpending
  /** What was written off for lost disputes of this payment before. */
  readonly lostNano: Nano
  /** The id of what is booked. */
  readonly entry: string
}

/** Books it like a refund the provider has made. */
async function take(
  session: Session,
  order: PaymentOrder,
  { seen, spending, lostNano, entry }: Claim,
): Promise<Nano | 'leased'> {
  const wallet = (await lockWallets(session, [order.account])).get(order.account)
  const { mode, nanoPerMinor } = order
  const standing = await readStanding(session, order.account, { mode, spending })
  const payments = await readPayments(session, order.id)
  const payment = payments.find(({ id }) => id === seen.transactionId)
  if (wallet === undefined || standing === null || payment === undefined)
    throw new Error(`The payment ${seen.transactionId} is not there.`)
  const leftMinor = payment.leftMinor - Number(lostNano / nanoPerMinor)
  const disputedMinor = Math.min(seen.amountMinor, leftMinor)
  const refundableMinor = Number(standing.refundableNano / nanoPerMinor)
  const amountMinor = Math.min(disputedMinor, refundableMinor)
  const amountNano = BigInt(amountMinor) * nanoPerMinor
  const lossNano = BigInt(disputedMinor) * nanoPerMinor - amountNano
  // The bonus is taken back for the whole disputed amount, whether the account has spent that or not.
  const asked = { amountMinor: disputedMinor, spending, payments }
  const clawbackNano = disputedMinor > 0 ? await clawbackOf(session, order, asked) : 0n
  if (amountMinor > 0 || clawbackNano > 0n) {
    if (amountNano + clawbackNano > wallet.postedNano - wallet.leasedNano) return 'leased'
    const refund = refundOf(order, seen, { amountMinor, amountNano, clawbackNano })
    await bookRefund(session, order, { ...refund, id: entry })
  }
  if (lossNano > 0n) await postLoss(session, order, { seen, lossNano, entry })
  return lossNano
}

/**
 * A refund that was under way when a dispute was lost had taken the money already, so the dispute took none. If the
 * provider refuses that refund, the dispute's part of it does not return to the wallet.
 */
export async function takeWhatDisputesLost(
  session: Session,
  order: PaymentOrder,
  { id: refundId, transactionId, at }: Refund,
  spending: BonusSpending,
): Promise<void> {
  const disputes = await readDisputes(session, order.id)
  const lost = disputes.filter((one) => one.state === 'lost' && one.transactionId === transactionId)
  if (lost.length === 0) return
  let lostNano = lost.reduce((sum, one) => sum + one.lossNano, 0n)
  for (const { id, reason, amountMinor, lossNano } of lost) {
    const sql = `WHERE actor = ? AND (id = ? OR substr(id, 1, ?) = ?)`
    const taken = await readRefunds(session, sql, [order.provider, id, id.length + 1, `${id}:`])
    const takenMinor = taken.reduce((sum, one) => sum + one.amountMinor, 0)
    const openMinor = amountMinor - takenMinor - Number(lossNano / order.nanoPerMinor)
    if (openMinor <= 0) continue
    const { provider, mode } = order
    const state = 'lost' as const
    const seen = { id, provider, mode, transactionId, reason, state, at, amountMinor: openMinor }
    const more = await take(session, order, {
      seen,
      spending,
      lostNano,
      entry: `${id}:${refundId}`,
    })
    // The returned money covers it: nothing else can have leased it within this transaction.
    if (more === 'leased') throw new Error(`The refund ${refundId} returned less than it took.`)
    lostNano += more
    if (more > 0n)
      await session.run(
        'UPDATE payment_dispute SET loss_nano = loss_nano + ? WHERE provider = ? AND id = ?',
        [more, provider, id],
      )
  }
}

function refundOf(
  { id: orderId, account, provider }: PaymentOrder,
  { id, transactionId, reason, at }: DisputeSeen,
  amounts: Pick<Refund, 'amountMinor' | 'amountNano' | 'clawbackNano'>,
): Refund {
  return {
    ...amounts,
    id,
    orderId,
    account,
    provider,
    transactionId,
    state: 'done',
    actor: provider,
    reason: `dispute lost: ${reason}`,
    failure: null,
    at,
    endedAt: at,
  }
}

async function postLoss(
  session: Session,
  order: PaymentOrder,
  { seen, lossNano, entry }: Kept & Pick<Claim, 'entry'>,
) {
  await postAll(session, [
    {
      id: `dispute_loss:${seen.provider}:${entry}`,
      code: 'dispute_loss',
      debit: house.writeoff,
      credit: clearingOf(order),
      amountNano: lossNano,
      actor: order.provider,
      reason: `order ${order.id}`,
      at: seen.at,
    },
  ])
}

/** Disputes of an order, oldest first. */
export async function readDisputes(session: Session, orderId: string): Promise<Dispute[]> {
  const rows = await session.query<Omit<Dispute, 'lossNano'> & { readonly lossNano: string }>(
    `SELECT id, transaction_id AS "transactionId", amount_minor AS "amountMinor", reason, state, CAST(loss_nano AS TEXT) AS "lossNano", at,
        ended_at AS "endedAt"
      FROM payment_dispute WHERE order_id = ? ORDER BY at, id`,
    [orderId],
  )
  return rows.map((row) => ({ ...row, lossNano: BigInt(row.lossNano) }))
}
