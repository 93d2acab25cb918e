// Automatic top-up rules: one process at a time handles a rule, with one order each time its threshold is crossed.

import type { Nano } from '../money.ts'
import type { Engine, Value } from './engine.ts'
import { aheadMs } from './leases.ts'
import { walletOf } from './ledger.ts'
import type { PaymentMode } from './payment-tables.ts'
import { cleanText } from './text.ts'

/** The payment method of orders made by these rules. */
const automaticMethod = 'off_session'

export interface AutoTopUp {
  readonly account: string
  readonly mode: PaymentMode
  /** The order with which the payer agreed to automatic payments. */
  readonly agreement: string
  /** In nano-units of the deployment's currency. */
  readonly thresholdNano: Nano
  /** In the provider's minor units; `monthMinor` is the most per calendar month in UTC. */
  readonly amountMinor: number
  readonly monthMinor: number
  /** Why the rule is suspended; null while it is active. */
  readonly problem: string | null
  /** The order that is under way since the threshold was crossed. */
  readonly orderId: string | null
  readonly revision: number
}

export interface AutoTopUpTable {
  find(account: string): Promise<AutoTopUp | null>
  /** Enables the rule. `revision`: the one read before, 0 if none. False if the stored one is another by now. */
  put(rule: Omit<AutoTopUp, 'problem' | 'orderId'>): Promise<boolean>
  remove(account: string): Promise<boolean>
  /** Active rules that need work, of accounts in use; other processes do not get them before `until`. */
  take(nowMs: number, until: number, limit: number): Promise<readonly AutoTopUp[]>
  /** Sum of automatic orders since a time, without those that ended unpaid, in minor units. */
  ordered(account: string, since: number): Promise<number>
  /**
   * False if the rule was changed since it was taken, an order is under way (also of a rule removed before), the
   * account is not in use, the threshold is not crossed, or the limit of the month would be exceeded.
   */
  begin(
    rule: Pick<AutoTopUp, 'account' | 'revision'>,
    orderId: string,
    monthStart: number,
  ): Promise<boolean>
  /** Ends the order under way; a problem suspends the rule until its next `put`. False if it had ended already. */
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

/** Its account is neither suspended nor deleted. */
const isInUse = `NOT EXISTS (SELECT 1 FROM account
  WHERE account.id = auto_top_up.account AND (suspended_at IS NOT NULL OR deleted_at IS NOT NULL))`

/** An order of a rule that was removed meanwhile: it may still be paid. */
const isUnderWay = `EXISTS (SELECT 1 FROM payment_order WHERE payment_order.account = auto_top_up.account
  AND method = '${automaticMethod}' AND state IN ('created', 'shown'))`

/** Not taken by another process; the second time is longer than any that a rule is taken for. */
const isFree = '(until <= ? OR until > ?)'

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
        `UPDATE auto_top_up SET until = ? WHERE ${isFree} AND account IN (SELECT account FROM auto_top_up
            WHERE ${isFree} AND ${isInUse} AND (order_id IS NOT NULL OR (problem IS NULL AND ${crossed}))
            ORDER BY until, account LIMIT ?) RETURNING ${columns}`,
        [until, nowMs, until + aheadMs, nowMs, until + aheadMs, limit],
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
    async begin({ account, revision }, orderId, monthStart) {
      const name = cleanText(account)
      const changed = await engine.run(
        `UPDATE auto_top_up SET order_id = ? WHERE account = ? AND revision = ? AND order_id IS NULL AND problem IS NULL
          AND ${isInUse} AND ${crossed} AND NOT ${isUnderWay} AND (${orderedSince}) + amount_minor <= month_minor`,
        [orderId, name, revision, name, monthStart],
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
