// Tests rebuilding the table of usage: every column of every row is copied, and the table is protected as before.

import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../src/store/engine.ts'
import { readMigrations } from '../../src/store/migrate.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { usageColumns } from '../../src/store/usage-row.ts'
import { makeDirectory } from './databases.ts'

const own = join(import.meta.dirname, '../../src/store/migrations')
const steps = readMigrations(own, join(own, 'sqlite'))
const made = steps.findIndex(({ name }) => name === '0032-usage-by-row')
/** Without those that a later migration adds. */
const columns = usageColumns.filter(({ name }) => name !== 'tag')
const names = columns.map(({ name }) => name)

/** A different value in every column, as its conditions allow. */
function valuesOf(row: number): (string | number)[] {
  const given: Record<string, string> = {
    usage_source: ['reported', 'drained', 'counted', 'none'][row % 4] ?? '',
    units: `{"second":${row}}`,
    failed_attempts: `[${row}]`,
  }
  return columns.map(({ name, kind }, place) => {
    const isText = kind === 'text' || kind === 'textOrNull'
    return given[name] ?? (isText ? `${name} ${row}` : row * 100 + place)
  })
}

const kept = (engine: Engine) =>
  engine.query(`SELECT ${names.join(', ')} FROM usage ORDER BY request_id`, [])

test('rows of the version before are kept whole, and cannot be changed or put twice', async () => {
  const data = makeDirectory()
  const before = join(data.path, 'before')
  mkdirSync(before)
  for (const { name, sql } of steps.slice(0, made)) writeFileSync(join(before, `${name}.sql`), sql)
  const old = await openSqlite(data.path, before)
  const insert = `INSERT INTO usage (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
  // Not in the order of their ids.
  for (const row of [3, 1, 4, 2]) await old.run(insert, valuesOf(row))
  const rows = await kept(old)
  await old.close()

  const engine = await openSqlite(data.path)
  expect(rows).toHaveLength(4)
  expect(await kept(engine)).toEqual(rows)
  await expect(engine.run(insert, valuesOf(1))).rejects.toThrow('UNIQUE')
  await expect(engine.run('UPDATE usage SET status = 1', [])).rejects.toThrow('append-only')
  await expect(engine.run('DELETE FROM usage', [])).rejects.toThrow('append-only')
  const unknown = valuesOf(5).map((value) => (value === 'drained' ? 'guessed' : value))
  await expect(engine.run(insert, unknown)).rejects.toThrow('CHECK')
  await engine.close()
  data.remove()
})
