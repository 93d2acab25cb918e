// The audit of usage: each row against its price, its transfers and its hour, read once and page by page.

import type { Nano } from '../money.ts'
import { createHourCheck } from './audit-hours.ts'
import type { Session, Value } from './engine.ts'
import type { Findings } from './findings.ts'
import { house } from './ledger.ts'
import { type KeptUsage, selectUsage, usageRowOf } from './usage-columns.ts'
import type { UsageRow } from './usage-row.ts'

const pageRows = 2_000

/** A transfer is right where it is there exactly when the amount is not 0, for that amount, between the two accounts. */
const isRight = (table: string, amount: string): string =>
  `CASE WHEN page."${amount}" = '0' AND ${table}.id IS NULL THEN 1
    WHEN page."${amount}" = CAST(${table}.amount_nano AS TEXT)
      AND ${table}.debit = ${table === 'paid' ? `'wallet:' || page.account` : `'${house.writeoff}'`}
      AND ${table}.credit = '${house.revenue}' THEN 1 ELSE 0 END`

const selectPage = (where: string): string => `SELECT page.*,
    CAST(paid.amount_nano AS TEXT) AS "paidNano", ${isRight('paid', 'chargeNano')} AS "paidRight",
    CAST(lost.amount_nano AS TEXT) AS "lostNano", ${isRight('lost', 'writeoffNano')} AS "lostRight"
  FROM (${selectUsage} ${where} ORDER BY at, request_id LIMIT ${pageRows}) AS page
  LEFT JOIN transfer AS paid ON paid.id = 'usage:' || page."requestId"
  LEFT JOIN transfer AS lost ON lost.id = 'writeoff:' || page."requestId"
  ORDER BY page.at, page."requestId"`

const firstPage = selectPage('')
const nextPage = selectPage('WHERE at >= ? AND (at, request_id) > (?, ?)')

type PageRow = KeptUsage & {
  readonly paidNano: string | null
  readonly paidRight: number
  readonly lostNano: string | null
  readonly lostRight: number
}

/** Returns how many rows there are. */
export async function auditUsage(
  session: Session,
  price: (row: UsageRow) => Nano | null,
  findings: Findings,
): Promise<number> {
  const hours = createHourCheck(session, findings)
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
      checkTransfers(kept, findings)
      if (hours.isPast(row)) await hours.close()
      hours.add(row)
      rows += 1
      transfers += (kept.paidNano === null ? 0 : 1) + (kept.lostNano === null ? 0 : 1)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageRows) break
    after = [last.at, last.at, last.requestId]
  }
  await hours.end()
  await findStrays(session, transfers, findings)
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

function checkTransfers(kept: PageRow, findings: Findings): void {
  const tell = (code: string, amount: string, found: string | null) =>
    findings.add(
      'usage',
      kept.requestId,
      `${amount} should be in ${code}:${kept.requestId} of ${kept.account}, ${found === null ? 'which is not there' : `which has ${found} or other accounts`}`,
    )
  if (kept.paidRight !== 1) tell('usage', kept.chargeNano, kept.paidNano)
  if (kept.lostRight !== 1) tell('writeoff', kept.writeoffNano, kept.lostNano)
}

const countTransfers = `SELECT count(*) AS count FROM transfer WHERE code IN ('usage', 'writeoff')`

const strays = `SELECT id FROM transfer WHERE code IN ('usage', 'writeoff') AND NOT EXISTS (
  SELECT 1 FROM usage WHERE usage.request_id = substr(transfer.id, length(transfer.code) + 2)) ORDER BY id`

/** Looked for one by one only where there are more transfers than rows account for. */
async function findStrays(session: Session, matched: number, findings: Findings): Promise<void> {
  const [row] = await session.query<{ readonly count: number }>(countTransfers, [])
  if (row?.count === matched) return
  for (const { id } of await session.query<{ readonly id: string }>(strays, [])) {
    findings.add('journal', id, 'no usage row belongs to it')
  }
}
