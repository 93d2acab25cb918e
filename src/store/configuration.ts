// Channels, groups and models created at run time: every version is stored, and the newest one is in force.

import type { StoredKind } from '../config/types.ts'
import type { Engine } from './engine.ts'
import { cleanText } from './text.ts'

export interface StoredVersion {
  readonly kind: StoredKind
  readonly id: string
  /** 1 for the first, then one more with each change. */
  readonly revision: number
  /** Same form as in the configuration file, secrets encrypted; null: the item was removed. */
  readonly document: Readonly<Record<string, unknown>> | null
  /** Unix milliseconds. */
  readonly changedAt: number
  readonly actor: string
}

export interface StoredItem extends StoredVersion {
  readonly document: Readonly<Record<string, unknown>>
}

type StoredChange = Omit<StoredVersion, 'revision'>

interface VersionFilter {
  readonly kind: StoredKind
  readonly id: string
  /** Only versions before this revision. */
  readonly before?: number | undefined
  readonly limit: number
}

export interface ConfigurationTable {
  /** All current items, by kind and id. */
  all(): Promise<readonly StoredItem[]>
  /** Newest first. */
  versions(filter: VersionFilter): Promise<readonly StoredVersion[]>
  /**
   * Applies all changes or none. `readAt`: the result of `revision` before the configuration was read that the changes
   * were validated against; if it has grown since, nothing is changed and the result is false.
   */
  change(changes: readonly StoredChange[], readAt: number): Promise<boolean>
  /** Grows with every change; a running server polls it. 0 before the first. */
  revision(): Promise<number>
}

type Kept = Omit<StoredVersion, 'document'> & { readonly document: string | null }

const columns = 'kind, id, revision, document, changed_at AS "changedAt", actor'
const insert = `INSERT INTO configuration_version (kind, id, revision, document, changed_at, actor)
  SELECT ?, ?, COALESCE(MAX(revision), 0) + 1, ?, ?, ? FROM configuration_version
  WHERE kind = ? AND id = ?`

export function configurationTable(engine: Engine): ConfigurationTable {
  return {
    async all() {
      const sql = `SELECT ${columns} FROM configuration_version AS item
        WHERE document IS NOT NULL AND revision = (SELECT MAX(revision) FROM configuration_version
          WHERE kind = item.kind AND id = item.id) ORDER BY kind, id`
      return (await engine.query<Kept>(sql, [])).map(read) as readonly StoredItem[]
    },
    async versions({ kind, id, before, limit }) {
      const sql = `SELECT ${columns} FROM configuration_version
        WHERE kind = ? AND id = ? AND revision < ? ORDER BY revision DESC LIMIT ?`
      const values = [kind, cleanText(id), before ?? Number.MAX_SAFE_INTEGER, limit]
      return (await engine.query<Kept>(sql, values)).map(read)
    },
    change: (changes, readAt) =>
      engine.transaction(async (session) => {
        const next = 'UPDATE configuration_revision SET value = value + 1 WHERE value = ?'
        if ((await session.run(next, [readAt])) === 0) return false
        for (const { kind, id, document, changedAt, actor } of changes) {
          const text = document === null ? null : JSON.stringify(document)
          const named = [kind, cleanText(id)]
          await session.run(insert, [...named, text, changedAt, cleanText(actor), ...named])
        }
        return true
      }),
    async revision() {
      const sql = 'SELECT value FROM configuration_revision'
      const [row] = await engine.query<{ readonly value: number }>(sql, [])
      if (row === undefined) throw new Error('The table configuration_revision has lost its row.')
      return row.value
    },
  }
}

function read({ document, ...row }: Kept): StoredVersion {
  return { ...row, document: document === null ? null : JSON.parse(document) }
}
