// Settings changed at run time, each with the revision of its last change, which grows over all settings.

import type { Engine, Session, Value } from './engine.ts'
import { cleanText, cleanTextOrNull } from './text.ts'

export interface SettingRow {
  readonly name: string
  readonly value: unknown
  /** Revision of its last change, unique over all settings. */
  readonly revision: number
  readonly actor: string | null
  /** Unix milliseconds. */
  readonly changedAt: number
}

export interface SettingTable {
  /** Sorted by name. */
  all(): Promise<readonly SettingRow[]>
  /**
   * Returns the new revision. `expected`: the revision that was read, 0 if there was no value; if it is another by now,
   * nothing is changed and null is returned.
   */
  set(row: Omit<SettingRow, 'revision'>, expected?: number): Promise<number | null>
  /** Like `set`; changes no value if there was none. */
  unset(name: string, expected?: number): Promise<number | null>
  /** Grows with every change; a running server polls it. 0 before the first. */
  revision(): Promise<number>
}

const keep = `INSERT INTO setting (name, value, revision, actor, changed_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value, revision = excluded.revision,
  actor = excluded.actor, changed_at = excluded.changed_at`

type KeptSetting = Omit<SettingRow, 'value'> & { readonly value: string }

export function settingTable(engine: Engine): SettingTable {
  return {
    async all() {
      const sql = `SELECT name, value, revision, actor, changed_at AS "changedAt" FROM setting
        ORDER BY name`
      const kept = await engine.query<KeptSetting>(sql, [])
      return kept.map((row) => ({ ...row, value: JSON.parse(row.value) as unknown }))
    },
    set: ({ name, value, actor, changedAt }, expected) =>
      engine.transaction(async (session) => {
        const revision = await next(session, cleanText(name), expected)
        if (revision === null) return null
        // JSON escapes what PostgreSQL refuses: NUL and unpaired surrogates.
        const text = JSON.stringify(value)
        const values: Value[] = [cleanText(name), text, revision, cleanTextOrNull(actor), changedAt]
        await session.run(keep, values)
        return revision
      }),
    unset: (name, expected) =>
      engine.transaction(async (session) => {
        const revision = await next(session, cleanText(name), expected)
        if (revision === null) return null
        await session.run('DELETE FROM setting WHERE name = ?', [cleanText(name)])
        return revision
      }),
    async revision() {
      const sql = 'SELECT value FROM setting_revision'
      const [row] = await engine.query<{ readonly value: number }>(sql, [])
      if (row === undefined) throw new Error('The table setting_revision has lost its row.')
      return row.value
    },
  }
}

/** Changes wait for each other at the revision's row. null: the setting has changed since it was read. */
async function next(
  session: Session,
  name: string,
  expected: number | undefined,
): Promise<number | null> {
  const [taken] = await session.query<{ readonly value: number }>(
    'UPDATE setting_revision SET value = value + 1 RETURNING value',
    [],
  )
  if (taken === undefined) throw new Error('The table setting_revision has lost its row.')
  if (expected === undefined) return taken.value
  const [kept] = await session.query<{ readonly revision: number }>(
    'SELECT revision FROM setting WHERE name = ?',
    [name],
  )
  return (kept?.revision ?? 0) === expected ? taken.value : null
}
