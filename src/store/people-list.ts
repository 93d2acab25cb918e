// Lists of people: filters, the figures shown beside each person, and the order.

import type { Nano } from '../money.ts'
import { containing } from './containing.ts'
import type { Session, Value } from './engine.ts'
import { cleanText } from './text.ts'

export type PersonRole = 'user' | 'admin' | 'auditor'

type PeopleOrder = 'newest' | 'balance' | 'lastSeen'

export interface PeopleFilter {
  /**
   * Text to find in the id, name or e-mail address, in the name or subject of an identity, or in the id, name,
   * beginning or last characters of a key.
   */
  readonly search?: string | undefined
  readonly role?: PersonRole | undefined
  /** Deleted accounts are listed only if `deleted` is asked for. */
  readonly status?: 'active' | 'suspended' | 'deleted' | undefined
  /** Only people of these accounts. */
  readonly among?: readonly string[] | undefined
  /** `newest` by default. */
  readonly order?: PeopleOrder | undefined
  /** Only people after this one, in the order of the list. */
  readonly before?: { readonly at: number | bigint; readonly id: string } | undefined
  readonly limit: number
}

export interface PersonFigures {
  /** The wallet's balance, including what is held. */
  readonly balanceNano: Nano
  /** Number of keys made over the control API or the command line, including those that are disabled or expired. */
  readonly keys: number
  /** When a session, an identity or a key was last used; null: never. */
  readonly lastSeenAt: number | null
}

export type KeptFigures = Omit<PersonFigures, 'balanceNano'> & { readonly balanceNano: string }

const balance = `coalesce((SELECT credits_posted - debits_posted FROM ledger_account
  WHERE ledger_account.id = 'wallet:' || account.id), 0)`

const keys = '(SELECT count(*) FROM api_key WHERE api_key.account = account.id)'

const lastSeen = `(SELECT max(seen.at) FROM (
    SELECT max(session.used_at) AS at FROM session WHERE session.account = account.id
    UNION ALL SELECT max(identity.used_at) FROM identity WHERE identity.account = account.id
    UNION ALL SELECT max(key_use.at) FROM key_use JOIN api_key ON api_key.id = key_use.key_id
      WHERE api_key.account = account.id) AS seen)`

const places: Readonly<Record<PeopleOrder, string>> = {
  newest: 'account.created_at',
  balance,
  lastSeen: `coalesce(${lastSeen}, 0)`,
}

/** `columns`: columns of the account, named as the fields of a person. */
export function listStatement(session: Session, columns: string, filter: PeopleFilter) {
  const { order = 'newest', before, limit } = filter
  const { where, values } = peopleConditions(session, filter)
  const place = places[order]
  const after = before === undefined ? '' : ` AND (${place}, account.id) < (?, ?)`
  const sql = `SELECT ${columns}, CAST(${balance} AS TEXT) AS "balanceNano", ${keys} AS keys,
      ${lastSeen} AS "lastSeenAt"
    FROM account WHERE ${where}${after} ORDER BY ${place} DESC, account.id DESC LIMIT ?`
  const bounds: Value[] = before === undefined ? [] : [before.at, cleanText(before.id)]
  return { sql, values: [...values, ...bounds, limit] }
}

function peopleConditions(session: Session, { search, role, status, among }: PeopleFilter) {
  const conditions = [status === 'deleted' ? 'deleted_at IS NOT NULL' : 'deleted_at IS NULL']
  const values: Value[] = []
  if (status === 'suspended') conditions.push('suspended_at IS NOT NULL')
  if (status === 'active') conditions.push('suspended_at IS NULL')
  if (role !== undefined) {
    conditions.push('role = ?')
    values.push(role)
  }
  if (search !== undefined) {
    const { sql: has, pattern } = containing(session, search)
    conditions.push(`(${has('id')} OR ${has('name')} OR ${has('email')} OR id IN (
      SELECT account FROM identity WHERE ${has('name')} OR ${has('subject')}) OR id IN (
      SELECT account FROM api_key WHERE ${has('id')} OR ${has('name')} OR ${has('hint')}))`)
    values.push(...new Array<string>(8).fill(pattern))
  }
  if (among !== undefined) {
    conditions.push(`id IN (${among.map(() => '?').join(', ')})`)
    values.push(...among.map(cleanText))
  }
  return { where: conditions.join(' AND '), values }
}
