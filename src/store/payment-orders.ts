// Orders for credit: created once per attempt, shown, ended, and selected for queries to their provider.

import type { Engine, Session, Value } from './engine.ts'
import { aheadMs, forUpdate } from './leases.ts'
import { house } from './ledger.ts'
import { isOpen, nextState, type OrderEvent, type OrderState } from './order-state.ts'
import type { NewOrder, PaymentOrder, PaymentOrderTable } from './payment-tables.ts'
import { cleanText } from './text.ts'

/** After the schedule, how often the provider of an order that is still open is asked. */
const laterMs = 3_600_000

type KeptOrder = Omit<PaymentOrder, 'nanoPerMinor' | 'creditNano' | 'bonusNano' | 'instructions'> &
  Record<'nanoPerMinor' | 'creditNano' | 'bonusNano', string> & {
    readonly instructions: string | null
  }

const select = `SELECT id, account, person, provider, mode, method, amount_minor AS "amountMinor", currency,
    CAST(nano_per_minor AS TEXT) AS "nanoPerMinor", CAST(credit_nano AS TEXT) AS "creditNano",
    CAST(bonus_nano AS TEXT) AS "bonusNano", state, flag, attempt, instructions,
    created_at AS "createdAt", expires_at AS "expiresAt", shown_at AS "shownAt",
    (SELECT id FROM payment_transaction WHERE order_id = payment_order.id ORDER BY at, id LIMIT 1)
      AS "transactionId", credited_at AS "creditedAt", ended_at AS "endedAt", query_at AS "queryAt", revision
  FROM payment_order`

function orderOf(kept: KeptOrder): PaymentOrder {
  const { nanoPerMinor, creditNano, bonusNano, instructions, ...plain } = kept
  return {
    ...plain,
    nanoPerMinor: BigInt(nanoPerMinor),
    creditNano: BigInt(creditNano),
    bonusNano: BigInt(bonusNano),
    instructions: instructions === null ? null : JSON.parse(instructions),
  }
}

async function readOrders(
  session: Session,
  where: string,
  values: readonly Value[],
): Promise<PaymentOrder[]> {
  return (await session.query<KeptOrder>(`${select} ${where}`, values)).map(orderOf)
}

export async function findOrder(session: Session, id: string): Promise<PaymentOrder | null> {
  const [order] = await readOrders(session, 'WHERE id = ?', [cleanText(id)])
  return order ?? null
}

/** Locks the order until the transaction ends. Lock order: the order, its wallet, then the operator's accounts. */
export async function lockOrder(session: Session, id: string): Promise<PaymentOrder | null> {
  const [order] = await readOrders(session, `WHERE id = ?${forUpdate[session.kind]}`, [
    cleanText(id),
  ])
  return order ?? null
}

const insert = `INSERT INTO payment_order (id, account, person, provider, mode, method, amount_minor, currency,
    nano_per_minor, credit_nano, bonus_nano, state, attempt, created_at, expires_at, query_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'created', ?, ?, ?, ?) ON CONFLICT (account, attempt) DO NOTHING`

function valuesOf(order: NewOrder): Value[] {
  return [
    order.id,
    cleanText(order.account),
    cleanText(order.person),
    order.provider,
    order.mode,
    order.method,
    order.amountMinor,
    order.currency,
    order.nanoPerMinor,
    order.creditNano,
    order.bonusNano,
    cleanText(order.attempt),
    order.createdAt,
    order.expiresAt,
    order.queryAt,
  ]
}

/** Written exactly as in the condition of a partial index. */
export const notEnded = `state IN ('created', 'shown', 'paid')`

/** Both engines use an index for each branch; naming the providers lets the key of payment_transaction serve. */
const byNumber = `id IN (SELECT CAST(? AS TEXT) UNION SELECT order_id FROM payment_transaction
  WHERE provider IN ('alipay', 'wechatpay', 'stripe') AND id = ?)`

export function paymentOrderTable(engine: Engine): PaymentOrderTable {
  const byAttempt = async (account: string, attempt: string) => {
    const values = [cleanText(account), cleanText(attempt)]
    const [order] = await readOrders(engine, 'WHERE account = ? AND attempt = ?', values)
    if (order === undefined) throw new Error('An order that was made is not there.')
    return order
  }
  return {
    async create(order) {
      await engine.run(insert, valuesOf(order))
      return byAttempt(order.account, order.attempt)
    },
    find: (id) => findOrder(engine, id),
    list(filter) {
      const { account, provider, state, method, flagged, paid } = filter
      const { stuckBefore, number, before, limit } = filter
      const terms: string[] = []
      const values: Value[] = []
      const add = (term: string, ...given: Value[]) => {
        terms.push(term)
        values.push(...given)
      }
      if (account !== undefined) add('account = ?', cleanText(account))
      if (provider !== undefined) add('provider = ?', provider)
      if (state !== undefined) add('state = ?', state)
      if (method !== undefined) add('method = ?', method)
      if (paid === true) add('credited_at IS NOT NULL')
      if (flagged === true) add('flag IS NOT NULL')
      if (stuckBefore !== undefined) add(`${notEnded} AND created_at <= ?`, stuckBefore)
      if (number !== undefined) add(byNumber, cleanText(number), cleanText(number))
      if (before !== undefined) add('(created_at, id) < (?, ?)', before.at, cleanText(before.id))
      const where = terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`
      return readOrders(engine, `${where} ORDER BY created_at DESC, id DESC LIMIT ?`, [
        ...values,
        limit,
      ])
    },
    show: (id, instructions, at) =>
      step(engine, id, 'show', {
        sql: 'instructions = ?, shown_at = ?',
        values: [JSON.stringify(instructions), at],
      }),
    end: (id, how, at) => step(engine, id, how, { sql: 'ended_at = ?', values: [at] }),
    late(since, limit) {
      const where = "WHERE flag = 'late' AND credited_at >= ? ORDER BY credited_at DESC LIMIT ?"
      return readOrders(engine, where, [since, limit])
    },
    takeDue: (at, scheduleMs, limit) =>
      engine.transaction(async (session) => {
        const skip = session.kind === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : ''
        // An order from the future was made while the clock was ahead; it is asked about at the schedule's first pace.
        const [paceMs = 0] = scheduleMs
        const where = `WHERE query_at <= ? OR (query_at > ? AND created_at > ?) ORDER BY query_at LIMIT ?${skip}`
        const ahead = [at + paceMs, at + aheadMs]
        const due = await readOrders(session, where, [at, ...ahead, limit])
        for (const { id, createdAt, state } of due) {
          const begunAt = createdAt > at + aheadMs ? at : createdAt
          const next = scheduleMs.find((afterMs) => begunAt + afterMs > at)
          // An order that could not be ended by then is asked about until it ends.
          const later = isOpen(state) ? at + laterMs : null
          const queryAt = next === undefined ? later : begunAt + next
          const sql = 'UPDATE payment_order SET query_at = ?, queries = queries + 1 WHERE id = ?'
          await session.run(sql, [queryAt, id])
        }
        return due
      }),
  }
}

interface Change {
  readonly sql: string
  readonly values: readonly Value[]
}

async function step(
  engine: Engine,
  id: string,
  event: OrderEvent,
  change: Change,
): Promise<boolean> {
  return engine.transaction(async (session) => {
    const order = await lockOrder(session, id)
    const next = order && nextState(order.state, event)
    if (order === null || next === null) return false
    await changeOrder(session, order.id, next, change)
    return true
  })
}

/** The order must be locked by the caller. */
export async function changeOrder(
  session: Session,
  id: string,
  state: OrderState,
  { sql, values }: Change,
): Promise<void> {
  await session.run(
    `UPDATE payment_order SET state = ?, revision = revision + 1, ${sql} WHERE id = ?`,
    [state, ...values, id],
  )
}

/** The operator's account from which the order's money is credited, and to which it is refunded. */
export function clearingOf({ provider, mode }: Pick<PaymentOrder, 'provider' | 'mode'>): string {
  return mode === 'play' ? house.play : house[provider]
}
