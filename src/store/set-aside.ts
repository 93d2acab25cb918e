// Settlements that the ledger refuses: stored unchanged, with their money held before an operator resolves them.

import { FundsAllocator } from './divide.ts'
import type { Engine, Session } from './engine.ts'
import { lockLeases, writeLeases } from './leases.ts'
import type {
  RecordOrigin,
  Resolution,
  Resolved,
  SetAside,
  Settlement,
  SettleResult,
} from './ledger.ts'
import { noteCome } from './outbox-epochs.ts'
import { knownIds, settleNew } from './settle.ts'
import { checkSettlement } from './settlement-check.ts'
import { RowRefused } from './store.ts'
import { cleanLongText, cleanText, cleanTextOrNull } from './text.ts'
import { lockWallets, moveWallets, openSetAsides } from './wallets.ts'

const isKnown = `SELECT 1 FROM set_aside WHERE request_id = ?
  UNION ALL SELECT 1 FROM usage WHERE request_id = ?`

const insert = `INSERT INTO set_aside (request_id, account, held_nano, node, epoch, raw, reason, at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

const columns = `request_id AS "requestId", account, CAST(held_nano AS TEXT) AS "heldNano",
  raw, reason, at`
const newest = 'ORDER BY at DESC, request_id DESC LIMIT ?'

type Kept = Omit<SetAside, 'heldNano'> & { readonly heldNano: string }

function setAsideOf({ heldNano, ...kept }: Kept): SetAside {
  return { ...kept, heldNano: BigInt(heldNano) }
}

/** See `SettlementTable.setAsides`. */
export async function setAsides(
  session: Session,
  limit: number,
  all?: 'all',
): Promise<readonly SetAside[]> {
  const from = all === undefined ? openSetAsides : 'set_aside'
  const kept = await session.query<Kept>(`SELECT ${columns} FROM ${from} ${newest}`, [limit])
  return kept.map(setAsideOf)
}

/** See `SettlementTable.findSetAside`. */
export async function findSetAside(session: Session, requestId: string): Promise<SetAside | null> {
  const sql = `SELECT ${columns} FROM set_aside WHERE request_id = ?`
  const [kept] = await session.query<Kept>(sql, [cleanText(requestId)])
  return kept === undefined ? null : setAsideOf(kept)
}

/** See `SettlementTable.setAside`. */
export async function setAside(
  session: Session,
  entry: SetAside,
  from: RecordOrigin,
): Promise<void> {
  if (entry.heldNano < 0n) throw new RowRefused('Less than nothing was to be set aside')
  const account = cleanText(entry.account)
  const ref = { node: cleanText(from.node), epoch: from.epoch }
  const wallets = await lockWallets(session, [account])
  const requestId = cleanText(entry.requestId)
  if (from.place) await noteCome(session, [from.place])
  if ((await session.query(isKnown, [requestId, requestId])).length > 0) return
  const funds = new FundsAllocator(wallets, await lockLeases(session, ref, [account]))
  const cover = funds.take(ref, account, entry.heldNano, entry.heldNano)
  // Money from the lease is pending already; only its owner changes.
  if (cover.fromFreeNano > 0n) {
    await moveWallets(session, [
      { account, debitNano: 0n, creditNano: 0n, pendingNano: cover.fromFreeNano },
    ])
  }
  await writeLeases(session, funds.leases())
  await session.run(insert, [
    requestId,
    account,
    cover.fromLeaseNano + cover.fromFreeNano,
    ref.node,
    ref.epoch,
    cleanLongText(entry.raw),
    cleanText(entry.reason),
    entry.at,
  ])
}

const insertResolution = `INSERT INTO set_aside_resolution (request_id, outcome, actor, reason, at)
  VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
const findHeld = `SELECT account, CAST(held_nano AS TEXT) AS held FROM set_aside WHERE request_id = ?`
const findOutcome = 'SELECT outcome FROM set_aside_resolution WHERE request_id = ?'

/** See `SettlementTable.resolve`. */
export async function resolve(engine: Engine, resolution: Resolution): Promise<Resolved> {
  if (resolution.settlement !== null) checkSettlement(resolution.settlement)
  return engine.transaction((session) => resolveIn(session, resolution))
}

/** What was held is free in this transaction, whose lock on the wallet keeps it for the charge. */
async function resolveIn(
  session: Session,
  { settlement, ...resolution }: Resolution,
): Promise<Resolved> {
  const requestId = cleanText(resolution.requestId)
  const [kept] = await session.query<{ readonly account: string; readonly held: string }>(
    findHeld,
    [requestId],
  )
  if (kept === undefined) throw new RowRefused(`No record ${requestId} was set aside`)
  const outcome = settlement === null ? 'discarded' : 'settled'
  await lockWallets(session, [kept.account, cleanText(settlement?.row.account ?? kept.account)])
  const { actor, reason, at } = resolution
  const values = [requestId, outcome, cleanText(actor), cleanTextOrNull(reason), at]
  if ((await session.run(insertResolution, values)) === 0) {
    const [before] = await session.query<Pick<Resolved, 'outcome'>>(findOutcome, [requestId])
    const still = { isNew: false, releasedNano: 0n, chargedNano: 0n, writtenOffNano: 0n }
    return { outcome: before?.outcome ?? outcome, ...still }
  }
  const releasedNano = BigInt(kept.held)
  if (releasedNano > 0n) {
    const nothing = { debitNano: 0n, creditNano: 0n }
    await moveWallets(session, [{ account: kept.account, ...nothing, pendingNano: -releasedNano }])
  }
  const { chargedNano, writtenOffNano } = await settleOnce(session, settlement)
  return { outcome, isNew: true, releasedNano, chargedNano, writtenOffNano }
}

async function settleOnce(session: Session, settlement: Settlement | null): Promise<SettleResult> {
  const isDone =
    settlement === null || (await knownIds(session, [settlement])).has(settlement.row.requestId)
  return isDone
    ? { settled: 0, chargedNano: 0n, writtenOffNano: 0n }
    : settleNew(session, [settlement], [])
}
