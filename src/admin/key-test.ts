// Tells whether a key would be accepted now, and for which models, without calling a vendor.

import type { KeyConfig } from '../config/types.ts'
import { principalOf } from '../identity/keyring.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import { periodAt } from '../ledger/spend-period.ts'
import { formatUnits } from '../money.ts'
import type { KeyRow } from '../store/keys.ts'
import { spendingOf } from './key-view.ts'
import { keyAt } from './keys.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'

interface TestRooms {
  readonly declared: readonly KeyConfig[]
  /** Names of the models that the key may use now. */
  models(principal: KeyPrincipal): readonly string[]
}

interface Reason {
  readonly code:
    | 'disabled'
    | 'expired'
    | 'account_closed'
    | 'address_not_allowed'
    | 'spend_limit_reached'
    | 'no_balance'
    | 'no_models'
  readonly message: string
}

/** Lists every reason against the key, not only the first. Limits per minute are not checked. */
export async function testKey(
  admin: AdminContext,
  { id, owner, address }: Input<'testKey'>,
  { declared, models }: TestRooms,
) {
  const row = await keyAt(admin.store, { id, owner }, declared)
  const principal = principalOf(row)
  const names = models(principal)
  const reasons: Reason[] = [
    ...ofKey(row, admin.nowMs),
    ...ofAddress(principal, address),
    ...(await ofAccount(row, admin)),
    ...(await ofSpendLimit(row, admin)),
  ]
  if (names.length === 0)
    reasons.push({
      code: 'no_models',
      message: `no model of group ${row.group} is left to it, or none is served and priced now`,
    })
  return { id: row.id, admitted: reasons.length === 0, reasons, models: names }
}

function ofKey({ disabledAt, expiresAt }: KeyRow, nowMs: number): Reason[] {
  const reasons: Reason[] = []
  if (disabledAt !== null) reasons.push({ code: 'disabled', message: 'the key is disabled' })
  if (expiresAt !== null && expiresAt <= nowMs)
    reasons.push({ code: 'expired', message: `the key expired at ${timeText(expiresAt)}` })
  return reasons
}

function ofAddress({ addresses }: KeyPrincipal, address: string | undefined): Reason[] {
  if (addresses === null || address === undefined || addresses.has(address)) return []
  return [{ code: 'address_not_allowed', message: `it may not be used from ${address}` }]
}

async function ofAccount({ account }: KeyRow, { store, currency }: AdminContext) {
  const reasons: Reason[] = []
  const person = await store.people.find(account)
  if (person !== null && (person.suspendedAt !== null || person.deletedAt !== null))
    reasons.push({ code: 'account_closed', message: `account ${account} is suspended or deleted` })
  const wallet = await store.journal.wallet(account)
  const availableNano = (wallet?.postedNano ?? 0n) - (wallet?.heldNano ?? 0n)
  if (availableNano <= 0n)
    reasons.push({
      code: 'no_balance',
      message: `account ${account} has ${formatUnits(availableNano)} ${await currency()} available`,
    })
  return reasons
}

async function ofSpendLimit(row: KeyRow, { store, nowMs }: AdminContext): Promise<Reason[]> {
  if (row.spendLimit === null) return []
  const { startMs, endMs } = periodAt(row.spendLimit, nowMs)
  const spent = (await spendingOf(store, [row], startMs)).get(row.id)
  if (spent === undefined || spent.chargeNano < row.spendLimit.amountNano) return []
  const resets = endMs === null ? 'and does not reset' : `until ${timeText(endMs)}`
  return [{ code: 'spend_limit_reached', message: `its spend limit is reached ${resets}` }]
}
