// Rules by which accounts are topped up: each looked at by one process at a time, and one order for each crossing.

import type { Nano } from '../money.ts'
import type { Engine, Value } from './engine.ts'
import { walletOf } from './ledger.ts'
import type { PaymentMode } from './payment-tables.ts'
import { cleanText } from './text.ts'

/** Of its orders. */
const automaticMethod = 'off_session'

export interface AutoTopUp {
  readonly account: string
  readonly mode: PaymentMode
  /** The order whose payer agreed. */
  readonly agreement: string
  /** In the deployment's currency. */
  readonly thresholdNano: Nano
  /** In the provider's, as is the most of a calendar month in UTC. */
  readonly amountMinor: number
  readonly monthMinor: number
  /** Why it does nothing any more; null: it is on. */
  readonly problem: string | null
  /** The order of the crossing that is under way. */
  readonly orderId: string | null
  readonly revision: number
}

export interface AutoTopUpTable {
  find(account: string): Promise<AutoTopUp | null>
  /** Turns it on. `revision`: what it was read at, 0 where there was none. False where it is another by now. */
  put(rule: Omit<AutoTopUp, 'problem' | 'orderId'>): Promise<boolean>
  remove(account: string): Promise<boolean>
  /** Rules that are on, and have something to do: no other process is given them until then. */
  take(nowMs: number, until: number, limit: number): Promise<readonly AutoTopUp[]>
  /** What was ordered by itself since then and not ended unpaid, in minor units. */
  ordered(account: string, since: number): Promise<number>
  /** False where a crossing is under way, or nothing is crossed, or the month's most would be passed. */
  begin(rule: Pick<AutoTopUp, 'account'>, orderId: string, monthStart: number): Promise<boolean>
  /** The crossing is over; with a problem nothing is begun until it is put anew. False where it was over. */
  finish(orderId: string, problem: string | null): Promise<boolean>
}

const columns = `account, mode, agreement, CAST(threshold_nano AS TEXT) AS "thresholdNano", amount_minor AS "amountMinor",
  month_minor AS "monthMinor", problem, order_id AS "orderId", revision`

type Kept = Omit<AutoTopUp, 'thresholdNano'> & { readonly thresholdNano: string }

function ruleOf({ thresholdNano, ...kept }: Kept): AutoTopUp {
  return { ...kept, thresholdNano: BigInt(thresholdNano) }
}

const orderedSince = `SELECT coalesce(sum(amount_minor), 0) FROM payment_order
  WHERE account = ? AND method = '${automaticMethod}' AND created_at >= ? AND state NOT IN ('expired', 'closed')`
const crossed = `(SELECT credits_posted - debits_posted FROM ledger_account WHERE id = '${walletOf('')}' || auto_top_up.account)
  < threshold_nano`

export function autoTopUpTable(engine: Engine): AutoTopUpTable {
  return {
    async find(account) {
      const sql = `SELECT ${columns} FROM auto_top_up WHERE account = ?`
      const [kept] = await engine.query<Kept>(sql, [cleanText(account)])
      return kept === undefined ? null : ruleOf(kept)
    },
    async put({ account, mode, agreement, thresholdNano, amountMinor, monthMinor, revision }) {
      const values: Value[] = [mode, agreement, thresholdNano, amountMinor, monthMinor]
      const sql =
        revision === 0
          ? `INSERT INTO auto_top_up (mode, agreement, threshold_nano, amount_minor, month_minor, account, until, revision)
              VALUES (?, ?, ?, ?, ?, ?, 0, 1) ON CONFLICT DO NOTHING`
          : `UPDATE auto_top_up SET mode = ?, agreement = ?, threshold_nano = ?, amount_minor = ?, month_minor = ?,
              problem = NULL, revision = revision + 1 WHERE account = ? AND revision = ?`
      values.push(cleanText(account), ...(revision === 0 ? [] : [revision]))
      return (await engine.run(sql, values)) > 0
    },
    async remove(account) {
      const sql = 'DELETE FROM auto_top_up WHERE account = ?'
      return (await engine.run(sql, [cleanText(account)])) > 0
    },
    async take(nowMs, until, limit) {
      const kept = await engine.query<Kept>(
        `UPDATE auto_top_up SET until = ? WHERE until <= ? AND account IN (SELECT account FROM auto_top_up
            WHERE until <= ? AND (order_id IS NOT NULL OR (problem IS NULL AND ${crossed}))
            ORDER BY until, account LIMIT ?) RETURNING ${columns}`,
        [until, nowMs, nowMs, limit],
      )
      return kept.map(ruleOf)
    },
    async ordered(account, since) {
      const [row] = await engine.query<{ readonly minor: number | string }>(
        `SELECT (${orderedSince}) AS minor`,
        [cleanText(account), since],
      )
      return Number(row?.minor ?? 0)
    },
    async begin({ account }, orderId, monthStart) {
      const name = cleanText(account)
      const changed = await engine.run(
        `UPDATE auto_top_up SET order_id = ? WHERE account = ? AND order_id IS NULL AND problem IS NULL
          AND ${crossed} AND (${orderedSince}) + amount_minor <= month_minor`,
        [orderId, name, name, monthStart],
      )
      return changed > 0
    },
    async finish(orderId, problem) {
      const sql = `UPDATE auto_top_up SET order_id = NULL, problem = coalesce(?, problem), revision = revision + 1
        WHERE order_id = ?`
      return (await engine.run(sql, [problem === null ? null : cleanText(problem), orderId])) > 0
    },
  }
}
