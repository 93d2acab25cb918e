// Log of settled batches in the order of their commits, which live tails and data warehouses follow. Keeps the last
// batches, and those that a warehouse has not received yet.

import type { Engine, Session } from './engine.ts'
import { nowMs } from './leases.ts'
import type { SettledPlace } from './usage-filter.ts'

/**
 * On PostgreSQL a counter row, locked for the rest of the transaction, numbers batches in the order of their commits:
 * whoever has read up to a number has missed none below it. On SQLite one transaction writes at a time.
 */
const append = {
  sqlite: `INSERT INTO settlement_log (number, ids, first_at, requests, settled_at)
    SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ${nowMs.sqlite} FROM settlement_log RETURNING number`,
  postgres: `WITH next AS (UPDATE settlement_count SET value = value + 1 RETURNING value)
    INSERT INTO settlement_log (number, ids, first_at, requests, settled_at)
    SELECT value, ?, CAST(? AS BIGINT), CAST(? AS BIGINT), ${nowMs.postgres} FROM next
    RETURNING number`,
}

const keptBatches = 4_096
const pruneEvery = 64
/** Limits how much one settlement removes, when a warehouse comes back after a long time. */
const prunedAtOnce = 1_024

const heldFrom = (kind: Session['kind']) =>
  `(SELECT min(number) FROM usage_export WHERE held_until > ${nowMs[kind]})`

/** Called at the end of a settlement's transaction: from here on every other settlement waits for its commit. */
export async function logSettled(
  session: Session,
  rows: readonly { readonly requestId: string; readonly at: number }[],
): Promise<void> {
  if (rows.length === 0) return
  const firstAt = rows.reduce((least, { at }) => Math.min(least, at), Number.MAX_SAFE_INTEGER)
  const [appended] = await session.query<{ readonly number: number }>(append[session.kind], [
    JSON.stringify(rows.map(({ requestId }) => requestId)),
    Math.floor(firstAt),
    rows.length,
  ])
  if (appended === undefined) throw new Error('The table settlement_count has lost its row.')
  const { number } = appended
  if (number % pruneEvery !== 0) return
  await session.run(
    `DELETE FROM settlement_log WHERE number <= ?
      AND number < (SELECT min(number) FROM settlement_log) + ?
      AND number <= coalesce(${heldFrom(session.kind)}, ?)`,
    [number - keptBatches, prunedAtOnce, number],
  )
}

/** Blocks all settling for the rest of the transaction. On SQLite the transaction already blocks other writers. */
export async function holdSettling(session: Session): Promise<void> {
  if (session.kind === 'postgres')
    await session.query('SELECT value FROM settlement_count FOR UPDATE', [])
}

/** The place after everything that is settled now. */
export async function newestBatch(engine: Engine): Promise<SettledPlace> {
  const sql = 'SELECT number, ids FROM settlement_log ORDER BY number DESC LIMIT 1'
  const [newest] = await engine.query<Batch>(sql, [])
  return newest === undefined
    ? { number: 0, index: 0 }
    : { number: newest.number, index: idsOf(newest).length - 1 }
}

interface Batch {
  readonly number: number
  readonly ids: string
}

interface LoggedIds {
  readonly ids: readonly { readonly id: string; readonly place: SettledPlace }[]
  /** The place of the last of them. */
  readonly place: SettledPlace
  /** Some batches after the requested place have been removed from the log. */
  readonly missed: boolean
}

const batchesAtOnce = 32

/** Requests settled after a place, oldest first, a few batches at a time. */
export async function readBatches(engine: Engine, after: SettledPlace): Promise<LoggedIds> {
  const batches = await engine.query<Batch>(
    'SELECT number, ids FROM settlement_log WHERE number >= ? ORDER BY number LIMIT ?',
    [after.number, batchesAtOnce],
  )
  const ids = batches.flatMap((batch) =>
    idsOf(batch).map((id, index) => ({ id, place: { number: batch.number, index } })),
  )
  const fresh = ids.filter(({ place }) => place.number > after.number || place.index > after.index)
  const [first] = batches
  return {
    ids: fresh,
    place: fresh.at(-1)?.place ?? after,
    missed: first !== undefined && first.number > after.number + 1,
  }
}

function idsOf({ ids }: Batch): readonly string[] {
  return JSON.parse(ids) as string[]
}
