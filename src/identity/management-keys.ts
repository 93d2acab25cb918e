// Finds the principal of a management key's secret.

import type { Store } from '../store/store.ts'
import type { ManagementPrincipal } from './principal.ts'
import { hashSecret, looksWellFormed, managementPrefix } from './secret.ts'

/** A key's last use is recorded at most this often. */
const notedEveryMs = 60_000

/** null if unknown, disabled or expired, or if its account is closed. Rejects if the store is unreachable. */
export async function findManagementKey(
  { managementKeys, people }: Pick<Store, 'managementKeys' | 'people'>,
  secret: string,
  nowMs: number,
): Promise<ManagementPrincipal | null> {
  if (!looksWellFormed(secret, managementPrefix)) return null
  const row = await managementKeys.findByHash(hashSecret(secret))
  if (row === null || row.disabledAt !== null) return null
  if (row.expiresAt !== null && row.expiresAt <= nowMs) return null
  const { id, name, account, scopes, expiresAt, usedAt } = row
  if (account !== null && (await isClosed(people, account))) return null
  if (usedAt === null || nowMs - usedAt >= notedEveryMs) await managementKeys.noteUse(id, nowMs)
  return { kind: 'management', keyId: id, keyName: name, account, scopes, expiresAt }
}

/** Whether the account is suspended or deleted. */
async function isClosed(people: Store['people'], account: string): Promise<boolean> {
  const person = await people.find(account)
  return person === null || person.suspendedAt !== null || person.deletedAt !== null
}
