// Payments: the transaction that credits them, the messages of providers, and the account's paid and bonus money.

import { createHash } from 'node:crypto'
import type { Nano } from '../money.ts'
import type { Engine, Session } from './engine.ts'
import { postAll } from './journal.ts'
import { house, type Transfer, walletOf } from './ledger.ts'
import { isOpen, nextState, type OrderState } from './order-state.ts'
import { readBooked } from './payment-booked.ts'
import { readDisputes } from './payment-disputes.ts'
import { changeOrder, clearingOf, lockOrder } from './payment-orders.ts'
import { readRefunds } from './payment-refund-rows.ts'
import { bonusesOf, expireBonus, readStanding } from './payment-standing.ts'
import type {
  BonusGrant,
  KeptTransaction,
  OrderDetails,
  PaidOutcome,
  PaidTransaction,
  PaymentOrder,
  PaymentTable,
  ProviderEvent,
} from './payment-tables.ts'
import { cleanText, cleanTextOrNull } from './text.ts'
import { lockWallets } from './wallets.ts'

export function paymentTable(engine: Engine): PaymentTable {
  return {
    markPaid: (orderId, paid, bonus, at) =>
      engine.transaction((session) => markPaid(session, orderId, { paid, bonus, at })),
    keepEvent: (event) => keepEvent(engine, event),
    details: (orderId) => engine.snapshot((session) => readDetails(session, cleanText(orderId))),
    standing: (account, mode, spending) =>
      engine.snapshot((session) => readStanding(session, cleanText(account), { mode, spending })),
    async expireBonuses(at, how) {
      const sql = `SELECT order_id AS "orderId", account FROM payment_bonus
        WHERE expires_at <= ? AND expired_at IS NULL ORDER BY expires_at LIMIT 100`
      const due = await engine.query<{ readonly orderId: string; readonly account: string }>(sql, [
        at,
      ])
      const leased = new Set<string>()
      for (const bonus of due) {
        const work = (session: Session) => expireBonus(session, bonus, { at, ...how })
        if (!(await engine.transaction(work))) leased.add(bonus.account)
      }
      return leased.size === 0 ? { outcome: 'done' } : { outcome: 'leased', accounts: [...leased] }
    },
    booked: (filter) => readBooked(engine, filter),
  }
}

interface Marking {
  readonly paid: PaidTransaction
  readonly bonus: BonusGrant | null
  readonly at: number
}

const insertTransaction = `INSERT INTO payment_transaction (provider, id, order_id, account, mode, amount_minor,
    currency, credit_nano, payer_hash, outcome, paid_at, at, transfer)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

async function markPaid(session: Session, orderId: string, marking: Marking): Promise<PaidOutcome> {
  const { paid, at } = marking
  const order = await lockOrder(session, orderId)
  if (order === null || !isOf(order, paid)) return 'unknown_order'
  // Concurrent payments of an account wait here for each other, so that only one of them counts as the first.
  await lockWallets(session, [order.account])
  const outcome = await outcomeOf(session, order, paid)
  const creditNano = BigInt(paid.amountMinor) * order.nanoPerMinor
  const transfer = `topup:${paid.provider}:${paid.id}`
  const isFirst = await isFirstPayment(session, order)
  const added = await session.run(insertTransaction, [
    paid.provider,
    cleanText(paid.id),
    order.id,
    order.account,
    paid.mode,
    paid.amountMinor,
    paid.currency,
    creditNano,
    paid.payerHash,
    outcome,
    paid.paidAt,
    at,
    transfer,
  ])
  if (added === 0) return 'known'
  const bonus = isFirst ? await claimBonus(session, order, marking) : null
  await credit(session, order, { marking, creditNano, bonus, outcome, transfer })
  return outcome
}

function isOf(order: PaymentOrder, paid: PaidTransaction): boolean {
  const { provider, mode, currency } = paid
  return order.provider === provider && order.mode === mode && order.currency === currency
}

async function outcomeOf(
  session: Session,
  order: PaymentOrder,
  { amountMinor }: PaidTransaction,
): Promise<KeptTransaction['outcome']> {
  const sql =
    'SELECT 1 FROM payment_transaction WHERE order_id = ? AND transfer IS NOT NULL LIMIT 1'
  if ((await session.query(sql, [order.id])).length > 0) return 'second'
  if (amountMinor < order.amountMinor) return 'partial'
  if (amountMinor > order.amountMinor) return 'over'
  return isOpen(order.state) ? 'credited' : 'late'
}

async function isFirstPayment(session: Session, { account, mode }: PaymentOrder): Promise<boolean> {
  const sql = 'SELECT 1 FROM payment_transaction WHERE account = ? AND mode = ? LIMIT 1'
  return (await session.query(sql, [account, mode])).length === 0
}

const claim = `INSERT INTO payment_bonus_claim (mode, kind, subject, order_id) VALUES (?, ?, ?, ?)
  ON CONFLICT DO NOTHING`

/** Grants the bonus once per account and once per payer, whatever accounts the payer uses. */
async function claimBonus(
  session: Session,
  order: PaymentOrder,
  { paid, bonus }: Marking,
): Promise<BonusGrant | null> {
  if (bonus === null || bonus.amountNano <= 0n) return null
  const { payerHash, mode } = paid
  if (payerHash !== null) {
    if ((await session.run(claim, [mode, 'payer', payerHash, order.id])) === 0) return null
  }
  return (await session.run(claim, [mode, 'account', order.account, order.id])) === 0 ? null : bonus
}

interface Credit {
  readonly marking: Marking
  readonly creditNano: Nano
  readonly bonus: BonusGrant | null
  readonly outcome: KeptTransaction['outcome']
  readonly transfer: string
}

async function credit(session: Session, order: PaymentOrder, given: Credit): Promise<void> {
  const { bonus, outcome, creditNano, marking } = given
  const { at } = marking
  const wallet = walletOf(order.account)
  const entry = { credit: wallet, actor: order.provider, reason: `order ${order.id}`, at }
  const transfers: Transfer[] = [
    {
      ...entry,
      id: given.transfer,
      code: 'topup',
      debit: clearingOf(order),
      amountNano: creditNano,
    },
  ]
  if (bonus !== null) {
    const { amountNano } = bonus
    const id = `bonus:${order.id}`
    transfers.push({ ...entry, id, code: 'bonus', debit: house.promo, amountNano })
  }
  await changeOrder(session, order.id, creditedState(order.state), {
    sql: 'credited_at = coalesce(credited_at, ?), query_at = NULL, flag = coalesce(flag, ?)',
    values: [at, outcome === 'credited' ? null : outcome],
  })
  if ((await postAll(session, transfers)) !== 'posted')
    throw new Error(`${given.transfer} is in the journal without its payment.`)
  // After its entry: money that comes in finds what was spent of the bonuses before it.
  if (bonus !== null) {
    await session.run(
      `INSERT INTO payment_bonus (order_id, account, amount_nano, debits_nano, at, expires_at)
        SELECT ?, ?, ?, debits_posted, ?, ? FROM ledger_account WHERE id = ?`,
      [order.id, order.account, bonus.amountNano, at, bonus.expiresAt, wallet],
    )
  }
}

/** An order passes through `paid`; a refunded one becomes `part_refunded`, a disputed one stays `disputed`. */
function creditedState(state: OrderState): OrderState {
  const paid = nextState(state, 'pay')
  const credited = paid === null ? null : nextState(paid, 'credit')
  if (credited === null) throw new Error(`An order that is ${state} cannot be paid.`)
  return state === 'refunded' || state === 'part_refunded'
    ? 'part_refunded'
    : state === 'disputed'
      ? state
      : credited
}

const hourMs = 3_600_000
/** Of refused messages, which anyone may send and could fill the disk with. */
const refusedBounds = { most: 1_000, spanMs: hourMs }
const unverifiedBounds = { most: 200, spanMs: 24 * hourMs }
/** Kept of an unverified message, and of each of its headers. */
const beginningBytes = 2_048
const headerCharacters = 512

function beginningOf(event: ProviderEvent): ProviderEvent {
  const headers = Object.entries(event.headers).map(([name, value]) => [
    name,
    value.slice(0, headerCharacters),
  ])
  return {
    ...event,
    raw: event.raw.subarray(0, beginningBytes),
    headers: Object.fromEntries(headers),
  }
}

async function keepEvent(engine: Engine, whole: ProviderEvent): Promise<void> {
  const event = whole.isUnverified === true ? beginningOf(whole) : whole
  const { provider, problem, raw, at } = event
  const { most, spanMs } = event.isUnverified === true ? unverifiedBounds : refusedBounds
  const bound =
    problem === null
      ? ''
      : `WHERE (SELECT count(*) FROM payment_event
          WHERE provider = ? AND at > ? AND problem <> '') < ${most}`
  const values = [
    provider,
    createHash('sha256').update(raw).digest('hex'),
    problem === null ? '' : cleanText(problem),
    cleanTextOrNull(event.eventId),
    cleanTextOrNull(event.orderId),
    raw,
    JSON.stringify(event.headers),
    at,
  ]
  const types = ['TEXT', 'TEXT', 'TEXT', 'TEXT', 'TEXT', blob[engine.kind], 'TEXT', 'BIGINT']
  const given = types.map((type) => `CAST(? AS ${type})`).join(', ')
  await engine.run(
    `INSERT INTO payment_event (provider, sha256, problem, event_id, order_id, raw, headers, at)
      SELECT ${given} ${bound || 'WHERE true'} ON CONFLICT DO NOTHING`,
    problem === null ? values : [...values, provider, at - spanMs],
  )
}

const blob = { sqlite: 'BLOB', postgres: 'BYTEA' }

async function readDetails(session: Session, orderId: string): Promise<OrderDetails> {
  type Kept = Omit<KeptTransaction, 'creditNano'> & { readonly creditNano: string }
  const transactions = await session.query<Kept>(
    `SELECT provider, mode, id, amount_minor AS "amountMinor", currency, payer_hash AS "payerHash",
        paid_at AS "paidAt", CAST(credit_nano AS TEXT) AS "creditNano", outcome, at
      FROM payment_transaction WHERE order_id = ? ORDER BY at, id`,
    [orderId],
  )
  const events = await session.query<OrderDetails['events'][number]>(
    `SELECT event_id AS "eventId", CASE WHEN problem = '' THEN NULL ELSE problem END AS problem, at
      FROM payment_event WHERE order_id = ? ORDER BY at, sha256 LIMIT 200`,
    [orderId],
  )
  const [bonus] = await bonusesOf(session, 'order_id = ?', [orderId])
  return {
    transactions: transactions.map((kept) => ({ ...kept, creditNano: BigInt(kept.creditNano) })),
    events,
    refunds: await readRefunds(session, 'WHERE order_id = ? ORDER BY at, id', [orderId]),
    disputes: await readDisputes(session, orderId),
    bonusNano: bonus?.amountNano ?? null,
  }
}
