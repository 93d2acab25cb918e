// The audit of usage: each row compared with its price, its transfers and its quarter-hour, in one pass over pages.

import type { Nano } from '../money.ts'
import { createRollupCheck } from './audit-rollups.ts'
import { ownProblems, SharedEntries } from './audit-shared.ts'
import type { Session, Value } from './engine.ts'
import type { Findings } from './findings.ts'
import type { Kept } from './retention.ts'
import { type KeptUsage, selectUsageWith, usageRowOf } from './usage-columns.ts'
import type { UsageRow } from './usage-row.ts'

const pageRows = 2_000

const entryOf = (code: string, reference: string): string =>
  `(SELECT CAST(amount_nano AS TEXT) || ' from ' || debit || ' to ' || credit
    FROM transfer WHERE id = '${code}:' || ${reference})`

/**
 * Rows with the journal entry of each, or the entry it shares: amount and both accounts. Subqueries rather than joins,
 * because PostgreSQL would read the whole journal to join it with a page.
 */
export const selectWithEntries = (where: string): string => `SELECT page.*,
    ${entryOf('usage', 'coalesce(page.posting, page."requestId")')} AS paid,
    ${entryOf('writeoff', 'page."requestId"')} AS lost
  FROM (${selectUsageWith('posting')} ${where}) AS page
  ORDER BY page.at, page."requestId"`

const selectPage = (where: string): string =>
  selectWithEntries(`${where} ORDER BY at, request_id LIMIT ${pageRows}`)

const firstPage = selectPage('')
const nextPage = selectPage('WHERE at >= ? AND (at, request_id) > (?, ?)')

/** `posting`: the request whose entry for the charge this row shares; null if it has its own. */
export type RowWithEntries = KeptUsage &
  Readonly<Record<'posting' | 'paid' | 'lost', string | null>>

/** Totals cannot be recomputed for times from which rows may have been removed. */
interface UsageAudit extends Kept {
  readonly price: (row: UsageRow) => Nano | null
}

/** Returns the number of usage rows. */
export async function auditUsage(
  session: Session,
  { price, since, refusalsSince }: UsageAudit,
  findings: Findings,
): Promise<number> {
  const quarters = createRollupCheck(session, refusalsSince, findings)
  const shared = new SharedEntries()
  const endQuarter = async () => {
    await quarters.close()
    for (const { requestId, problems } of shared.take()) {
      for (const problem of problems) findings.add('usage', requestId, problem)
    }
  }
  let rows = 0
  let entries = 0
  let after: Value[] | null = null
  for (;;) {
    const page: RowWithEntries[] =
      after === null
        ? await session.query<RowWithEntries>(firstPage, [])
        : await session.query<RowWithEntries>(nextPage, after)
    for (const kept of page) {
      const row = usageRowOf(kept)
      checkPrice(row, price, findings)
      for (const problem of ownProblems(row, kept)) findings.add('usage', row.requestId, problem)
      rows += 1
      // Rows that share its entry may have been removed.
      if (row.at < since) continue
      if (quarters.isPast(row)) await endQuarter()
      quarters.add(row)
      const isFirst = shared.add(row, kept)
      entries += (kept.paid !== null && isFirst ? 1 : 0) + (kept.lost === null ? 0 : 1)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageRows) break
    after = [last.at, last.at, last.requestId]
  }
  await endQuarter()
  await quarters.end(since)
  await findUnmatched(session, { matched: entries, since }, findings)
  return rows
}

function checkPrice(
  row: UsageRow,
  price: (row: UsageRow) => Nano | null,
  findings: Findings,
): void {
  const total = row.chargeNano + row.writeoffNano
  const expected = row.priceVersion === null ? 0n : price(row)
  if (expected === total) return
  const made = `charge ${row.chargeNano} and write-off ${row.writeoffNano} make ${total}`
  findings.add(
    'usage',
    row.requestId,
    expected === null
      ? `price version ${row.priceVersion} is not known; ${made}`
      : `${made}, the formula gives ${expected}`,
  )
}

const countTransfers = `SELECT count(*) AS count FROM transfer WHERE code IN ('usage', 'writeoff') AND at >= ?`

const unmatched = `SELECT id FROM transfer WHERE code IN ('usage', 'writeoff') AND at >= ? AND NOT EXISTS (
  SELECT 1 FROM usage WHERE usage.request_id = substr(transfer.id, length(transfer.code) + 2)
    AND (code = 'writeoff' OR coalesce(posting, request_id) = request_id)) ORDER BY id`

/** Searches for them one by one only if there are more transfers than the rows account for. */
async function findUnmatched(
  session: Session,
  { matched, since }: { readonly matched: number; readonly since: number },
  findings: Findings,
): Promise<void> {
  const [row] = await session.query<{ readonly count: number }>(countTransfers, [since])
  if (row?.count === matched) return
  for (const { id } of await session.query<{ readonly id: string }>(unmatched, [since])) {
    findings.add('journal', id, 'no usage row belongs to it')
  }
}
