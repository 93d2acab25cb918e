// The audit of accounts: their counters against the journal, their leases, set-aside records and videos.

import type { Session } from './engine.ts'
import type { Findings } from './findings.ts'
import { openSetAsides } from './wallets.ts'

/** Exact for any amounts: SQLite's own sum fails with an error beyond int64, which only corrupt data reaches. */
export const exactSum = (column: string): string =>
  `(coalesce(sum(${column} / 1000000000), 0) * 1000000000 + coalesce(sum(${column} % 1000000000), 0))`

const asText = (expression: string): string => `CAST(${expression} AS TEXT)`

// Grouped by both accounts at once, so that the journal is read only once.
const differingCounters = `WITH pair AS MATERIALIZED (
    SELECT debit, credit, sum(amount_nano / 1000000000) * 1000000000 AS whole,
      sum(amount_nano % 1000000000) AS rest
    FROM transfer GROUP BY debit, credit),
  side AS (
    SELECT debit AS id, whole + rest AS debits, 0 AS credits FROM pair
    UNION ALL SELECT credit, 0, whole + rest FROM pair),
  fold AS (SELECT id, sum(debits) AS debits, sum(credits) AS credits FROM side GROUP BY id)
  SELECT coalesce(kept.id, fold.id) AS id, kept.id IS NULL AS missing,
    ${asText('kept.debits_posted')} AS debits, ${asText('kept.credits_posted')} AS credits,
    ${asText('coalesce(fold.debits, 0)')} AS "foldDebits",
    ${asText('coalesce(fold.credits, 0)')} AS "foldCredits"
  FROM ledger_account AS kept FULL JOIN fold ON fold.id = kept.id
  WHERE kept.id IS NULL OR kept.debits_posted <> coalesce(fold.debits, 0)
    OR kept.credits_posted <> coalesce(fold.credits, 0)
  ORDER BY 1`

interface DifferingCounters {
  readonly id: string
  readonly missing: number | boolean
  readonly debits: string | null
  readonly credits: string | null
  readonly foldDebits: string
  readonly foldCredits: string
}

const conservation = `SELECT ${asText(exactSum('debits_posted'))} AS debits,
  ${asText(exactSum('credits_posted'))} AS credits FROM ledger_account`

const overdrawn = `SELECT id, ${asText('debits_posted')} AS debits, ${asText('credits_posted')} AS credits,
    ${asText('debits_pending')} AS pending
  FROM ledger_account
  WHERE debits_posted < 0 OR credits_posted < 0 OR debits_pending < 0
    OR (kind = 'wallet' AND credits_posted - debits_posted - debits_pending < 0)
  ORDER BY id`

const withoutWallet = `SELECT account.id FROM account
  LEFT JOIN ledger_account ON ledger_account.id = 'wallet:' || account.id
  WHERE ledger_account.id IS NULL OR ledger_account.kind <> 'wallet' ORDER BY account.id`

/** I1 to I3: debits equal credits, each counter is the sum of its transfers, and no wallet's balance is negative. */
export async function auditAccounts(session: Session, findings: Findings): Promise<void> {
  for (const row of await session.query<DifferingCounters>(differingCounters, [])) {
    findings.add(
      row.id.startsWith('wallet:') ? 'wallet' : 'journal',
      row.id,
      row.missing
        ? 'the journal names an account that is not there'
        : `has debits ${row.debits} and credits ${row.credits}, its transfers make ${row.foldDebits} and ${row.foldCredits}`,
    )
  }
  interface Sums {
    readonly debits: string
    readonly credits: string
  }
  for (const { debits, credits } of await session.query<Sums>(conservation, [])) {
    if (debits !== credits) {
      findings.add('journal', 'all accounts', `debits are ${debits}, credits ${credits}`)
    }
  }
  interface Overdrawn extends Sums {
    readonly id: string
    readonly pending: string
  }
  for (const row of await session.query<Overdrawn>(overdrawn, [])) {
    findings.add(
      'wallet',
      row.id,
      `is below nothing: credits ${row.credits}, debits ${row.debits}, pending ${row.pending}`,
    )
  }
  for (const { id } of await session.query<{ readonly id: string }>(withoutWallet, [])) {
    findings.add('wallet', id, 'the account has no wallet')
  }
}

const differingPending = `WITH part AS (
    SELECT 'wallet:' || account AS id, amount_nano AS leased, 0 AS pinned FROM lease
    UNION ALL SELECT 'wallet:' || account, 0, held_nano FROM ${openSetAsides}
    UNION ALL SELECT 'wallet:' || account, 0, held_nano FROM video),
  fold AS (
    SELECT id, ${exactSum('leased')} AS leased, ${exactSum('pinned')} AS pinned FROM part GROUP BY id)
  SELECT coalesce(kept.id, fold.id) AS id, ${asText('coalesce(kept.debits_pending, 0)')} AS pending,
    ${asText('coalesce(fold.leased, 0)')} AS leased, ${asText('coalesce(fold.pinned, 0)')} AS pinned
  FROM ledger_account AS kept FULL JOIN fold ON fold.id = kept.id
  WHERE coalesce(kept.debits_pending, 0) <> coalesce(fold.leased + fold.pinned, 0)
  ORDER BY 1`

const badLeases = `SELECT lease.node, lease.epoch, lease.account, ${asText('amount_nano')} AS amount,
    ${asText('held_nano')} AS held
  FROM lease LEFT JOIN node
    ON node.id = lease.node AND node.epoch = lease.epoch AND node.state = 'open'
  WHERE node.id IS NULL OR amount_nano <= 0 OR held_nano < 0 OR held_nano > amount_nano
  ORDER BY lease.node, lease.epoch, lease.account`

const badPins = `SELECT request_id AS "requestId", ${asText('held_nano')} AS held,
    CASE WHEN EXISTS (SELECT 1 FROM usage WHERE usage.request_id = set_aside.request_id)
      THEN 1 ELSE 0 END AS settled
  FROM set_aside
  WHERE held_nano < 0 OR EXISTS (SELECT 1 FROM usage WHERE usage.request_id = set_aside.request_id)
    AND NOT EXISTS (SELECT 1 FROM set_aside_resolution AS resolved
      WHERE resolved.request_id = set_aside.request_id AND outcome = 'settled')
  ORDER BY request_id`

const badVideos = `SELECT id, ${asText('held_nano')} AS held, state,
    CASE WHEN EXISTS (SELECT 1 FROM usage WHERE usage.request_id = video.request_id)
      THEN 1 ELSE 0 END AS settled
  FROM video
  WHERE held_nano < 0 OR (state = 'running') = EXISTS (
    SELECT 1 FROM usage WHERE usage.request_id = video.request_id)
    AND (state = 'running' OR created_at - 86400000 >= ?)
  ORDER BY id`

/** A running video is not settled and an ended one is; usage rows from before `since` may have been removed. */
async function auditVideos(session: Session, since: number, findings: Findings): Promise<void> {
  interface Bad {
    readonly id: string
    readonly held: string
    readonly state: string
    readonly settled: number
  }
  for (const { id, held, state, settled } of await session.query<Bad>(badVideos, [since])) {
    const what = settled === 1 ? 'is settled' : 'is not settled'
    findings.add('video', id, `is ${state}, ${what}, and pins ${held}`)
  }
}

/** Checks that each wallet's pending amount equals what open nodes lease, set-aside records hold and videos hold. */
export async function auditLeases(
  session: Session,
  since: number,
  findings: Findings,
): Promise<void> {
  interface Pending {
    readonly id: string
    readonly pending: string
    readonly leased: string
    readonly pinned: string
  }
  for (const row of await session.query<Pending>(differingPending, [])) {
    findings.add(
      'lease',
      row.id,
      `has ${row.pending} pending, leases make ${row.leased}, set-aside rows and videos ${row.pinned}`,
    )
  }
  interface Lease {
    readonly node: string
    readonly epoch: number
    readonly account: string
    readonly amount: string
    readonly held: string
  }
  for (const row of await session.query<Lease>(badLeases, [])) {
    findings.add(
      'lease',
      `${row.node}/${row.epoch}/${row.account}`,
      `leases ${row.amount} and holds ${row.held} of it, by a node that is not open or out of bounds`,
    )
  }
  interface Pin {
    readonly requestId: string
    readonly held: string
    readonly settled: number
  }
  for (const row of await session.query<Pin>(badPins, [])) {
    const what = row.settled === 1 ? 'is settled as well' : `pins ${row.held}`
    findings.add('set-aside', row.requestId, what)
  }
  await auditVideos(session, since, findings)
}

const badTransfers = `SELECT id, code, debit, credit, ${asText('amount_nano')} AS amount FROM transfer
  WHERE amount_nano <= 0 OR debit = credit OR substr(id, 1, length(code) + 1) <> code || ':'
    OR (code = 'adjust' AND (coalesce(actor, '') = '' OR coalesce(reason, '') = ''))
  ORDER BY id`

/** Checks each entry by itself; entries of usage are compared with their rows in the audit of usage. */
export async function auditJournal(session: Session, findings: Findings): Promise<void> {
  interface Bad {
    readonly id: string
    readonly debit: string
    readonly credit: string
    readonly amount: string
  }
  for (const row of await session.query<Bad>(badTransfers, [])) {
    findings.add(
      'journal',
      row.id,
      `is no entry the ledger makes: ${row.amount} from ${row.debit} to ${row.credit}`,
    )
  }
}
