// People who sign in to accounts: their role, groups, suspension and deletion.

import { formatUnits } from '../money.ts'
import type { IdentityRow, PersonChanged, PersonRow } from '../store/people.ts'
import type { Store } from '../store/store.ts'
import { readBalance } from './accounts.ts'
import { checkGroups } from './groups.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

export type Person = ReturnType<typeof personView>

export async function showPerson(
  { store }: AdminContext,
  { id, owner }: Input<'person'>,
): Promise<Person> {
  return viewOf(store, owner === undefined || owner === id ? id : null, id)
}

/** A new role or new groups apply from the session's next request on. */
export async function updatePerson(
  admin: AdminContext,
  { id, revision, owner, ...change }: Input<'updatePerson'>,
): Promise<Person> {
  if (owner !== undefined && owner !== id) throw noPerson(id)
  await checkGroups(admin, change.groups)
  const { store } = admin
  checkChanged(await store.people.change(id, change, revision), id)
  return viewOf(store, id, id)
}

/** Ends the account's sessions at once and its keys within a second; nobody can sign in until it is resumed. */
export function suspendPerson(admin: AdminContext, input: Input<'changePerson'>): Promise<Person> {
  return setSuspended(admin, input, admin.nowMs)
}

export function resumePerson(admin: AdminContext, input: Input<'changePerson'>): Promise<Person> {
  return setSuspended(admin, input, null)
}

async function setSuspended(
  { store }: AdminContext,
  { id, revision }: Input<'changePerson'>,
  suspendedAt: number | null,
): Promise<Person> {
  checkChanged(await store.people.change(id, { suspendedAt }, revision), id)
  return viewOf(store, id, id)
}

/** Keys work this long after deletion: messages of requests made meanwhile are removed too. */
const keysEndMs = 2_000

/**
 * Irreversible: removes name, e-mail address, identities, sessions, keys and messages; journal and usage stay, under
 * the bare id. Can be repeated where it was interrupted.
 */
export async function deletePerson(
  { store, nowMs }: AdminContext,
  { id, revision }: Input<'changePerson'>,
): Promise<void> {
  const changed = await store.people.remove(id, nowMs, revision)
  const isDeleted = changed === 'missing' && (await store.people.find(id)) !== null
  if (!isDeleted) checkChanged(changed, id)
  await store.historySettings.remove(id)
  await store.history.remove({ account: id }, nowMs + keysEndMs)
}

/** Deletes the caller's own account. Throws AdminError `conflict` where a balance is left and is not forfeited. */
export async function deleteOwnAccount(
  admin: AdminContext,
  { account, confirm, forfeit }: Input<'deleteOwnAccount'>,
): Promise<void> {
  if (confirm !== account) {
    throw new AdminError('invalid', 'confirm', 'is not the id of your account')
  }
  const { postedNano, currency } = await readBalance(admin, { account })
  if (BigInt(postedNano) > 0n && !forfeit) {
    const left = `${formatUnits(BigInt(postedNano))} ${currency}`
    const message = `must be true, since ${left} are left and would be lost`
    throw new AdminError('conflict', 'forfeit', message, 'balance_left')
  }
  await deletePerson(admin, { id: account })
}

function checkChanged(changed: PersonChanged, id: string): void {
  switch (changed) {
    case 'changed':
      return
    case 'missing':
      throw noPerson(id)
    case 'stale':
      throw new AdminError('stale', 'revision', `${id} was changed since it was read`)
    case 'last-admin':
      throw new AdminError(
        'conflict',
        'id',
        `${id} is the last admin: make another one first`,
        'last_admin',
      )
  }
}

function noPerson(id: string): AdminError {
  return new AdminError('not_found', 'id', `there is no account ${JSON.stringify(id)}`)
}

/** `id` null: the person belongs to another account. */
async function viewOf(store: Store, id: string | null, asked: string): Promise<Person> {
  const row = id === null ? null : await store.people.find(id)
  if (row === null) throw noPerson(asked)
  return personView(row, await store.identities.ofAccount(row.id))
}

export function personView(row: PersonRow, identities: readonly IdentityRow[]) {
  const { id, name, email, emailVerified, role, groups, revision } = row
  const status =
    row.deletedAt !== null
      ? ('deleted' as const)
      : row.suspendedAt !== null
        ? ('suspended' as const)
        : ('active' as const)
  return {
    id,
    name,
    email,
    emailVerified,
    role,
    groups,
    status,
    createdAt: timeText(row.createdAt),
    suspendedAt: timeText(row.suspendedAt),
    deletedAt: timeText(row.deletedAt),
    identities: identities.map(identityView),
    revision,
  }
}

export function identityView(row: IdentityRow) {
  const { id, issuer, subject, name, email, emailVerified } = row
  const times = { createdAt: timeText(row.createdAt), usedAt: timeText(row.usedAt) }
  return { id, issuer, subject, name, email, emailVerified, ...times }
}
