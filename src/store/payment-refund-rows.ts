// Reads rows of refunds.

import type { Session, Value } from './engine.ts'
import type { Refund } from './payment-tables.ts'

const select = `SELECT id, order_id AS "orderId", account, provider, transaction_id AS "transactionId",
    amount_minor AS "amountMinor", CAST(amount_nano AS TEXT) AS "amountNano",
    CAST(clawback_nano AS TEXT) AS "clawbackNano", state, actor, reason, failure, at, ended_at AS "endedAt"
  FROM payment_refund`

export async function readRefunds(
  session: Session,
  where: string,
  values: readonly Value[],
): Promise<Refund[]> {
  type Kept = Omit<Refund, 'amountNano' | 'clawbackNano'> &
    Record<'amountNano' | 'clawbackNano', string>
  const rows = await session.query<Kept>(`${select} ${where}`, values)
  return rows.map(({ amountNano, clawbackNano, ...refund }) => ({
    ...refund,
    amountNano: BigInt(amountNano),
    clawbackNano: BigInt(clawbackNano),
  }))
}
