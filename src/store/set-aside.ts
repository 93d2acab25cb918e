// Settlements that the ledger refuses: stored unchanged, with their money held before an operator resolves them.

import { FundsAllocator } from './divide.ts'
import type { Session } from './engine.ts'
import { lockLeases, writeLeases } from './leases.ts'
import type { RecordOrigin, SetAside } from './ledger.ts'
import { noteCome } from './outbox-epochs.ts'
import { RowRefused } from './store.ts'
import { cleanLongText, cleanText } from './text.ts'
import { lockWallets, moveWallets } from './wallets.ts'

const isKnown = `SELECT 1 FROM set_aside WHERE request_id = ?
  UNION ALL SELECT 1 FROM usage WHERE request_id = ?`

const insert = `INSERT INTO set_aside (request_id, account, held_nano, node, epoch, raw, reason, at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

const select = `SELECT request_id AS "requestId", account, CAST(held_nano AS TEXT) AS "heldNano",
  raw, reason, at FROM set_aside ORDER BY at DESC, request_id DESC LIMIT ?`

/** Newest first. */
export async function setAsides(session: Session, limit: number): Promise<readonly SetAside[]> {
  const kept = await session.query<Omit<SetAside, 'heldNano'> & { heldNano: string }>(select, [
    limit,
  ])
  return kept.map((row) => ({ ...row, heldNano: BigInt(row.heldNano) }))
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
