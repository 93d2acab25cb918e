// Records of finished requests that the ledger refused: lists them, settles them again, or discards them.

import { decodeBody } from '../ledger/record.ts'
import type { Resolved, SetAside, Settlement } from '../store/ledger.ts'
import { RowRefused } from '../store/store.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

interface SetAsideItem {
  readonly requestId: string
  readonly account: string
  readonly currency: string
  readonly heldNano: string
  /** What the request would cost; null if this version cannot read the record. */
  readonly costNano: string | null
  readonly reason: string
  readonly at: string
}

interface Done {
  readonly requestId: string
  readonly outcome: Resolved['outcome']
  /** False if the record had been dealt with before: nothing has changed. */
  readonly changed: boolean
  readonly currency: string
  /** What the record had held; 0 if it had been dealt with before, as the other amounts. */
  readonly releasedNano: string
  readonly chargeNano: string
  readonly writeoffNano: string
}

/** Newest first; without the records themselves, which may contain a customer's reply. */
export async function listSetAsides(
  { store, currency }: AdminContext,
  { limit }: Input<'listSetAsides'>,
): Promise<{ readonly items: readonly SetAsideItem[] }> {
  const kept = await store.settlements.setAsides(limit)
  const code = await currency()
  const items = kept.map((record) => {
    const { requestId, account, heldNano, reason, at } = record
    const settlement = settlementOf(record)
    return {
      requestId,
      account,
      currency: code,
      heldNano: String(heldNano),
      costNano: settlement === null ? null : String(settlement.row.chargeNano),
      reason,
      at: timeText(at),
    }
  })
  return { items }
}

/** Charges a record after all, from what it holds and the account's free money; once, however often it is asked. */
export async function settleSetAside(
  admin: AdminContext,
  { id }: Input<'settleSetAside'>,
): Promise<Done> {
  const settlement = settlementOf(await find(admin, id))
  if (settlement === null) {
    const message = `${id} cannot be settled: this version reads no finished request in its record`
    throw new AdminError('conflict', 'id', message)
  }
  return resolve(admin, { id, settlement, reason: null })
}

/** Releases what a record holds without charging it. */
export async function discardSetAside(
  admin: AdminContext,
  { id, reason }: Input<'discardSetAside'>,
): Promise<Done> {
  await find(admin, id)
  return resolve(admin, { id, settlement: null, reason })
}

async function find({ store }: AdminContext, id: string): Promise<SetAside> {
  const record = await store.settlements.findSetAside(id)
  if (record !== null) return record
  throw new AdminError('not_found', 'id', `no record ${JSON.stringify(id)} was set aside`)
}

/** What the ledger refused was the record, not the money, so a lease covers none of it any more. */
function settlementOf({ raw }: SetAside): Settlement | null {
  const [record] = decodeBody(`[${raw}]`, '', 0)
  if (record?.kind !== 'final') return null
  return { ...record.settlement, epoch: 0, fromLeaseNano: 0n }
}

interface Choice {
  readonly id: string
  readonly settlement: Settlement | null
  readonly reason: string | null
}

async function resolve(admin: AdminContext, { id, settlement, reason }: Choice): Promise<Done> {
  const { store, actor, nowMs } = admin
  const resolution = { requestId: id, settlement, reason, actor, at: nowMs }
  const done = await store.settlements.resolve(resolution).catch((error: unknown) => {
    if (!(error instanceof RowRefused)) throw error
    throw new AdminError('conflict', 'id', `the ledger still refuses ${id}: ${error.message}`)
  })
  const outcome = settlement === null ? 'discarded' : 'settled'
  if (done.outcome !== outcome)
    throw new AdminError('conflict', 'id', `${id} was ${done.outcome} before`)
  return {
    requestId: id,
    outcome,
    changed: done.isNew,
    currency: await admin.currency(),
    releasedNano: String(done.releasedNano),
    chargeNano: String(done.chargedNano),
    writeoffNano: String(done.writtenOffNano),
  }
}
