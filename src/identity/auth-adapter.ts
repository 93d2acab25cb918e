// Adapts better-auth's storage to our tables: its user is an account here, its account an identity; tokens are hashed.

import { type CleanedWhere, createAdapterFactory } from 'better-auth/adapters'
import { getOAuthState } from 'better-auth/api'
import { RowRefused, type Store } from '../store/store.ts'
import { currentAttempt, noting } from './attempt.ts'
import { SignInRefused } from './refusal.ts'
import { randomBase62 } from './secret.ts'
import { hashToken, idleMs, longestMs } from './session-cookie.ts'

export type AuthStore = Pick<
  Store,
  'people' | 'identities' | 'sessions' | 'signIns' | 'invitations'
>

export interface SignUpRules {
  readonly mode: 'open' | 'invite' | 'closed'
  /** The group for which new accounts may make keys. */
  readonly group: string
}

interface AdapterOptions {
  readonly store: AuthStore
  readonly signUp: () => Promise<SignUpRules>
}

/** better-auth requires an e-mail address for every user; accounts here need none. */
const noEmail = 'nobody@invalid'
const longestClient = 256

type Row = Readonly<Record<string, unknown>>

export function authAdapter(options: AdapterOptions) {
  const tables = tablesOver(options)
  const tableOf = (model: string) => {
    const table = tables[model]
    if (table === undefined) throw new Error(`Sign-in keeps no ${model}.`)
    return table
  }
  const find = <T>(model: string, where: readonly CleanedWhere[]) =>
    noting(async () => (await tableOf(model).find(valuesOf(where))) as T | null)
  return createAdapterFactory({
    config: { adapterId: 'tollgate', adapterName: 'Tollgate', transaction: false },
    adapter: () => ({
      create: ({ model, data }) =>
        noting(async () => {
          await tableOf(model).add(data)
          return data
        }),
      findOne: ({ model, where }) => find(model, where),
      async findMany<T>({
        model,
        where = [],
      }: {
        model: string
        where?: CleanedWhere[] | undefined
      }) {
        const found = await find<T>(model, where)
        return found === null ? [] : [found]
      },
      // Nothing that it would update is stored: names, tokens of providers, the age of sessions.
      update: async ({ update }) => update,
      updateMany: async () => 0,
      // We end sessions ourselves and remove states when they are read; nothing else is deleted.
      delete: async () => undefined,
      deleteMany: async () => 0,
      count: async () => 0,
    }),
  })
}

/** Values by field; the library uses only equality here. */
function valuesOf(where: readonly CleanedWhere[]): Readonly<Record<string, string>> {
  return Object.fromEntries(where.map(({ field, value }) => [field, String(value)]))
}

interface AuthTable {
  add(row: Row): Promise<void>
  find(by: Readonly<Record<string, string>>): Promise<Row | null>
}

function tablesOver(options: AdapterOptions): Readonly<Record<string, AuthTable>> {
  return {
    user: userTable(options),
    account: identityTable(options),
    session: sessionTable(options),
    verification: stateTable(options),
  }
}

function userTable({ store }: AdapterOptions): AuthTable {
  return {
    // A user is created only together with its first identity.
    add: async () => undefined,
    // Users are never found by e-mail: two people with one address are two accounts.
    async find({ id }) {
      const person = id === undefined ? null : await store.people.find(id)
      if (person === null || person.deletedAt !== null) return null
      const { name, email, emailVerified, createdAt } = person
      const at = new Date(createdAt)
      return { id, name, email: email ?? noEmail, emailVerified, createdAt: at, updatedAt: at }
    },
  }
}

function identityTable({ store, signUp }: AdapterOptions): AuthTable {
  return {
    async add({ userId }) {
      const { profile, account: signedIn } = currentAttempt()
      if (profile === null)
        throw new Error('An identity is to be kept that no provider vouched for.')
      const account = String(userId)
      const at = Date.now()
      const { issuer, subject, name, email, emailVerified } = profile
      const about = { name, email, emailVerified, createdAt: at }
      const identity = { ...about, id: randomBase62(16), issuer, subject, account, usedAt: at }
      if ((await store.people.find(account)) !== null) {
        // Whoever began this may have been signed out since, and the account suspended or deleted.
        if (signedIn !== account)
          throw new SignInRefused('not_signed_in', 'Sign in before you add a way to sign in.')
        await store.identities.add(identity)
        return
      }
      const { invitation, role, groups } = await admitted(store, await signUp())
      const person = { ...about, id: account, role, groups }
      const isCreated = await store.people.create(person, identity, invitation).catch(begunTwice)
      if (!isCreated) throw notInvited()
    },
    async find({ providerId, accountId }) {
      const issuer = currentAttempt().profile?.issuer
      if (issuer === undefined || accountId === undefined) return null
      const identity = await store.identities.find(issuer, accountId)
      if (identity === null) return null
      const at = new Date(identity.createdAt)
      const { id, account: userId } = identity
      return { id, providerId, accountId, userId, createdAt: at, updatedAt: at }
    },
  }
}

/** Another sign-in of the same new person has just created the account. */
function begunTwice(error: unknown): never {
  if (!(error instanceof RowRefused)) throw error
  throw new SignInRefused('invalid_state', 'This sign-in was begun twice. Begin again.')
}

function notInvited(): SignInRefused {
  const message = 'The invitation is not valid: unknown, used, revoked or expired.'
  return new SignInRefused('invitation_needed', message)
}

/** Role and groups of a new account. Throws SignInRefused. */
async function admitted(store: AuthStore, { mode, group }: SignUpRules) {
  if (mode === 'closed')
    throw new SignInRefused('sign_up_closed', 'New accounts are not taken here.')
  const state = await getOAuthState()
  const invitation = typeof state?.['invitation'] === 'string' ? state['invitation'] : null
  if (invitation === null && mode === 'invite')
    throw new SignInRefused('invitation_needed', 'A new account needs an invitation.')
  if (invitation === null) return { invitation, role: 'user' as const, groups: [group] }
  const found = await store.invitations.find(invitation)
  if (found === null) throw notInvited()
  return { invitation, role: found.role, groups: found.groups ?? [group] }
}

function sessionTable({ store }: AdapterOptions): AuthTable {
  const bounds = () => ({ nowMs: Date.now(), idleMs, longestMs })
  return {
    async add({ token, userId, userAgent }) {
      const { address, profile } = currentAttempt()
      const account = String(userId)
      const person = await store.people.find(account)
      if (person === null || person.deletedAt !== null || person.suspendedAt !== null)
        throw new SignInRefused('account_closed', 'This account is suspended.')
      const at = Date.now()
      const client = String(userAgent ?? '').slice(0, longestClient) || null
      const row = { id: randomBase62(16), account, createdAt: at, usedAt: at, address, client }
      await store.sessions.add(row, hashToken(String(token)), bounds())
      if (profile === null) return
      const identity = await store.identities.find(profile.issuer, profile.subject)
      if (identity !== null) await store.identities.used(identity.id, at)
    },
    async find({ token }) {
      if (token === undefined) return null
      const session = await store.sessions.find(hashToken(token), bounds())
      if (session === null) return null
      const createdAt = new Date(session.createdAt)
      const expiresAt = new Date(Math.min(session.createdAt + longestMs, session.usedAt + idleMs))
      const { id, account: userId } = session
      return { id, token, userId, createdAt, updatedAt: createdAt, expiresAt }
    },
  }
}

function stateTable({ store }: AdapterOptions): AuthTable {
  return {
    async add({ id, identifier, value, createdAt, expiresAt }) {
      await store.signIns.addState({
        id: String(id),
        identifier: String(identifier),
        value: String(value),
        createdAt: Number(createdAt),
        expiresAt: Number(expiresAt),
      })
    },
    // The library reads a state first and removes it later, which would let two answers use it.
    async find({ identifier }) {
      const attempt = currentAttempt()
      if (identifier === undefined) return null
      if (attempt.state?.identifier !== identifier)
        attempt.state = await store.signIns.takeState(identifier)
      if (attempt.state === null) return null
      const createdAt = new Date(attempt.state.createdAt)
      const expiresAt = new Date(attempt.state.expiresAt)
      return { ...attempt.state, createdAt, updatedAt: createdAt, expiresAt }
    },
  }
}
