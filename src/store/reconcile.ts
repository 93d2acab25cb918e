// Reads a piece of time from the three places that record it, in one snapshot: usage rows with their journal entries,
// entries without a row, and totals.

import type { Nano } from '../money.ts'
import { exactSum } from './audit-accounts.ts'
import { ownProblems, SharedEntries } from './audit-shared.ts'
import { type RowWithEntries, selectWithEntries } from './audit-usage.ts'
import type { Engine, Session, Value } from './engine.ts'
import type {
  ReconciledEntry,
  ReconciledRow,
  ReconciledTotal,
  ReconcilePeriod,
  ReconcilePiece,
  ReconcileTable,
} from './reconcile-table.ts'
import { keptOf } from './retention.ts'
import { quarterMs, quarterOf } from './rollup-table.ts'
import { cleanText } from './text.ts'
import { usageRowOf } from './usage-columns.ts'

const dayMs = 86_400_000
const mostRows = 10_000
const mostDays = 31
const mostOrphans = 1_000

export function reconcileTable(engine: Engine): ReconcileTable {
  return { read: (asked) => engine.snapshot((session) => read(session, asked)) }
}

async function read(session: Session, asked: ReconcilePeriod): Promise<ReconcilePiece> {
  const { since: kept, refusalsSince } = await keptOf(session)
  const last = Math.min(asked.until, quarterOf(asked.since) + mostDays * dayMs)
  if (asked.since < kept) {
    const piece = { ...asked, until: Math.min(last, kept), refusalsSince: 0 }
    const totals = await totalsOf(session, piece)
    return { until: piece.until, pruned: true, rows: [], orphans: [], totals }
  }
  const until = await endOf(session, { ...asked, until: last })
  const piece = { ...asked, until, refusalsSince }
  return {
    until,
    pruned: false,
    rows: await rowsOf(session, piece),
    orphans: await orphansOf(session, piece),
    totals: await totalsOf(session, piece),
  }
}

const ofAccount = ({ account }: ReconcilePeriod, column: string) =>
  account === undefined ? '' : ` AND ${column} = ?`

function bound({ account, since, until }: ReconcilePeriod, given = account): Value[] {
  return [since, until, ...(given === undefined ? [] : [cleanText(given)])]
}

/** The end of the last quarter-hour that fits into the row limit; at least one, however many rows it has. */
async function endOf(session: Session, asked: ReconcilePeriod): Promise<number> {
  const sql = `SELECT max(at) AS last, count(*) AS rows FROM (SELECT at FROM usage
    WHERE at >= ? AND at < ?${ofAccount(asked, 'account')} ORDER BY at LIMIT ${mostRows}) AS first`
  const [row] = await session.query<{ readonly last: number | null; readonly rows: number }>(
    sql,
    bound(asked),
  )
  if (row === undefined || row.last === null || row.rows < mostRows) return asked.until
  const end = quarterOf(row.last)
  return Math.min(asked.until, end > asked.since ? end : asked.since + quarterMs)
}

/** Refused requests, whose rows may be removed earlier, are included only from `refusalsSince` on. */
interface Piece extends ReconcilePeriod {
  readonly refusalsSince: number
}

async function rowsOf(session: Session, asked: Piece): Promise<ReconciledRow[]> {
  const counts = ` AND (channel IS NOT NULL OR status < 400 OR at >= ${asked.refusalsSince})`
  const sql = selectWithEntries(`WHERE at >= ? AND at < ?${counts}${ofAccount(asked, 'account')}`)
  const kept = await session.query<RowWithEntries>(sql, bound(asked))
  const shared = new SharedEntries()
  const rows = kept.map((each) => ({ row: usageRowOf(each), entries: each }))
  for (const { row, entries } of rows) shared.add(row, entries)
  const wrong = new Map(shared.take().map((each) => [each.requestId, each]))
  return rows.map(({ row, entries }) => {
    const { posting, paid, lost } = entries
    const problems = [...ownProblems(row, entries)]
    let chargeNano = posting === null ? amountOf(paid) : row.chargeNano
    const entry = wrong.get(posting ?? '')
    if (entry !== undefined && entry.problems.length > 0) {
      // The difference of a shared entry is reported with the first of its rows.
      wrong.delete(entry.requestId)
      problems.push(...entry.problems)
      chargeNano += amountOf(paid) - entry.chargeNano
    }
    return { row, chargeNano, writeoffNano: amountOf(lost), problems }
  })
}

/** The amount in an entry of the form `12 from wallet:a to revenue:usage`. */
function amountOf(entry: string | null): Nano {
  return BigInt(entry?.split(' ', 1)[0] ?? 0)
}

/** Finds entries by the primary key, as ids begin with their request's time: no journal index has times of usage. */
async function orphansOf(session: Session, asked: ReconcilePeriod): Promise<ReconciledEntry[]> {
  const { since, until, account } = asked
  const idAt = (at: number) => `usage:req_${Math.max(0, at).toString(16).padStart(12, '0')}`
  const wallet = account === undefined ? undefined : `wallet:${account}`
  const sql = `SELECT id, substr(debit, 8) AS account, at, CAST(amount_nano AS TEXT) AS "amountNano"
    FROM transfer WHERE id >= ? AND id < ? AND at >= ? AND at < ?${ofAccount(asked, 'debit')}
      AND NOT EXISTS (SELECT 1 FROM usage WHERE usage.request_id = substr(transfer.id, 7)
        AND coalesce(usage.posting, usage.request_id) = usage.request_id)
    ORDER BY id LIMIT ${mostOrphans}`
  interface Kept extends Omit<ReconciledEntry, 'amountNano'> {
    readonly amountNano: string
  }
  const values = [idAt(since - dayMs), idAt(until + 1), ...bound(asked, wallet)]
  const kept = await session.query<Kept>(sql, values)
  return kept.map((each) => ({ ...each, amountNano: BigInt(each.amountNano) }))
}

async function totalsOf(session: Session, asked: Piece): Promise<ReconciledTotal[]> {
  const sql = `SELECT quarter - quarter % ${dayMs} AS day, account, sum(requests) AS requests,
      CAST(${exactSum('coalesce(charge_nano, 0)')} AS TEXT) AS "chargeNano",
      CAST(${exactSum('coalesce(writeoff_nano, 0)')} AS TEXT) AS "writeoffNano"
    FROM usage_quarter JOIN usage_series ON usage_series.id = series
    WHERE quarter >= ? AND quarter < ?
      AND (channel <> '' OR status_class < '4xx' OR quarter >= ${asked.refusalsSince})
      ${ofAccount(asked, 'account')} GROUP BY 1, 2 ORDER BY 1, 2`
  interface Kept extends Omit<ReconciledTotal, 'chargeNano' | 'writeoffNano'> {
    readonly chargeNano: string
    readonly writeoffNano: string
  }
  const kept = await session.query<Kept>(sql, bound(asked))
  return kept.map(({ requests, chargeNano, writeoffNano, ...at }) => ({
    ...at,
    requests: Number(requests),
    chargeNano: BigInt(chargeNano),
    writeoffNano: BigInt(writeoffNano),
  }))
}
