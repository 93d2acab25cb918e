// Ways to sign in: sessions and identities, one-time links for admins, and invitations.

import { randomBytes } from 'node:crypto'
import { defaultAccount } from '../config/defaults.ts'
import { randomBase62 } from '../identity/secret.ts'
import { freshMs, hashToken, idleMs, longestMs } from '../identity/session-cookie.ts'
import type { InvitationRow, SessionRow } from '../store/sign-in.ts'
import { checkGroups } from './groups.ts'
import { type Page, pageByTime, timePlace } from './page.ts'
import { identityView } from './people.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
const tokenBytes = 32

type ShownSession = ReturnType<typeof sessionView>

/** Newest first. */
export async function listSessions(
  { store, nowMs }: AdminContext,
  { account }: Input<'sessionsOf'>,
): Promise<Page<ShownSession>> {
  const rows = await store.sessions.ofAccount(account, { nowMs, idleMs, longestMs })
  return { items: rows.map(sessionView), next: null }
}

function sessionView({ id, createdAt, usedAt, address, client }: SessionRow) {
  const expiresAt = Math.min(createdAt + longestMs, usedAt + idleMs)
  const times = { createdAt: timeText(createdAt), usedAt: timeText(usedAt) }
  return { id, ...times, expiresAt: timeText(expiresAt), address, client }
}

export async function endSession(
  { store }: AdminContext,
  { account, id }: Input<'endSession'>,
): Promise<void> {
  if (await store.sessions.end(id, account)) return
  throw new AdminError('not_found', 'id', `there is no session ${JSON.stringify(id)}`)
}

/** Ends all sessions of an account except the given one; returns their number. */
export async function endSessions(
  { store }: AdminContext,
  { account, except }: Input<'endSessions'>,
): Promise<{ readonly ended: number }> {
  return { ended: await store.sessions.endAll(account, except) }
}

/** Oldest first. */
export async function listIdentities(
  { store }: AdminContext,
  { account }: Input<'sessionsOf'>,
): Promise<Page<ReturnType<typeof identityView>>> {
  return { items: (await store.identities.ofAccount(account)).map(identityView), next: null }
}

/** For what a stolen session must not do. Throws AdminError unless the sign-in is one of just now. */
export function checkJustSignedIn(signedInAt: number, nowMs: number): void {
  if (nowMs - signedInAt <= freshMs) return
  const message = 'sign in again first: this needs a sign-in within the last 15 minutes'
  throw new AdminError('forbidden', 'session', message, 'sign_in_again')
}

/** `session`: the caller's session, which must have begun just now. */
export async function unlinkIdentity(
  { store, nowMs }: AdminContext,
  { account, id, session }: Input<'unlinkIdentity'>,
): Promise<void> {
  const bounds = { nowMs, idleMs, longestMs }
  const asking = (await store.sessions.ofAccount(account, bounds)).find((row) => row.id === session)
  if (session !== undefined) checkJustSignedIn(asking?.createdAt ?? 0, nowMs)
  const removed = await store.identities.remove(id, account)
  if (removed === 'last')
    throw new AdminError(
      'conflict',
      'id',
      'it is the only identity of this account: link another first',
      'last_identity',
    )
  if (removed === 'missing')
    throw new AdminError('not_found', 'id', `there is no identity ${JSON.stringify(id)}`)
}

interface SignInLink {
  readonly account: string
  /** The path below the server's address. */
  readonly path: string
  readonly expiresAt: string
}

/**
 * Makes a link that signs in once and then makes its account an admin; for the account `default` unless one is given.
 */
export async function createSignInLink(
  { store, nowMs }: AdminContext,
  { account = defaultAccount, minutes }: Input<'createSignInLink'>,
): Promise<SignInLink> {
  if (account === defaultAccount) await store.accounts.ensure(account, nowMs)
  const person = await store.people.find(account)
  if (person === null || person.deletedAt !== null)
    throw new AdminError('not_found', 'account', `there is no account ${JSON.stringify(account)}`)
  if (person.suspendedAt !== null)
    throw new AdminError('conflict', 'account', `${account} is suspended: resume it first`)
  const token = randomBytes(tokenBytes).toString('base64url')
  const expiresAt = nowMs + minutes * minuteMs
  await store.signIns.addLink(hashToken(token), account, nowMs, expiresAt)
  return { account, path: `/api/auth/link?token=${token}`, expiresAt: timeText(expiresAt) }
}

type Invitation = ReturnType<typeof invitationView>

/**
 * The code is shown in this reply only, and creates one account. Without groups, that account gets the default group.
 */
export async function createInvitation(
  admin: AdminContext,
  { note, role, groups, days }: Input<'createInvitation'>,
): Promise<Invitation & { readonly code: string }> {
  await checkGroups(admin, groups)
  const { store, actor, nowMs } = admin
  const code = randomBytes(tokenBytes).toString('base64url')
  const row: InvitationRow = {
    id: `invitation_${randomBase62(16)}`,
    note,
    role,
    groups,
    createdBy: actor,
    createdAt: nowMs,
    expiresAt: nowMs + days * dayMs,
    revokedAt: null,
    usedAt: null,
    usedBy: null,
  }
  await store.invitations.add(row, hashToken(code))
  return { ...invitationView(row, nowMs), code }
}

/** Newest first. */
export async function listInvitations(
  { store, nowMs }: AdminContext,
  { limit = 100, cursor }: Input<'listInvitations'>,
): Promise<Page<Invitation>> {
  const rows = await store.invitations.list({ before: timePlace(cursor), limit: limit + 1 })
  return pageByTime(rows, limit, (row) => invitationView(row, nowMs))
}

export async function revokeInvitation(
  { store, nowMs }: AdminContext,
  { id }: Input<'invitation'>,
): Promise<void> {
  const outcome = await store.invitations.revoke(id, nowMs)
  if (outcome === 'used')
    throw new AdminError('conflict', 'id', 'the invitation was used already', 'invitation_used')
  if (outcome === 'missing')
    throw new AdminError('not_found', 'id', `there is no invitation ${JSON.stringify(id)}`)
}

function invitationView(row: InvitationRow, nowMs: number) {
  const { id, note, role, groups, createdBy, usedBy } = row
  return {
    id,
    note,
    role,
    groups,
    status: statusOf(row, nowMs),
    createdBy,
    createdAt: timeText(row.createdAt),
    expiresAt: timeText(row.expiresAt),
    revokedAt: timeText(row.revokedAt),
    usedAt: timeText(row.usedAt),
    usedBy,
  }
}

function statusOf({ usedAt, revokedAt, expiresAt }: InvitationRow, nowMs: number) {
  if (usedAt !== null) return 'used' as const
  if (revokedAt !== null) return 'revoked' as const
  return expiresAt <= nowMs ? ('expired' as const) : ('open' as const)
}
