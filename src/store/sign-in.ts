// Data of signing in: sessions, sign-ins under way, one-time links and invitations.

import type { Engine } from './engine.ts'
import { keptGroupNames, readGroupNames } from './people.ts'
import type { PersonRole } from './people-list.ts'
import { cleanLongText, cleanText, cleanTextOrNull } from './text.ts'

/** Times in Unix milliseconds throughout. */
export interface SessionRow {
  readonly id: string
  readonly account: string
  readonly createdAt: number
  readonly usedAt: number
  readonly address: string | null
  /** The browser, as its User-Agent describes it. */
  readonly client: string | null
}

/** A session that may be used, with the role of its account. */
export interface LiveSession extends SessionRow {
  readonly role: PersonRole
}

/** A session ends after `idleMs` without use, and `longestMs` after it began. */
interface SessionBounds {
  readonly nowMs: number
  readonly idleMs: number
  readonly longestMs: number
}

export interface SessionTable {
  /** `hash`: SHA-256 of the cookie's value, hex. Also deletes ended sessions of all accounts. */
  add(row: SessionRow, hash: string, bounds: SessionBounds): Promise<void>
  /** null if the session has ended, or its account is suspended or deleted. */
  find(hash: string, bounds: SessionBounds): Promise<LiveSession | null>
  used(id: string, at: number): Promise<void>
  /** Newest first, without ended sessions. */
  ofAccount(account: string, bounds: SessionBounds): Promise<readonly SessionRow[]>
  end(id: string, account: string): Promise<boolean>
  endByHash(hash: string): Promise<void>
  /** Ends all sessions of an account except one, if that is given; returns how many. */
  endAll(account: string, except: string | null): Promise<number>
}

export interface SignInState {
  readonly id: string
  readonly identifier: string
  readonly value: string
  readonly createdAt: number
  readonly expiresAt: number
}

export interface SignInTable {
  /** Also deletes expired states. */
  addState(state: SignInState): Promise<void>
  /** Deletes and returns a state: of several concurrent calls, one gets it. */
  takeState(identifier: string): Promise<SignInState | null>
  /** Adds a link that signs in once, as an admin. `hash`: SHA-256 of its token, hex. */
  addLink(hash: string, account: string, createdAt: number, expiresAt: number): Promise<void>
  /**
   * Uses up a link: makes its account an admin and returns it; null if the link is unknown, used or expired, or its
   * account is suspended or deleted.
   */
  useLink(hash: string, at: number): Promise<string | null>
}

export interface InvitationRow {
  readonly id: string
  readonly note: string
  readonly role: PersonRole
  readonly groups: readonly string[] | null
  readonly createdBy: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly revokedAt: number | null
  readonly usedAt: number | null
  /** The account that was created with it. */
  readonly usedBy: string | null
}

export interface InvitationTable {
  /** `hash`: SHA-256 of the code, hex. */
  add(row: InvitationRow, hash: string): Promise<void>
  find(hash: string): Promise<InvitationRow | null>
  /** Newest first. */
  list(filter: {
    readonly before?: { readonly at: number; readonly id: string } | undefined
    readonly limit: number
  }): Promise<readonly InvitationRow[]>
  /** `used`: the invitation was used, and cannot be revoked any more. */
  revoke(id: string, at: number): Promise<'revoked' | 'used' | 'missing'>
}

const sessionColumns = `session.id, session.account, session.created_at AS "createdAt",
  session.used_at AS "usedAt", session.address, session.client`
const isLive = 'session.used_at > ? AND session.created_at > ?'

function liveSince({ nowMs, idleMs, longestMs }: SessionBounds): [number, number] {
  return [nowMs - idleMs, nowMs - longestMs]
}

export function sessionTable(engine: Engine): SessionTable {
  return {
    async add(row, hash, bounds) {
      await engine.run(
        'DELETE FROM session WHERE used_at <= ? OR created_at <= ?',
        liveSince(bounds),
      )
      const sql = `INSERT INTO session (id, hash, account, created_at, used_at, address, client)
        VALUES (?, ?, ?, ?, ?, ?, ?)`
      await engine.run(sql, [
        row.id,
        hash,
        row.account,
        row.createdAt,
        row.usedAt,
        cleanTextOrNull(row.address),
        cleanTextOrNull(row.client),
      ])
    },
    async find(hash, bounds) {
      const sql = `SELECT ${sessionColumns}, account.role FROM session
        JOIN account ON account.id = session.account
        WHERE hash = ? AND suspended_at IS NULL AND deleted_at IS NULL AND ${isLive}`
      return (await engine.query<LiveSession>(sql, [hash, ...liveSince(bounds)]))[0] ?? null
    },
    async used(id, at) {
      await engine.run('UPDATE session SET used_at = ? WHERE id = ?', [at, id])
    },
    ofAccount(account, bounds) {
      const sql = `SELECT ${sessionColumns} FROM session WHERE account = ? AND ${isLive}
        ORDER BY created_at DESC, id DESC`
      return engine.query<SessionRow>(sql, [cleanText(account), ...liveSince(bounds)])
    },
    async end(id, account) {
      const sql = 'DELETE FROM session WHERE id = ? AND account = ?'
      return (await engine.run(sql, [cleanText(id), cleanText(account)])) > 0
    },
    async endByHash(hash) {
      await engine.run('DELETE FROM session WHERE hash = ?', [hash])
    },
    endAll(account, except) {
      const sql = 'DELETE FROM session WHERE account = ? AND id <> ?'
      return engine.run(sql, [cleanText(account), cleanText(except ?? '')])
    },
  }
}

export function signInTable(engine: Engine): SignInTable {
  return {
    async addState({ id, identifier, value, createdAt, expiresAt }) {
      await engine.run('DELETE FROM sign_in_state WHERE expires_at <= ?', [createdAt])
      const sql = `INSERT INTO sign_in_state (id, identifier, value, created_at, expires_at)
        VALUES (?, ?, ?, ?, ?)`
      await engine.run(sql, [id, cleanText(identifier), cleanLongText(value), createdAt, expiresAt])
    },
    async takeState(identifier) {
      const sql = `DELETE FROM sign_in_state WHERE identifier = ?
        RETURNING id, identifier, value, created_at AS "createdAt", expires_at AS "expiresAt"`
      return (await engine.query<SignInState>(sql, [cleanText(identifier)]))[0] ?? null
    },
    async addLink(hash, account, createdAt, expiresAt) {
      await engine.run('DELETE FROM sign_in_link WHERE expires_at <= ?', [createdAt])
      const sql = `INSERT INTO sign_in_link (hash, account, created_at, expires_at) VALUES (?, ?, ?, ?)`
      await engine.run(sql, [hash, cleanText(account), createdAt, expiresAt])
    },
    useLink: (hash, at) =>
      engine.transaction(async (session) => {
        const take = `UPDATE sign_in_link SET used_at = ?
          WHERE hash = ? AND used_at IS NULL AND expires_at > ?`
        if ((await session.run(take, [at, hash, at])) === 0) return null
        const ofLink = '(SELECT account FROM sign_in_link WHERE hash = ?)'
        const promote = `UPDATE account SET role = 'admin', revision = revision + 1
          WHERE id = ${ofLink} AND suspended_at IS NULL AND deleted_at IS NULL`
        if ((await session.run(promote, [hash])) === 0) return null
        const sql = 'SELECT account FROM sign_in_link WHERE hash = ?'
        const [link] = await session.query<{ readonly account: string }>(sql, [hash])
        return link?.account ?? null
      }),
  }
}

const invitationColumns = `id, note, role, key_groups AS "groups", created_by AS "createdBy",
  created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt", used_at AS "usedAt",
  used_by AS "usedBy"`

type KeptInvitation = Omit<InvitationRow, 'groups'> & { readonly groups: string | null }

const invitationOf = (row: KeptInvitation): InvitationRow => ({
  ...row,
  groups: readGroupNames(row.groups),
})

export function invitationTable(engine: Engine): InvitationTable {
  return {
    async add(row, hash) {
      const sql = `INSERT INTO invitation (id, hash, note, role, key_groups, created_by, created_at, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
      await engine.run(sql, [
        row.id,
        hash,
        cleanText(row.note),
        row.role,
        keptGroupNames(row.groups),
        cleanText(row.createdBy),
        row.createdAt,
        row.expiresAt,
      ])
    },
    async find(hash) {
      const sql = `SELECT ${invitationColumns} FROM invitation WHERE hash = ?`
      const [row] = await engine.query<KeptInvitation>(sql, [hash])
      return row === undefined ? null : invitationOf(row)
    },
    async list({ before, limit }) {
      const where = before === undefined ? '' : 'WHERE (created_at, id) < (?, ?)'
      const values = before === undefined ? [] : [before.at, cleanText(before.id)]
      const sql = `SELECT ${invitationColumns} FROM invitation ${where}
        ORDER BY created_at DESC, id DESC LIMIT ?`
      return (await engine.query<KeptInvitation>(sql, [...values, limit])).map(invitationOf)
    },
    async revoke(id, at) {
      const sql = `UPDATE invitation SET revoked_at = coalesce(revoked_at, ?) WHERE id = ? AND used_at IS NULL`
      if ((await engine.run(sql, [at, cleanText(id)])) > 0) return 'revoked'
      const known = await engine.query('SELECT 1 FROM invitation WHERE id = ?', [cleanText(id)])
      return known.length > 0 ? 'used' : 'missing'
    },
  }
}
