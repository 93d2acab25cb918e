// Reads a provider's payments and refunds booked in a range of days, to be compared with its bills.

import type { Engine } from './engine.ts'
import { readRefunds } from './payment-refund-rows.ts'
import type { Booked, BookedFilter } from './payment-tables.ts'

export async function readBooked(engine: Engine, filter: BookedFilter): Promise<Booked> {
  const { provider, mode, since, until } = filter
  return engine.transaction(async (session) => ({
    payments: await session.query<Booked['payments'][number]>(
      `SELECT id AS "transactionId", order_id AS "orderId", amount_minor AS "amountMinor", paid_at AS "paidAt"
        FROM payment_transaction
        WHERE provider = ? AND mode = ? AND transfer IS NOT NULL AND paid_at >= ? AND paid_at < ?`,
      [provider, mode, since, until],
    ),
    refunds: await readRefunds(
      session,
      `WHERE provider = ? AND at >= ? AND at < ?
        AND order_id IN (SELECT id FROM payment_order WHERE mode = ?)`,
      [provider, since, until, mode],
    ),
  }))
}
