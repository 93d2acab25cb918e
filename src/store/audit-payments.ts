// The audit of payments: each payment, bonus, refund and code compared with its entry in the journal.

import type { Session } from './engine.ts'
import type { Findings } from './findings.ts'

const text = (column: string) => `CAST(${column} AS TEXT)`

/** Entries from a provider's account without a payment, payments without an entry, and pairs that differ. */
const differingPayments = `SELECT coalesce(paid.transfer, entry.id) AS id, ${text('paid.credit_nano')} AS paid,
    ${text('entry.amount_nano')} AS posted
  FROM (SELECT * FROM payment_transaction WHERE transfer IS NOT NULL) AS paid
  FULL JOIN (SELECT id, credit, amount_nano FROM transfer
    WHERE code = 'topup' AND debit LIKE 'clearing:%') AS entry ON entry.id = paid.transfer
  WHERE paid.transfer IS NULL OR entry.id IS NULL OR paid.credit_nano <> entry.amount_nano
    OR entry.credit <> 'wallet:' || paid.account
  ORDER BY 1`

const differingBonuses = `SELECT coalesce('bonus:' || given.order_id, entry.id) AS id,
    ${text('given.amount_nano')} AS paid, ${text('entry.amount_nano')} AS posted
  FROM payment_bonus AS given
  FULL JOIN (SELECT transfer.id, credit, amount_nano FROM transfer
    JOIN payment_order ON transfer.id = 'bonus:' || payment_order.id) AS entry
    ON entry.id = 'bonus:' || given.order_id
  WHERE given.order_id IS NULL OR entry.id IS NULL OR given.amount_nano <> entry.amount_nano
    OR entry.credit <> 'wallet:' || given.account
  ORDER BY 1`

/** A failed refund must have a second entry that returns its money. */
const differingRefunds = `SELECT coalesce('refund:' || kept.id, entry.id) AS id,
    ${text('kept.amount_nano')} AS paid, ${text('entry.amount_nano')} AS posted
  FROM payment_refund AS kept
  FULL JOIN (SELECT id, debit, amount_nano FROM transfer
    WHERE code = 'refund' AND credit LIKE 'clearing:%') AS entry ON entry.id = 'refund:' || kept.id
  WHERE kept.id IS NULL OR entry.id IS NULL OR kept.amount_nano <> entry.amount_nano
    OR entry.debit <> 'wallet:' || kept.account
    OR (kept.state = 'failed') <> EXISTS (SELECT 1 FROM transfer AS undone
      WHERE undone.id = 'refund_undone:' || kept.id AND undone.amount_nano = kept.amount_nano)
  ORDER BY 1`

const differingCodes = `SELECT coalesce('redeem:' || used.hash, entry.id) AS id, ${text('used.amount_nano')} AS paid,
    ${text('entry.amount_nano')} AS posted
  FROM (SELECT hash, account, amount_nano FROM redemption_code
    JOIN redemption_batch ON redemption_batch.id = batch_id WHERE account IS NOT NULL) AS used
  FULL JOIN (SELECT id, credit, amount_nano FROM transfer WHERE code = 'redeem') AS entry
    ON entry.id = 'redeem:' || used.hash
  WHERE used.hash IS NULL OR entry.id IS NULL OR used.amount_nano <> entry.amount_nano
    OR entry.credit <> 'wallet:' || used.account
  ORDER BY 1`

const contradictedOrders = `SELECT id, state FROM payment_order
  WHERE (state IN ('credited', 'part_refunded', 'refunded', 'disputed')) <> EXISTS (
    SELECT 1 FROM payment_transaction
      WHERE order_id = payment_order.id AND transfer IS NOT NULL)
  ORDER BY id`

interface Differing {
  readonly id: string
  readonly paid: string | null
  readonly posted: string | null
}

export async function auditPayments(session: Session, findings: Findings): Promise<void> {
  for (const sql of [differingPayments, differingBonuses, differingRefunds, differingCodes]) {
    for (const { id, paid, posted } of await session.query<Differing>(sql, [])) {
      const said = `payments say ${paid ?? 'nothing'}, the journal ${posted ?? 'nothing'}`
      findings.add('payment', id, paid === posted ? `${said}, of another wallet or state` : said)
    }
  }
  type Order = { readonly id: string; readonly state: string }
  for (const { id, state } of await session.query<Order>(contradictedOrders, []))
    findings.add('payment', id, `is ${state}, which its payments contradict`)
}
