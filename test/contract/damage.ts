// Damages a database, as a disk fault or a person with access would, and undoes the damage.

import { expect } from 'bun:test'
import type { Engine, Session } from '../../src/store/engine.ts'

/** Without triggers and checks, as a disk fault or a person with access would. */
export async function unlock(engine: Engine): Promise<void> {
  if (engine.kind === 'sqlite') {
    await engine.query('PRAGMA ignore_check_constraints = ON', [])
    for (const table of ['transfer', 'usage']) {
      await engine.run(`DROP TRIGGER ${table}_never_updated`, [])
      await engine.run(`DROP TRIGGER ${table}_never_deleted`, [])
    }
    return
  }
  const checks = await engine.query<{ readonly name: string; readonly on: string }>(
    `SELECT quote_ident(conname) AS name, conrelid::regclass::text AS "on" FROM pg_constraint
      WHERE contype = 'c' AND connamespace = current_schema()::regnamespace`,
    [],
  )
  for (const { name, on } of checks) {
    await engine.run(`ALTER TABLE ${on} DROP CONSTRAINT ${name}`, [])
  }
  for (const table of ['transfer', 'usage']) {
    await engine.run(`ALTER TABLE ${table} DISABLE TRIGGER USER`, [])
  }
}

/** The result of `look` on the database after these statements, which are undone afterwards. */
export async function withDamage<Said>(
  engine: Engine,
  damage: readonly string[],
  look: (damaged: Engine) => Promise<Said>,
): Promise<Said> {
  const undone = new Error('undone')
  let said: Said | null = null
  const work = async (session: Session) => {
    for (const sql of damage) expect(await session.run(sql, [])).toBeGreaterThan(0)
    said = await look({ ...engine, ...session, snapshot: (read) => read(session) })
    throw undone
  }
  await expect(engine.transaction(work)).rejects.toBe(undone)
  if (said === null) throw new Error('nothing was looked at')
  return said
}
