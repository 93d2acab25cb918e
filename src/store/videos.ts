// Videos that are being made or were made: which node polls each, and the money set aside before it ends.

import type { Nano } from '../money.ts'
import { FundsAllocator } from './divide.ts'
import type { Engine, Session, Value } from './engine.ts'
import { completeIdempotency } from './idempotency.ts'
import { aheadMs, forUpdate, lockLeases, writeLeases } from './leases.ts'
import type { NodeRef, SettleResult } from './ledger.ts'
import { isDeleted } from './people.ts'
import { settleNew } from './settle.ts'
import { RowRefused } from './store.ts'
import { cleanLongText, cleanText } from './text.ts'
import type {
  NewVideo,
  VideoBegin,
  VideoChange,
  VideoChanged,
  VideoClaim,
  VideoEnd,
  VideoRow,
  VideoTable,
} from './video-table.ts'
import { lockWallets, moveWallets } from './wallets.ts'

const columns = `account, id, request_id AS "requestId", state, video, work, bill,
  CAST(held_nano AS TEXT) AS "heldNano", polls, poll_at AS "pollAt", polled_at AS "polledAt",
  created_at AS "createdAt", expires_at AS "expiresAt"`

const insert = `INSERT INTO video (account, id, request_id, state, video, work, bill, held_nano, poll_at,
  created_at, expires_at) VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

/** The longest between two polls of a video. */
const longestWaitMs = 60_000

/** Not claimed at present: a claim ends with its time, or with the node that made it. */
const unclaimed = `(claimed_until IS NULL OR claimed_until <= ? OR NOT EXISTS (SELECT 1 FROM node
  WHERE node.id = video.node AND node.epoch = video.epoch AND node.state = 'open'))`

const skipLocked = { sqlite: '', postgres: ' FOR UPDATE SKIP LOCKED' }

const selectDue = `SELECT account, id FROM video WHERE state = 'running' AND (poll_at <= ? OR poll_at > ?)
  AND ${unclaimed} ORDER BY poll_at, id LIMIT ?`

const selectOnly = `SELECT account, id FROM video WHERE state = 'running' AND account = ? AND id = ?
  AND coalesce(polled_at, created_at) <= ? AND ${unclaimed}`

const take = `UPDATE video SET node = ?, epoch = ?, claimed_until = ?, polls = polls + 1, polled_at = ?
  WHERE account = ? AND id = ? AND state = 'running' RETURNING ${columns}`

const note = `UPDATE video SET video = ?, work = ?, polled_at = ?, poll_at = ?, claimed_until = NULL
  WHERE account = ? AND id = ? AND state = 'running' AND node = ? AND epoch = ?`

const lockHeld = `SELECT CAST(held_nano AS TEXT) AS held FROM video
  WHERE account = ? AND id = ? AND state = 'running'`

const finish = `UPDATE video SET state = ?, video = ?, work = ?, held_nano = 0, polled_at = ?,
  claimed_until = NULL WHERE account = ? AND id = ?`

const nothing: SettleResult = { settled: 0, chargedNano: 0n, writtenOffNano: 0n }
const unchanged: VideoChanged = { state: 'unchanged', rows: [], settled: nothing }
const changed: VideoChanged = { ...unchanged, state: 'changed' }

type Kept = Omit<VideoRow, 'heldNano'> & { readonly heldNano: string }

function rowOf(kept: Kept): VideoRow {
  return { ...kept, heldNano: BigInt(kept.heldNano) }
}

export function videoTable(engine: Engine): VideoTable {
  return {
    apply: (change, by) => apply(engine, change, by),
    async find(account, id) {
      const sql = `SELECT ${columns} FROM video WHERE account = ? AND id = ?`
      const [kept] = await engine.query<Kept>(sql, [cleanText(account), cleanText(id)])
      return kept === undefined ? null : rowOf(kept)
    },
    async list(account, { limit, order, after }) {
      const [sign, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC']
      const from = after === null ? '' : `AND (created_at, id) ${sign} (?, ?)`
      const sql = `SELECT ${columns} FROM video WHERE account = ? ${from}
        ORDER BY created_at ${direction}, id ${direction} LIMIT ?`
      const place = after === null ? [] : [after.createdAt, cleanText(after.id)]
      return (await engine.query<Kept>(sql, [cleanText(account), ...place, limit])).map(rowOf)
    },
    async nextPollAt(nowMs) {
      const sql = `SELECT min(CASE WHEN poll_at > ? THEN 0 ELSE poll_at END) AS "pollAt"
        FROM video WHERE state = 'running' AND ${unclaimed}`
      const values = [nowMs + longestWaitMs + aheadMs, nowMs]
      const [row] = await engine.query<{ readonly pollAt: number | null }>(sql, values)
      return row?.pollAt ?? null
    },
    async isAnyRunning() {
      const sql = `SELECT 1 AS "one" FROM video WHERE state = 'running' LIMIT 1`
      return (await engine.query(sql, [])).length > 0
    },
    async clean(nowMs) {
      await engine.transaction(async (session) => {
        const sql = `DELETE FROM video WHERE state <> 'running' AND expires_at <= ?`
        await session.run(sql, [nowMs])
      })
    },
  }
}

/** Thrown to roll back the beginning of a video that its account cannot pay. */
class Insufficient extends Error {}

async function apply(
  engine: Engine,
  change: VideoChange,
  by: NodeRef | null,
): Promise<VideoChanged> {
  try {
    return await engine.transaction((session) => applyIn(session, change, by))
  } catch (error) {
    if (error instanceof Insufficient) return { ...unchanged, state: 'insufficient' }
    throw error
  }
}

async function applyIn(
  session: Session,
  change: VideoChange,
  by: NodeRef | null,
): Promise<VideoChanged> {
  switch (change.kind) {
    case 'begin':
      return begin(session, change)
    case 'claim':
      return claim(session, change, opened(by))
    case 'note': {
      const { video, work, nowMs, pollAt, account, id } = change
      const { node, epoch } = opened(by)
      const texts = [cleanLongText(video), cleanLongText(work)]
      const owner = [cleanText(account), cleanText(id), cleanText(node), epoch]
      return said(await session.run(note, [...texts, nowMs, pollAt, ...owner]))
    }
    case 'end':
      return end(session, change)
    case 'remove': {
      const sql = `DELETE FROM video WHERE account = ? AND id = ? AND state <> 'running'`
      return said(await session.run(sql, [cleanText(change.account), cleanText(change.id)]))
    }
  }
}

function opened(by: NodeRef | null): NodeRef {
  if (by === null) throw new Error('The node is not open in the ledger.')
  return by
}

function said(count: number): VideoChanged {
  return count > 0 ? changed : unchanged
}

/** Money from the lease is pending already; only its owner changes. */
async function begin(session: Session, change: VideoBegin): Promise<VideoChanged> {
  const { row, idempotency } = change
  if (row.heldNano < 0n) throw new RowRefused('Less than nothing was to be set aside')
  const account = cleanText(row.account)
  const from = { node: cleanText(change.from.node), epoch: change.from.epoch }
  const wallets = await lockWallets(session, [account])
  // What an account leaves behind when it is deleted goes as soon as it has ended.
  const isKept = !(await isDeleted(session, account))
  const kept = isKept ? row : { ...row, expiresAt: row.createdAt }
  const inserted = await session.run(insert, beginValues(kept))
  if (inserted === 0) return unchanged
  const funds = new FundsAllocator(wallets, await lockLeases(session, from, [account]))
  const { fromLeaseNano, fromFreeNano } = funds.take(from, account, row.heldNano, row.heldNano)
  if (fromLeaseNano + fromFreeNano < row.heldNano) throw new Insufficient()
  if (fromFreeNano > 0n) await movePending(session, account, fromFreeNano)
  await writeLeases(session, funds.leases())
  if (idempotency !== null) await completeIdempotency(session, idempotency, row.requestId)
  return changed
}

function beginValues(row: NewVideo): Value[] {
  return [
    cleanText(row.account),
    cleanText(row.id),
    cleanText(row.requestId),
    cleanLongText(row.video),
    cleanLongText(row.work),
    cleanLongText(row.bill),
    row.heldNano,
    row.pollAt,
    row.createdAt,
    row.expiresAt,
  ]
}

async function movePending(session: Session, account: string, pendingNano: Nano): Promise<void> {
  await moveWallets(session, [{ account, debitNano: 0n, creditNano: 0n, pendingNano }])
}

async function claim(session: Session, change: VideoClaim, by: NodeRef): Promise<VideoChanged> {
  const { nowMs, untilMs, limit, only } = change
  const [sql, values]: [string, Value[]] =
    only === undefined
      ? [selectDue, [nowMs, nowMs + longestWaitMs + aheadMs, nowMs, limit]]
      : [selectOnly, [cleanText(only.account), cleanText(only.id), only.polledBeforeMs, nowMs]]
  const due = await session.query<Pick<VideoRow, 'account' | 'id'>>(
    sql + skipLocked[session.kind],
    values,
  )
  const rows: VideoRow[] = []
  for (const { account, id } of due) {
    const owner = [cleanText(by.node), by.epoch, untilMs, nowMs]
    rows.push(...(await session.query<Kept>(take, [...owner, account, id])).map(rowOf))
  }
  return { ...(rows.length > 0 ? changed : unchanged), rows }
}

/** Locks the wallet first, as everywhere; then the video, so that one of several concurrent ends finds it running. */
async function end(session: Session, change: VideoEnd): Promise<VideoChanged> {
  const account = cleanText(change.account)
  const id = cleanText(change.id)
  await lockWallets(session, [account])
  const [found] = await session.query<{ readonly held: string }>(
    lockHeld + forUpdate[session.kind],
    [account, id],
  )
  if (found === undefined) return unchanged
  const heldNano = BigInt(found.held)
  if (heldNano > 0n) await movePending(session, account, -heldNano)
  if (change.state === 'removed') {
    await session.run('DELETE FROM video WHERE account = ? AND id = ?', [account, id])
  } else {
    const texts = [cleanLongText(change.video), cleanLongText(change.work)]
    await session.run(finish, [change.state, ...texts, change.nowMs, account, id])
  }
  return { ...changed, settled: await settleEnd(session, change) }
}

/** Money that was set aside is free in this transaction, whose lock keeps it for this charge. */
async function settleEnd(session: Session, { row, capNano }: VideoEnd): Promise<SettleResult> {
  const known = 'SELECT 1 FROM usage WHERE request_id = ?'
  if ((await session.query(known, [row.requestId])).length > 0) return nothing
  const nobody = { node: '', epoch: 0, fromLeaseNano: 0n, idempotency: null }
  return settleNew(session, [{ ...nobody, row, capNano }], [])
}
