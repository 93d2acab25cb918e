// Whether an account may have new keys or credit, how many keys, and of which groups.

import { suggestion } from '../config/problems.ts'
import type { KeyRow } from '../store/keys.ts'
import type { PersonRow } from '../store/people.ts'
import type { Store } from '../store/store.ts'
import { AdminError } from './use-case.ts'

/** Accepts any name before a server has first started, since the groups are not known then. Throws AdminError. */
export async function checkGroup(store: Store, account: string, group: string): Promise<void> {
  const known = await store.deployment.groups()
  const own = await groupsOf(store, account)
  const allowed = own === null ? known : own.filter((each) => known.includes(each))
  if (known.length > 0 && !known.includes(group)) {
    const whose = own === null ? 'the configuration has' : 'the account may use'
    const near = suggestion(group, allowed) || `; ${whose} ${allowed.join(', ')}`
    throw new AdminError('invalid', 'group', `there is no such group${near}`)
  }
  checkOwnGroup(own, { account, group })
}

/**
 * The group asked for, else `default`, else the first one allowed. Throws AdminError where the account may not use it.
 */
export async function allowedGroup(
  store: Store,
  account: string,
  asked: string | undefined,
): Promise<string> {
  const own = (await groupsOf(store, account)) ?? (await store.deployment.groups())
  const group = asked ?? (own.includes('default') ? 'default' : (own[0] ?? 'default'))
  await checkGroup(store, account, group)
  return group
}

/** Throws AdminError: nobody can use a deleted account. An account may be missing: its first key creates it. */
export function checkNotDeleted(
  account: string,
  person: Pick<PersonRow, 'deletedAt'> | null,
  wanted = 'new keys',
): void {
  if (person === null || person.deletedAt === null) return
  throw new AdminError('conflict', 'account', `${account} was deleted and can have no ${wanted}`)
}

/** Throws AdminError where the account has so many keys already. Two at the same moment may both find room. */
export async function checkRoom(
  { keys }: Pick<Store, 'keys'>,
  account: string,
  most: number,
): Promise<void> {
  if (most === Number.POSITIVE_INFINITY || (await keys.count(account)) < most) return
  const message = `${account} has ${most} keys or more, which is the most: delete one first`
  throw new AdminError('conflict', 'account', message)
}

/** The groups the account may have keys of; null: all. */
export async function groupsOf(store: Store, account: string): Promise<readonly string[] | null> {
  return (await store.people.find(account))?.groups ?? null
}

/** `own`: the result of `groupsOf`. Throws AdminError. */
export function checkOwnGroup(
  own: readonly string[] | null,
  { account, group }: Pick<KeyRow, 'account' | 'group'>,
): void {
  if (own === null || own.includes(group)) return
  const message = `account ${account} may have keys of ${own.join(', ') || 'no group'} alone`
  throw new AdminError('invalid', 'group', message)
}
