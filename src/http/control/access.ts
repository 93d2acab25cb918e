// Who may use a route of the control API, and whose data the caller sees there.

import { AdminError } from '../../admin/use-case.ts'
import type { ControlPrincipal, Role } from '../../identity/principal.ts'
import { ControlError } from './problem.ts'

/**
 * The least that a route asks of its caller. `public`: nothing. `session`: a signed-in person, for their own data.
 * `user`: a person or a management key, within one account; an auditor only reads. `auditor`: reads everything.
 * `admin`: changes everything.
 */
export type Access = 'public' | 'session' | 'user' | 'auditor' | 'admin'

export interface Scope {
  /** The account that an item named by its id must belong to; undefined: any account. */
  readonly owner: string | undefined
  /** The caller's own account; null for a management key that is bound to none. */
  readonly self: string | null
  /**
   * The account that a list is about. A user gets its own, and is told that any other was not found; auditors and
   * admins get the one they ask for, or undefined for all. Throws AdminError.
   */
  account(asked?: string | undefined): string | undefined
  /** The account that a single account's data is about: the one asked for, else the caller's own. Throws AdminError. */
  oneAccount(asked?: string | undefined): string
}

/** A management key bound to an account has its owner's rights, any other those of an admin. */
export function roleOf(principal: ControlPrincipal): Role {
  if (principal.kind === 'session') return principal.role
  return principal.account === null ? 'admin' : 'user'
}

export const isUnsafe = (method: string) => !['get', 'head', 'options'].includes(method)

const ranks: Readonly<Record<Role, number>> = { user: 0, auditor: 1, admin: 2 }

/** Throws ControlError `unauthenticated`, `forbidden`. */
export function checkAccess(
  {
    access,
    method,
    reads,
  }: { readonly access: Access; readonly method: string; readonly reads?: true },
  principal: ControlPrincipal | null,
): void {
  if (access === 'public') return
  if (principal === null) throw unauthenticated()
  if (access === 'session') {
    if (principal.kind === 'session') return
    throw new ControlError(
      'forbidden',
      'This needs a signed-in person; management keys are refused.',
    )
  }
  const changes = isUnsafe(method) && reads !== true
  if (principal.kind === 'management') checkScopes(principal.scopes, changes)
  const role = roleOf(principal)
  if (ranks[role] < ranks[access])
    throw new ControlError(
      'forbidden',
      `This needs the role ${access}; the caller has the role ${role}.`,
    )
  if (role === 'auditor' && changes)
    throw new ControlError('forbidden', 'An auditor reads everything and changes nothing.')
}

/**
 * Whether an administrator's sign-in is too old for changes by that role; those of the person's own data are still
 * allowed. `freshMinutes`: how long a sign-in allows them; null: as long as the session lasts.
 */
export function isStale(
  route: { readonly method: string; readonly reads?: true },
  principal: ControlPrincipal | null,
  now: { readonly freshMinutes: number | null; readonly nowMs: number },
): boolean {
  const { freshMinutes, nowMs } = now
  if (freshMinutes === null || principal?.kind !== 'session' || principal.role !== 'admin')
    return false
  if (!isUnsafe(route.method) || route.reads === true) return false
  return nowMs - principal.signedInAt > freshMinutes * 60_000
}

export function signInAgain(freshMinutes: number | null): ControlError {
  const message = `Sign in again first: this needs a sign-in within the last ${freshMinutes} minutes.`
  return new ControlError('forbidden', message, null, {}, 'sign_in_again')
}

/** Throws ControlError `forbidden` where a management key's scopes lack the one that is needed. */
export function checkScopes(scopes: readonly string[], changes: boolean): void {
  const needed = changes ? 'write' : 'read'
  if (scopes.includes(needed)) return
  throw new ControlError('forbidden', `This management key has no scope ${needed}.`)
}

export function unauthenticated(): ControlError {
  const message = 'Sign in, or send a management key (Authorization: Bearer sk-tgm-...).'
  return new ControlError('unauthenticated', message, null, { 'www-authenticate': 'Bearer' })
}

/** `stale`: only the caller's own data, whatever the role. */
export function scopeOf(principal: ControlPrincipal | null, stale = false): Scope {
  const self = principal?.account ?? null
  const seesAll = principal !== null && !stale && roleOf(principal) !== 'user'
  const account = (asked?: string | undefined) => {
    if (seesAll) return asked
    if (self !== null && (asked === undefined || asked === self)) return self
    throw new AdminError('not_found', 'account', `there is no account ${JSON.stringify(asked)}`)
  }
  return {
    owner: seesAll ? undefined : (self ?? ''),
    self,
    account,
    oneAccount(asked) {
      const found = account(asked) ?? self
      if (found !== null) return found
      throw new AdminError(
        'invalid',
        'account',
        'is missing: the management key is bound to no account',
      )
    },
  }
}

/** The name of the actor in the journal and in the list of operator events. */
export function actorOf(principal: ControlPrincipal | null): string {
  if (principal === null) return 'nobody'
  return principal.kind === 'session'
    ? `account ${principal.account}`
    : `management key ${principal.keyId}`
}
