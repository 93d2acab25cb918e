// API keys made in the store, and when keys were last used.

import type { HistoryMode } from '../config/types.ts'
import { among } from './among.ts'
import type { Engine, Value } from './engine.ts'
import { cleanText, cleanTextOrNull } from './text.ts'

type SpendPeriod = 'day' | 'week' | 'month' | 'never'

/** The amount a key may spend in each period. */
export interface SpendLimit {
  readonly amountNano: bigint
  /** `never`: the limit covers all time. */
  readonly period: SpendPeriod
  /** IANA time zone whose midnight begins a period; null: UTC. */
  readonly timeZone: string | null
}

/** Limits by key id, for keys that have one. */
export type SpendLimits = ReadonlyMap<string, SpendLimit & { readonly account: string }>

/** A key made in the store, not in the configuration file. */
export interface KeyRow {
  readonly id: string
  readonly name: string
  readonly account: string
  readonly group: string
  /** SHA-256 of the secret, hex. */
  readonly hash: string
  /** Prefix and last four characters of the secret, for display. */
  readonly hint: string
  /** First characters of the secret's random part; null for keys made before this was stored. */
  readonly start: string | null
  /** The secret before the last rotation, which works before `until`; null: there is none. */
  readonly previous: { readonly hash: string; readonly until: number } | null
  /** Unix milliseconds throughout. */
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly disabledAt: number | null
  /** Names, or patterns with one trailing `*`; null allows all models of the group. */
  readonly models: readonly string[] | null
  /** The same form; a denied model is denied even if `models` allows it. */
  readonly deniedModels: readonly string[] | null
  /** IP addresses and ranges (`10.0.0.0/8`) from which the key may be used; null: anywhere. */
  readonly addresses: readonly string[] | null
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly concurrentRequests: number | null
  readonly spendLimit: SpendLimit | null
  /** null: the account's mode. */
  readonly historyMode: HistoryMode | null
  /** Replies include what they cost. */
  readonly showCost: boolean
  /** Grows by 1 with each edit. */
  readonly revision: number
}

/** Defaults of a new key: restricted by nothing but its group. */
export const unrestrictedKey = {
  start: null,
  previous: null,
  expiresAt: null,
  disabledAt: null,
  models: null,
  deniedModels: null,
  addresses: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrentRequests: null,
  spendLimit: null,
  historyMode: null,
  showCost: false,
  revision: 1,
} satisfies Partial<KeyRow>

/** What of a key changes with everything that is changed about it; `hash` because an id may be used again. */
type KeyVersion = Pick<KeyRow, 'id' | 'revision' | 'hash'>

interface KeyChanges {
  /** Grows with every change of a key by any process; a running server polls it. */
  revision(): Promise<number>
  /** The first keys after the id, by id; '' is before all. */
  versionsAfter(id: string, limit: number): Promise<readonly KeyVersion[]>
  /** Those of the keys with these ids that exist, in no order. */
  those(ids: readonly string[]): Promise<readonly KeyRow[]>
}

export interface KeyTable extends KeyChanges {
  /** Throws `RowRefused` if the account does not exist, or the id or hash is taken. */
  insert(row: KeyRow): Promise<void>
  /** Oldest first; only those of `account` if it is given. */
  all(account?: string): Promise<readonly KeyRow[]>
  find(id: string): Promise<KeyRow | null>
  /** Stores the row and raises its revision by 1. False if the key is gone or its revision differs from the row's. */
  update(row: KeyRow): Promise<boolean>
  /** False if there is no such key. A key that was disabled before keeps its time. */
  disable(id: string, at: number): Promise<boolean>
  remove(id: string): Promise<boolean>
  /** Number of the account's keys. */
  count(account: string): Promise<number>
}

interface Column {
  readonly name: string
  readonly of: (row: KeyRow) => Value
}

const listOf = (texts: readonly string[] | null) =>
  texts === null ? null : JSON.stringify(texts.map(cleanText))

/** Columns that an edit may change. */
const changing: readonly Column[] = [
  { name: 'name', of: ({ name }) => cleanText(name) },
  { name: 'group_id', of: ({ group }) => cleanText(group) },
  { name: 'hash', of: ({ hash }) => hash },
  { name: 'hint', of: ({ hint }) => cleanText(hint) },
  { name: 'secret_start', of: ({ start }) => start },
  { name: 'previous_hash', of: ({ previous }) => previous?.hash ?? null },
  { name: 'previous_until', of: ({ previous }) => previous?.until ?? null },
  { name: 'expires_at', of: ({ expiresAt }) => expiresAt },
  { name: 'disabled_at', of: ({ disabledAt }) => disabledAt },
  { name: 'models', of: ({ models }) => listOf(models) },
  { name: 'denied_models', of: ({ deniedModels }) => listOf(deniedModels) },
  { name: 'addresses', of: ({ addresses }) => listOf(addresses) },
  { name: 'requests_per_minute', of: ({ requestsPerMinute }) => requestsPerMinute },
  { name: 'tokens_per_minute', of: ({ tokensPerMinute }) => tokensPerMinute },
  { name: 'concurrent_requests', of: ({ concurrentRequests }) => concurrentRequests },
  { name: 'spend_limit_nano', of: ({ spendLimit }) => spendLimit?.amountNano ?? null },
  { name: 'spend_period', of: ({ spendLimit }) => spendLimit?.period ?? null },
  { name: 'spend_time_zone', of: ({ spendLimit }) => spendLimit?.timeZone ?? null },
  { name: 'history_mode', of: ({ historyMode }) => historyMode },
  { name: 'show_cost', of: ({ showCost }) => (showCost ? 1 : 0) },
]

const columns: readonly Column[] = [
  { name: 'id', of: ({ id }) => cleanText(id) },
  { name: 'account', of: ({ account }) => cleanText(account) },
  { name: 'created_at', of: ({ createdAt }) => createdAt },
  { name: 'revision', of: ({ revision }) => revision },
  ...changing,
]

const insertKey = `INSERT INTO api_key (${columns.map(({ name }) => name).join(', ')})
  VALUES (${columns.map(() => '?').join(', ')})`

const updateKey = `UPDATE api_key SET ${changing.map(({ name }) => `${name} = ?`).join(', ')},
  revision = revision + 1 WHERE id = ? AND revision = ?`

/** Amounts are selected as text, because a JavaScript number would lose digits. */
const selectKeys = `SELECT id, name, account, group_id AS "group", hash, hint, secret_start AS start, previous_hash AS "previousHash",
  previous_until AS "previousUntil", created_at AS "createdAt", expires_at AS "expiresAt",
  disabled_at AS "disabledAt", models, denied_models AS "deniedModels", addresses,
  requests_per_minute AS "requestsPerMinute", tokens_per_minute AS "tokensPerMinute",
  concurrent_requests AS "concurrentRequests", CAST(spend_limit_nano AS TEXT) AS "spendLimitNano",
  spend_period AS "spendPeriod", spend_time_zone AS "spendTimeZone", history_mode AS "historyMode",
  show_cost AS "showCost", revision FROM api_key`

const amongIds = among('id')

interface KeptKey
  extends Omit<
    KeyRow,
    'previous' | 'models' | 'deniedModels' | 'addresses' | 'spendLimit' | 'showCost'
  > {
  readonly previousHash: string | null
  readonly previousUntil: number | null
  readonly models: string | null
  readonly deniedModels: string | null
  readonly addresses: string | null
  readonly spendLimitNano: string | null
  readonly spendPeriod: SpendPeriod | null
  readonly spendTimeZone: string | null
  readonly showCost: number
}

export function keyTable(engine: Engine): KeyTable {
  return {
    async insert(row) {
      await engine.run(
        insertKey,
        columns.map(({ of }) => of(row)),
      )
    },
    async all(account) {
      const kept =
        account === undefined
          ? await engine.query<KeptKey>(`${selectKeys} ORDER BY created_at, id`, [])
          : await engine.query<KeptKey>(`${selectKeys} WHERE account = ? ORDER BY created_at, id`, [
              cleanText(account),
            ])
      return kept.map(keyOf)
    },
    async find(id) {
      const [kept] = await engine.query<KeptKey>(`${selectKeys} WHERE id = ?`, [cleanText(id)])
      return kept === undefined ? null : keyOf(kept)
    },
    async update(row) {
      const values = changing.map(({ of }) => of(row))
      return (await engine.run(updateKey, [...values, cleanText(row.id), row.revision])) > 0
    },
    async disable(id, at) {
      const sql = `UPDATE api_key SET disabled_at = coalesce(disabled_at, ?), revision = revision + 1
        WHERE id = ?`
      return (await engine.run(sql, [at, cleanText(id)])) > 0
    },
    async remove(id) {
      return (await engine.run('DELETE FROM api_key WHERE id = ?', [cleanText(id)])) > 0
    },
    async count(account) {
      const sql = 'SELECT count(*) AS "keys" FROM api_key WHERE account = ?'
      const [row] = await engine.query<{ readonly keys: number }>(sql, [cleanText(account)])
      return Number(row?.keys ?? 0)
    },
    async versionsAfter(id, limit) {
      const sql = 'SELECT id, revision, hash FROM api_key WHERE id > ? ORDER BY id LIMIT ?'
      return engine.query<KeyVersion>(sql, [cleanText(id), limit])
    },
    async those(ids) {
      const sql = `${selectKeys} WHERE ${amongIds[engine.kind]}`
      const kept = await engine.query<KeptKey>(sql, [JSON.stringify(ids.map(cleanText))])
      return kept.map(keyOf)
    },
    async revision() {
      const sql = 'SELECT value FROM api_key_revision'
      const [row] = await engine.query<{ readonly value: number }>(sql, [])
      if (row === undefined) throw new Error('The table api_key_revision has lost its row.')
      return row.value
    },
  }
}

function keyOf(kept: KeptKey): KeyRow {
  const { previousHash, previousUntil, spendLimitNano, spendPeriod, spendTimeZone, ...row } = kept
  return {
    ...row,
    previous:
      previousHash === null || previousUntil === null
        ? null
        : { hash: previousHash, until: previousUntil },
    models: parseList(row.models),
    deniedModels: parseList(row.deniedModels),
    addresses: parseList(row.addresses),
    spendLimit:
      spendLimitNano === null || spendPeriod === null
        ? null
        : { amountNano: BigInt(spendLimitNano), period: spendPeriod, timeZone: spendTimeZone },
    showCost: row.showCost === 1,
  }
}

/** A CHECK constraint ensures that the column is JSON, written only by this module. */
export function parseList(json: string | null): readonly string[] | null {
  return json === null ? null : (JSON.parse(json) as string[])
}

/** When a key was last used, from where, and by what. */
export interface KeyUse {
  readonly keyId: string
  readonly at: number
  readonly address: string | null
  readonly client: string | null
}

export interface KeyUseTable {
  /** Stores the later of the stored and the given use, for each key. */
  note(uses: readonly KeyUse[]): Promise<void>
  /** Uses of those of these keys that were used. */
  of(keyIds: readonly string[]): Promise<readonly KeyUse[]>
}

const addUse = `ON CONFLICT (key_id) DO UPDATE SET
  at = excluded.at, address = excluded.address, client = excluded.client
  WHERE key_use.at < excluded.at`

const noteUses = {
  sqlite: `INSERT INTO key_use (key_id, at, address, client) VALUES (?, ?, ?, ?) ${addUse}`,
  postgres: `INSERT INTO key_use (key_id, at, address, client)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) ORDER BY 1 ${addUse}`,
}

const amongKeys = among('key_id')

export function keyUseTable(engine: Engine): KeyUseTable {
  return {
    async note(uses) {
      const rows = uses.map(({ keyId, at, address, client }) => [
        cleanText(keyId),
        Math.round(at),
        cleanTextOrNull(address),
        cleanTextOrNull(client),
      ])
      await engine.bulk(noteUses, rows)
    },
    async of(keyIds) {
      const sql = `SELECT key_id AS "keyId", at, address, client FROM key_use WHERE ${amongKeys[engine.kind]}`
      return engine.query<KeyUse>(sql, [JSON.stringify(keyIds.map(cleanText))])
    },
  }
}
