// The audit of usage whose rows were removed: the totals that remain, compared with entries in the journal.

import { exactSum } from './audit-accounts.ts'
import type { Session } from './engine.ts'
import type { Findings } from './findings.ts'
import type { Kept } from './retention.ts'

const differingAccounts = `WITH part AS (
    SELECT 'wallet:' || usage_series.account AS id, charge_nano AS nano
    FROM usage_quarter JOIN usage_series ON usage_series.id = series WHERE quarter < ?
    UNION ALL SELECT 'expense:writeoff', writeoff_nano FROM usage_quarter WHERE quarter < ?),
  kept AS (SELECT id, ${exactSum('nano')} AS nano FROM part GROUP BY id),
  posted AS (
    SELECT debit AS id, ${exactSum('amount_nano')} AS nano FROM transfer
    WHERE code IN ('usage', 'writeoff') AND at < ? GROUP BY debit)
  SELECT coalesce(kept.id, posted.id) AS id, CAST(coalesce(kept.nano, 0) AS TEXT) AS kept,
    CAST(coalesce(posted.nano, 0) AS TEXT) AS posted
  FROM kept FULL JOIN posted ON posted.id = kept.id
  WHERE coalesce(kept.nano, 0) <> coalesce(posted.nano, 0) ORDER BY 1`

const sumsOf = (table: string): string => `SELECT quarter, sum(requests) AS requests,
  ${exactSum('charge_nano')} AS nano FROM ${table} WHERE quarter < ? GROUP BY quarter`

const differingQuarters = `WITH own AS (${sumsOf('usage_quarter')}),
  together AS (${sumsOf('usage_quarter_all')})
  SELECT coalesce(own.quarter, together.quarter) AS quarter
  FROM own FULL JOIN together ON together.quarter = own.quarter
  WHERE own.quarter IS NULL OR together.quarter IS NULL
    OR own.requests <> together.requests OR own.nano <> together.nano ORDER BY 1`

/**
 * Before `since`, what each account paid must be the same in totals and journal entries. For quarters whose refusals
 * may be removed as well, the totals of all accounts must equal the sum of each account's.
 */
export async function auditPruned(
  session: Session,
  { since, refusalsSince }: Kept,
  findings: Findings,
): Promise<void> {
  const last = Math.max(since, refusalsSince)
  if (last === 0) return
  interface Differing {
    readonly id: string
    readonly kept: string
    readonly posted: string
  }
  for (const each of await session.query<Differing>(differingAccounts, [since, since, since])) {
    const { id, kept, posted } = each
    const when = new Date(since).toISOString()
    findings.add('quarter', id, `totals before ${when} make ${kept}, its entries ${posted}`)
  }
  interface Quarter {
    readonly quarter: number
  }
  for (const { quarter } of await session.query<Quarter>(differingQuarters, [last, last])) {
    const message = 'the totals of all accounts are not what those of each add up to'
    findings.add('quarter', new Date(quarter).toISOString(), message)
  }
}
