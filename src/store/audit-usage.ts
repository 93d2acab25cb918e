// The audit of usage: each row against its price, its transfers and its quarter of an hour, read once and page by page.

import type { Nano } from '../money.ts'
import { createRollupCheck } from './audit-rollups.ts'
import type { Session, Value } from './engine.ts'
import type { Findings } from './findings.ts'
import { house, walletOf } from './ledger.ts'
import { type KeptUsage, selectUsage, usageRowOf } from './usage-columns.ts'
import type { UsageRow } from './usage-row.ts'

const pageRows = 2_000

/**
 * What the journal has for the page's row: amount and both accounts. A subquery, and not a join, because PostgreSQL
 * would read the whole journal to join it with a page.
 */
export const entryOf = (code: string): string =>
  `(SELECT CAST(amount_nano AS TEXT) || ' from ' || debit || ' to ' || credit
    FROM transfer WHERE id = '${code}:' || page."requestId")`

const selectPage = (where: string): string => `SELECT page.*,
    ${entryOf('usage')} AS paid, ${entryOf('writeoff')} AS lost
  FROM (${selectUsage} ${where} ORDER BY at, request_id LIMIT ${pageRows}) AS page
  ORDER BY page.at, page."requestId"`

const firstPage = selectPage('')
const nextPage = selectPage('WHERE at >= ? AND (at, request_id) > (?, ?)')

type PageRow = KeptUsage & { readonly paid: string | null; readonly lost: string | null }

interface UsageAudit {
  readonly price: (row: UsageRow) => Nano | null
  /** Of requests from before it rows may have been removed: what is left of them makes no totals. */
  readonly since: number
}

/** Returns how many rows there are. */
export async function auditUsage(
  session: Session,
  { price, since }: UsageAudit,
  findings: Findings,
): Promise<number> {
  const quarters = createRollupCheck(session, findings)
  let rows = 0
  let transfers = 0
  let after: Value[] | null = null
  for (;;) {
    const page: PageRow[] =
      after === null
        ? await session.query<PageRow>(firstPage, [])
        : await session.query<PageRow>(nextPage, after)
    for (const kept of page) {
      const row = usageRowOf(kept)
      checkPrice(row, price, findings)
      checkTransfers(row, kept, findings)
      rows += 1
      if (row.at < since) continue
      if (quarters.isPast(row)) await quarters.close()
      quarters.add(row)
      transfers += (kept.paid === null ? 0 : 1) + (kept.lost === null ? 0 : 1)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageRows) break
    after = [last.at, last.at, last.requestId]
  }
  await quarters.end(since)
  await findUnmatched(session, { matched: transfers, since }, findings)
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

function checkTransfers(row: UsageRow, kept: PageRow, findings: Findings): void {
  for (const problem of entryProblems(row, kept)) findings.add('usage', row.requestId, problem)
}

/** What the journal has for a row. An amount above 0 has one entry, between its two accounts; 0 has none. */
export function entryProblems(
  row: Pick<UsageRow, 'requestId' | 'account' | 'chargeNano' | 'writeoffNano'>,
  { paid, lost }: Pick<PageRow, 'paid' | 'lost'>,
): readonly string[] {
  const check = (code: string, debit: string, amount: Nano, found: string | null) => {
    const expected = amount === 0n ? null : `${amount} from ${debit} to ${house.revenue}`
    if (found === expected) return []
    return [
      `${code}:${row.requestId} should be ${expected ?? 'missing'}, and is ${found ?? 'missing'}`,
    ]
  }
  return [
    ...check('usage', walletOf(row.account), row.chargeNano, paid),
    ...check('writeoff', house.writeoff, row.writeoffNano, lost),
  ]
}

const countTransfers = `SELECT count(*) AS count FROM transfer WHERE code IN ('usage', 'writeoff') AND at >= ?`

const unmatched = `SELECT id FROM transfer WHERE code IN ('usage', 'writeoff') AND at >= ? AND NOT EXISTS (
  SELECT 1 FROM usage WHERE usage.request_id = substr(transfer.id, length(transfer.code) + 2)) ORDER BY id`

/** Looked for one by one only where there are more transfers than rows account for. */
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
