// Accounts as people: who they are, how they sign in, what they may do, and whether they are suspended or deleted.

import type { Engine, Session, Value } from './engine.ts'
import { forShare } from './leases.ts'
import { walletOf } from './ledger.ts'
import {
  type KeptFigures,
  listStatement,
  type PeopleFilter,
  type PersonFigures,
  type PersonRole,
} from './people-list.ts'
import { cleanText, cleanTextOrNull } from './text.ts'

/** Times in Unix milliseconds throughout. */
export interface PersonRow {
  /** The id of the account. */
  readonly id: string
  /** Empty if no name was given. */
  readonly name: string
  readonly email: string | null
  /** Whether the identity provider has verified the address. */
  readonly emailVerified: boolean
  readonly role: PersonRole
  /** Groups it may make keys for; null: all. */
  readonly groups: readonly string[] | null
  readonly createdAt: number
  readonly suspendedAt: number | null
  readonly deletedAt: number | null
  /** Grows by 1 with each edit. */
  readonly revision: number
}

/** A person's identity at a provider: issuer and subject, which belong to only one account. */
export interface IdentityRow {
  readonly id: string
  readonly issuer: string
  readonly subject: string
  readonly account: string
  /** The person's name at the provider. */
  readonly name: string
  readonly email: string | null
  readonly emailVerified: boolean
  readonly createdAt: number
  /** When this identity last signed in. */
  readonly usedAt: number
}

export type ListedPerson = PersonRow & PersonFigures

interface PersonChange {
  readonly name?: string | undefined
  readonly role?: PersonRole | undefined
  readonly groups?: readonly string[] | null | undefined
  readonly suspendedAt?: number | null | undefined
}

/** `stale`: the revision has changed. `last-admin`: no admin who can sign in would be left. */
export type PersonChanged = 'changed' | 'missing' | 'stale' | 'last-admin'

export interface PeopleTable {
  /** Finds deleted people as well. */
  find(id: string): Promise<PersonRow | null>
  /** In the requested order: newest first, highest balance first, or last seen first. */
  list(filter: PeopleFilter): Promise<readonly ListedPerson[]>
  /**
   * Creates an account with a wallet and its first identity. With `invitation` (the hash of its code), only if that is
   * still valid, and uses it up; false if it is not. Throws `RowRefused` if another account has the identity.
   */
  create(
    person: Pick<
      PersonRow,
      'id' | 'name' | 'email' | 'emailVerified' | 'role' | 'groups' | 'createdAt'
    >,
    identity: IdentityRow,
    invitation: string | null,
  ): Promise<boolean>
  /** Suspending a person ends their sessions. */
  change(id: string, change: PersonChange, revision?: number): Promise<PersonChanged>
  /** Deletes personal data: identity, ways to sign in, keys, stored replies. The row, money and usage remain. */
  remove(id: string, at: number, revision?: number): Promise<PersonChanged>
  /** Whether there is an admin who may sign in. */
  hasAdmin(): Promise<boolean>
}

export interface IdentityTable {
  find(issuer: string, subject: string): Promise<IdentityRow | null>
  /** Oldest first. */
  ofAccount(account: string): Promise<readonly IdentityRow[]>
  /** Identities of several accounts at once. */
  ofAccounts(accounts: readonly string[]): Promise<readonly IdentityRow[]>
  /** Throws `RowRefused` if the identity exists already. */
  add(row: IdentityRow): Promise<void>
  used(id: string, at: number): Promise<void>
  /** `last`: the account has no other way to sign in. */
  remove(id: string, account: string): Promise<'removed' | 'missing' | 'last'>
}

const personColumns = `id, name, email, email_verified AS "emailVerified", role, key_groups AS "groups",
  created_at AS "createdAt", suspended_at AS "suspendedAt", deleted_at AS "deletedAt", revision`

type KeptPerson = Omit<PersonRow, 'emailVerified' | 'groups'> & {
  readonly emailVerified: number
  readonly groups: string | null
}

function personOf(row: KeptPerson): PersonRow {
  return { ...row, emailVerified: row.emailVerified === 1, groups: readGroupNames(row.groups) }
}

/** A CHECK constraint ensures that the column is JSON, written only by this module. */
export function readGroupNames(json: string | null): readonly string[] | null {
  return json === null ? null : (JSON.parse(json) as string[])
}

export function keptGroupNames(groups: readonly string[] | null): string | null {
  return groups === null ? null : JSON.stringify(groups.map(cleanText))
}

const isActiveAdmin = "role = 'admin' AND suspended_at IS NULL AND deleted_at IS NULL"

export function peopleTable(engine: Engine): PeopleTable {
  return {
    find: (id) => findPerson(engine, cleanText(id)),
    async list(filter) {
      const { sql, values } = listStatement(engine, personColumns, filter)
      const kept = await engine.query<KeptPerson & KeptFigures>(sql, values)
      return kept.map(({ balanceNano, keys, lastSeenAt, ...row }) => ({
        ...personOf(row),
        balanceNano: BigInt(balanceNano),
        keys,
        lastSeenAt,
      }))
    },
    create: (person, identity, invitation) =>
      engine.transaction(async (session) => {
        const { id, role, groups, createdAt } = person
        if (invitation !== null && !(await useInvitation(session, invitation, id, createdAt)))
          return false
        await session.run(insertPerson, [
          id,
          cleanText(person.name),
          cleanTextOrNull(person.email),
          person.emailVerified ? 1 : 0,
          role,
          keptGroupNames(groups),
          createdAt,
        ])
        await session.run(`INSERT INTO ledger_account (id, kind) VALUES (?, 'wallet')`, [
          walletOf(id),
        ])
        await addIdentity(session, identity)
        return true
      }),
    change: (id, change, revision) =>
      changing(engine, cleanText(id), revision, async (session, account) => {
        const { sets, values } = assignments(change)
        if (sets.length === 0) return
        const sql = `UPDATE account SET ${sets.join(', ')}, revision = revision + 1 WHERE id = ?`
        await session.run(sql, [...values, account])
        if (change.suspendedAt != null) await endSessions(session, account)
      }),
    remove: (id, at, revision) =>
      changing(engine, cleanText(id), revision, (session, account) => forget(session, account, at)),
    async hasAdmin() {
      const sql = `SELECT 1 FROM account WHERE ${isActiveAdmin} LIMIT 1`
      return (await engine.query(sql, [])).length > 0
    },
  }
}

const insertPerson = `INSERT INTO account (id, name, email, email_verified, role, key_groups, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`

async function findPerson(session: Session, id: string): Promise<PersonRow | null> {
  const sql = `SELECT ${personColumns} FROM account WHERE id = ?`
  const [row] = await session.query<KeptPerson>(sql, [id])
  return row === undefined ? null : personOf(row)
}

function assignments({ name, role, groups, suspendedAt }: PersonChange) {
  const given: readonly (readonly [column: string, value: Value | undefined])[] = [
    ['name', name === undefined ? undefined : cleanText(name)],
    ['role', role],
    ['key_groups', groups === undefined ? undefined : keptGroupNames(groups)],
    ['suspended_at', suspendedAt],
  ]
  const sets: string[] = []
  const values: Value[] = []
  for (const [column, value] of given) {
    if (value === undefined) continue
    sets.push(`${column} = ?`)
    values.push(value)
  }
  return { sets, values }
}

/** Thrown to roll back a change that would leave no admin. */
class NoAdminLeft extends Error {}

/** Changes an account that exists and has the given revision; rolled back if no admin would be left. */
async function changing(
  engine: Engine,
  id: string,
  revision: number | undefined,
  work: (session: Session, account: string) => Promise<void>,
): Promise<PersonChanged> {
  try {
    return await engine.transaction(async (session) => {
      // Locks all admins, so that two concurrent removals see each other.
      await session.run(`UPDATE account SET revision = revision WHERE id = ? OR role = 'admin'`, [
        id,
      ])
      const before = await findPerson(session, id)
      if (before === null || before.deletedAt !== null) return 'missing'
      if (revision !== undefined && before.revision !== revision) return 'stale'
      await work(session, id)
      const isLeft = `SELECT 1 FROM account WHERE ${isActiveAdmin} LIMIT 1`
      const wasInCharge = before.role === 'admin' && before.suspendedAt === null
      if (wasInCharge && (await session.query(isLeft, [])).length === 0) throw new NoAdminLeft()
      return 'changed'
    })
  } catch (error) {
    if (error instanceof NoAdminLeft) return 'last-admin'
    throw error
  }
}

/** Whether nothing more of the account's requests may be kept: a deletion waits until the transaction has ended. */
export async function isDeleted(session: Session, account: string): Promise<boolean> {
  const sql = `SELECT deleted_at AS "deletedAt" FROM account WHERE id = ?${forShare[session.kind]}`
  const [found] = await session.query<{ readonly deletedAt: number | null }>(sql, [account])
  return found !== undefined && found.deletedAt !== null
}

function endSessions(session: Session, account: string): Promise<number> {
  return session.run('DELETE FROM session WHERE account = ?', [account])
}

async function forget(session: Session, account: string, at: number): Promise<void> {
  await session.run(
    `UPDATE account SET name = '', email = NULL, email_verified = 0, role = 'user', deleted_at = ?,
      revision = revision + 1 WHERE id = ?`,
    [at, account],
  )
  await endSessions(session, account)
  await session.run('DELETE FROM preference WHERE account = ?', [account])
  for (const table of ['alert_setting', 'alert_raised', 'alert_notice'])
    await session.run(`DELETE FROM ${table} WHERE account = ?`, [account])
  await session.run('DELETE FROM identity WHERE account = ?', [account])
  await session.run('DELETE FROM sign_in_link WHERE account = ?', [account])
  await session.run('DELETE FROM api_key WHERE account = ?', [account])
  await session.run('DELETE FROM management_key WHERE account = ?', [account])
  await session.run('DELETE FROM auto_top_up WHERE account = ?', [account])
  // Requests to models, and their replies.
  await session.run('DELETE FROM response WHERE account = ?', [account])
  await session.run(`DELETE FROM idempotency WHERE account = ? AND state = 'done'`, [account])
  await session.run(`DELETE FROM video WHERE account = ? AND state <> 'running'`, [account])
  // One that runs is still to be settled, and is removed after that.
  await session.run('UPDATE video SET expires_at = ? WHERE account = ?', [at, account])
}

/** False if the invitation is not valid any more. */
async function useInvitation(
  session: Session,
  hash: string,
  account: string,
  at: number,
): Promise<boolean> {
  const sql = `UPDATE invitation SET used_at = ?, used_by = ?
    WHERE hash = ? AND used_at IS NULL AND revoked_at IS NULL AND expires_at > ?`
  return (await session.run(sql, [at, account, hash, at])) > 0
}

const identityColumns = `id, issuer, subject, account, name, email, email_verified AS "emailVerified",
  created_at AS "createdAt", used_at AS "usedAt"`

type KeptIdentity = Omit<IdentityRow, 'emailVerified'> & { readonly emailVerified: number }

export function identityTable(engine: Engine): IdentityTable {
  const select = async (where: string, values: readonly Value[]) => {
    const sql = `SELECT ${identityColumns} FROM identity WHERE ${where} ORDER BY created_at, id`
    const kept = await engine.query<KeptIdentity>(sql, values)
    return kept.map((row) => ({ ...row, emailVerified: row.emailVerified === 1 }))
  }
  return {
    async find(issuer, subject) {
      const values = [cleanText(issuer), cleanText(subject)]
      return (await select('issuer = ? AND subject = ?', values))[0] ?? null
    },
    ofAccount: (account) => select('account = ?', [cleanText(account)]),
    async ofAccounts(accounts) {
      if (accounts.length === 0) return []
      return select(`account IN (${accounts.map(() => '?').join(', ')})`, accounts.map(cleanText))
    },
    add: (row) => addIdentity(engine, row),
    async used(id, at) {
      await engine.run('UPDATE identity SET used_at = ? WHERE id = ?', [at, id])
    },
    remove: (id, account) =>
      engine.transaction(async (session) => {
        const owner = [cleanText(account)]
        // Without this lock, two concurrent removals would each rely on the other identity.
        await session.run('UPDATE account SET revision = revision WHERE id = ?', owner)
        const kept = await session.query<{ readonly id: string }>(
          'SELECT id FROM identity WHERE account = ?',
          owner,
        )
        if (!kept.some((each) => each.id === id)) return 'missing'
        const person = await findPerson(session, cleanText(account))
        // An admin can still sign in by the command line's one-time link.
        if (kept.length === 1 && person?.role !== 'admin') return 'last'
        await session.run('DELETE FROM identity WHERE id = ?', [id])
        return 'removed'
      }),
  }
}

async function addIdentity(session: Session, row: IdentityRow): Promise<void> {
  const sql = `INSERT INTO identity (id, issuer, subject, account, name, email, email_verified, created_at, used_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
  await session.run(sql, [
    row.id,
    cleanText(row.issuer),
    cleanText(row.subject),
    row.account,
    cleanText(row.name),
    cleanTextOrNull(row.email),
    row.emailVerified ? 1 : 0,
    row.createdAt,
    row.usedAt,
  ])
}
