// Management keys: they manage the deployment or one account of it, and cannot call models.

import type { Engine } from './engine.ts'
import { parseList } from './keys.ts'
import { cleanText } from './text.ts'

type ManagementScope = 'read' | 'write'

/** Times in Unix milliseconds. */
export interface ManagementKeyRow {
  readonly id: string
  readonly name: string
  /** The account it manages; null: the whole deployment. */
  readonly account: string | null
  /** SHA-256 of the secret, hex. */
  readonly hash: string
  /** Prefix and last four characters of the secret, for display. */
  readonly hint: string
  readonly scopes: readonly ManagementScope[]
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly disabledAt: number | null
  readonly usedAt: number | null
  /** Grows by 1 with each edit. */
  readonly revision: number
}

export interface ManagementKeyTable {
  /** Throws `RowRefused` if the account does not exist, or the id or hash is taken. */
  insert(row: ManagementKeyRow): Promise<void>
  /** Oldest first; only those of `account` if it is given. */
  all(account?: string): Promise<readonly ManagementKeyRow[]>
  find(id: string): Promise<ManagementKeyRow | null>
  findByHash(hash: string): Promise<ManagementKeyRow | null>
  /** Stores name, scopes, expiry and disabling; returns as `KeyTable.update` does. */
  update(row: ManagementKeyRow): Promise<boolean>
  noteUse(id: string, at: number): Promise<void>
  remove(id: string): Promise<boolean>
}

const insertKey = `INSERT INTO management_key (id, name, account, hash, hint, scopes, created_at, expires_at,
  disabled_at, used_at, revision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const selectKeys = `SELECT id, name, account, hash, hint, scopes, created_at AS "createdAt",
  expires_at AS "expiresAt", disabled_at AS "disabledAt", used_at AS "usedAt", revision
  FROM management_key`

const updateKey = `UPDATE management_key SET name = ?, scopes = ?, expires_at = ?, disabled_at = ?,
  revision = revision + 1 WHERE id = ? AND revision = ?`

type KeptKey = Omit<ManagementKeyRow, 'scopes'> & { readonly scopes: string }

export function managementKeyTable(engine: Engine): ManagementKeyTable {
  const select = async (where: string, values: readonly string[]) =>
    (await engine.query<KeptKey>(`${selectKeys} ${where}`, values)).map(keyOf)
  return {
    async insert(row) {
      await engine.run(insertKey, [
        cleanText(row.id),
        cleanText(row.name),
        row.account === null ? null : cleanText(row.account),
        row.hash,
        cleanText(row.hint),
        JSON.stringify(row.scopes),
        row.createdAt,
        row.expiresAt,
        row.disabledAt,
        row.usedAt,
        row.revision,
      ])
    },
    all: (account) =>
      account === undefined
        ? select('ORDER BY created_at, id', [])
        : select('WHERE account = ? ORDER BY created_at, id', [cleanText(account)]),
    async find(id) {
      return (await select('WHERE id = ?', [cleanText(id)]))[0] ?? null
    },
    async findByHash(hash) {
      return (await select('WHERE hash = ?', [hash]))[0] ?? null
    },
    async update({ id, name, scopes, expiresAt, disabledAt, revision }) {
      const kept = [cleanText(name), JSON.stringify(scopes), expiresAt, disabledAt]
      return (await engine.run(updateKey, [...kept, cleanText(id), revision])) > 0
    },
    async noteUse(id, at) {
      await engine.run('UPDATE management_key SET used_at = ? WHERE id = ?', [at, cleanText(id)])
    },
    async remove(id) {
      return (await engine.run('DELETE FROM management_key WHERE id = ?', [cleanText(id)])) > 0
    },
  }
}

function keyOf(kept: KeptKey): ManagementKeyRow {
  return { ...kept, scopes: (parseList(kept.scopes) ?? []) as readonly ManagementScope[] }
}
