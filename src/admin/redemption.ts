// Redemption codes: an operator creates them in batches, and each gives credit once.

import { randomBytes } from 'node:crypto'
import { formatUnits, maxNano, nanoPerUnit } from '../money.ts'
import type { RedemptionBatch } from '../store/redemption-tables.ts'
import { RowRefused } from '../store/store.ts'
import { findWallet } from './accounts.ts'
import { codeHash, randomCode } from './code.ts'
import { checkNotDeleted } from './key-group.ts'
import { type Page, pageByTime, timePlace } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

/** Letters of a code, which make 100 bits: too many to guess. */
const length = 20

/** Of all codes of a batch together: far below what the accounts that they are booked on can hold. */
const mostNano = 1_000_000_000n * nanoPerUnit

/** The codes are shown in this reply only. */
export async function createRedemptionBatch(
  admin: AdminContext,
  { codes: wanted, amount, note, expiresAt }: Input<'createRedemptionBatch'>,
) {
  const { store, actor, nowMs } = admin
  if (amount * BigInt(wanted) > mostNano) {
    throw new AdminError(
      'invalid',
      'amount',
      `the codes of a batch may be worth at most ${formatUnits(mostNano)} together`,
    )
  }
  const codes = Array.from({ length: wanted }, () => randomCode(length))
  const batch = {
    id: `rb${nowMs.toString(36)}${randomBytes(6).toString('hex')}`,
    note,
    amountNano: amount,
    actor,
    createdAt: nowMs,
    expiresAt: expiresAt ?? null,
  }
  await store.redemption.create(batch, codes.map(codeHash))
  const kept = { ...batch, codes: wanted, revokedAt: null, redeemed: 0 }
  return { ...view(kept, await admin.currency()), secrets: codes }
}

export async function listRedemptionBatches(
  admin: AdminContext,
  { limit = 50, cursor }: Input<'listRedemptionBatches'>,
): Promise<Page<ReturnType<typeof view>>> {
  const before = timePlace(cursor)
  const batches = await admin.store.redemption.list({ before, limit: limit + 1 })
  const currency = await admin.currency()
  return pageByTime(batches, limit, (batch) => view(batch, currency))
}

/** Credit from codes redeemed before stays. */
export async function revokeRedemptionBatch(
  { store, nowMs }: AdminContext,
  { id }: Input<'redemptionBatch'>,
): Promise<{ readonly id: string; readonly revokedAt: string }> {
  if (!(await store.redemption.revoke(id, nowMs)))
    throw new AdminError('not_found', 'id', `there is no batch ${JSON.stringify(id)} to revoke`)
  return { id, revokedAt: timeText(nowMs) }
}

const refusals = {
  unknown: 'is not a code of this deployment: check it for mistyped letters',
  used: 'was redeemed already',
  expired: 'has expired',
  revoked: 'was revoked by the operator',
} as const

/** Redeems a code and credits its amount to the account. */
export async function redeemCode(
  admin: AdminContext,
  { code, account }: Input<'redeem'> & Input<'account'>,
) {
  const { store, nowMs } = admin
  await findWallet(store, account)
  checkNotDeleted(account, await store.people.find(account), 'new credit')
  const redeemed = await store.redemption.redeem(codeHash(code), account, nowMs).catch(refuseFull)
  if (redeemed.outcome !== 'redeemed')
    throw new AdminError('invalid', 'code', refusals[redeemed.outcome], `code_${redeemed.outcome}`)
  const { amountNano } = redeemed
  return { account, amountNano: String(amountNano), currency: await admin.currency() }
}

/** The credits of an account must fit into the database's integers; the code stays unused. */
function refuseFull(error: unknown): never {
  if (!(error instanceof RowRefused)) throw error
  throw new AdminError(
    'conflict',
    'code',
    `the credits of the account, or all promotions, would add up to more than ${formatUnits(maxNano)}`,
  )
}

function view(batch: RedemptionBatch, currency: string) {
  const { id, note, amountNano, codes, redeemed, actor } = batch
  return {
    id,
    note,
    amountNano: String(amountNano),
    currency,
    codes,
    redeemed,
    actor,
    createdAt: timeText(batch.createdAt),
    expiresAt: timeText(batch.expiresAt),
    revokedAt: timeText(batch.revokedAt),
  }
}
