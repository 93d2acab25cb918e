// Settling: turns finished requests into usage rows, journal entries and totals, in one transaction per batch.

import type { Nano } from '../money.ts'
import { among } from './among.ts'
import { divide, FundsAllocator } from './divide.ts'
import type { Engine, Session } from './engine.ts'
import { completeIdempotency } from './idempotency.ts'
import { insertTransfers } from './journal.ts'
import { type Lease, lockLeases, writeLeases } from './leases.ts'
import {
  house,
  type NodeRef,
  type OutboxPlace,
  type Settlement,
  type SettleResult,
} from './ledger.ts'
import { cameBefore, noteCome } from './outbox-epochs.ts'
import { postingsOf } from './postings.ts'
import { keptOf } from './retention.ts'
import { addLate } from './rollup-facets.ts'
import { addRollups, RollupTotals } from './rollups.ts'
import { checkSettlement } from './settlement-check.ts'
import { logSettled } from './settlement-log.ts'
import { cleanText } from './text.ts'
import { amongIds, insertUsage, usageValues } from './usage-columns.ts'
import { lockWallets, moveHouse, moveWallets } from './wallets.ts'

/** Thrown to roll back a transaction in which some rows had been settled before. */
class SomeKnown extends Error {}

/** See `SettlementTable.settle`. */
export async function settle(engine: Engine, batch: readonly Settlement[]): Promise<SettleResult> {
  let rest = distinct(batch)
  const places = batch.flatMap(({ place }) => place ?? [])
  while (rest.length > 0) {
    const rows = rest
    try {
      return await engine.transaction((session) => settleNew(session, rows, places))
    } catch (error) {
      if (!(error instanceof SomeKnown)) throw error
    }
    // Rare, after a crash: so ids are not checked in advance for every batch.
    const known = await knownIds(engine, rest)
    rest = rest.filter(({ row }) => !known.has(row.requestId))
  }
  if (places.length > 0) await engine.transaction((session) => noteCome(session, places))
  return { settled: 0, chargedNano: 0n, writtenOffNano: 0n }
}

/** Checks the batch and keeps the first of each id. */
function distinct(batch: readonly Settlement[]): Settlement[] {
  const byId = new Map<string, Settlement>()
  for (const settlement of batch) {
    checkSettlement(settlement)
    const { requestId } = settlement.row
    if (!byId.has(requestId)) byId.set(requestId, settlement)
  }
  return [...byId.values()]
}

const amongEntries = among('id')

/** Those of the batch that were settled before. */
export async function knownIds(
  session: Session,
  batch: readonly Settlement[],
): Promise<Set<string>> {
  const ids = batch.map(({ row }) => row.requestId)
  const entries = ids.flatMap((id) => [`usage:${id}`, `writeoff:${id}`])
  const rows = await session.query<{ readonly id: string }>(
    `SELECT request_id AS id FROM usage WHERE ${amongIds[session.kind]}
      UNION SELECT substr(id, length(code) + 2) FROM transfer WHERE ${amongEntries[session.kind]}`,
    [JSON.stringify(ids), JSON.stringify(entries)],
  )
  const removed = await removedIds(session, batch)
  return new Set([...rows.map(({ id }) => id), ...removed])
}

/** Ids whose rows were removed: a shared entry does not have their id, but the numbers of their records are known. */
async function removedIds(session: Session, batch: readonly Settlement[]): Promise<string[]> {
  const { since, refusalsSince } = await keptOf(session)
  const last = Math.max(since, refusalsSince)
  const old = batch.filter(({ row, place }) => row.at < last && place !== undefined)
  if (old.length === 0) return []
  const came = await cameBefore(
    session,
    old.flatMap(({ place }) => place ?? []),
  )
  return old.flatMap(({ row, place }) => (place && came.has(place) ? row.requestId : []))
}

/** Settles new rows and notes `places`, in the caller's transaction. Throws if a row is known or cannot be stored. */
export async function settleNew(
  session: Session,
  batch: readonly Settlement[],
  places: readonly OutboxPlace[],
): Promise<SettleResult> {
  const charged = batch.filter(({ row }) => row.chargeNano > 0n)
  const wallets = await lockWallets(
    session,
    charged.map(({ row }) => cleanText(row.account)),
  )
  const funds = new FundsAllocator(wallets, await leasesOf(session, charged))
  const divided = divide(batch, funds)
  const { rows, chargedNano, writtenOffNano } = divided
  const { postings, entries } = postingsOf(batch, rows)
  const usage = rows.map(({ row, chargeNano, writeoffNano }, place) =>
    usageValues(row, chargeNano, writeoffNano, postings[place]),
  )
  if ((await session.bulk(insertUsage, usage)) < batch.length) throw new SomeKnown()
  // Checked after inserting: another node that removes rows announces that before it removes them.
  if ((await removedIds(session, batch)).length > 0) throw new SomeKnown()
  // A row that was removed since has left its journal entries.
  if ((await session.bulk(insertTransfers, entries)) < entries.length) throw new SomeKnown()
  await moveWallets(session, divided.moves)
  await writeLeases(session, divided.leases)
  const totals = new RollupTotals()
  for (const divided of rows) totals.add(divided)
  await addRollups(session, totals)
  for (const { idempotency, row } of batch) {
    if (idempotency !== null) await completeIdempotency(session, idempotency, row.requestId)
  }
  await noteCome(session, places)
  await moveHouse(session, houseMoves(chargedNano, writtenOffNano))
  await logSettled(
    session,
    batch.map(({ row }) => row),
  )
  await addLate(session, totals)
  return { settled: batch.length, chargedNano, writtenOffNano }
}

/** A batch is from one node, and rarely from more than one of its epochs. */
async function leasesOf(session: Session, charged: readonly Settlement[]): Promise<Lease[]> {
  const nodes = new Map<string, { readonly ref: NodeRef; readonly accounts: Set<string> }>()
  for (const { node, epoch, fromLeaseNano, row } of charged) {
    if (fromLeaseNano === 0n) continue
    const name = `${node} ${epoch}`
    const found = nodes.get(name) ?? { ref: { node: cleanText(node), epoch }, accounts: new Set() }
    found.accounts.add(cleanText(row.account))
    nodes.set(name, found)
  }
  const leases: Lease[] = []
  for (const { ref, accounts } of nodes.values()) {
    leases.push(...(await lockLeases(session, ref, accounts)))
  }
  return leases
}

function houseMoves(chargedNano: Nano, writtenOffNano: Nano) {
  const still = { debitNano: 0n, creditNano: 0n, pendingNano: 0n }
  return [
    { ...still, id: house.revenue, creditNano: chargedNano + writtenOffNano },
    { ...still, id: house.writeoff, debitNano: writtenOffNano },
  ].filter(({ debitNano, creditNano }) => debitNano + creditNano > 0n)
}
