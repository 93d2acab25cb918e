// Tests that a migration on PostgreSQL which must wait for a reader does not stop other statements meanwhile.
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgres } from '../../src/store/postgres.ts'
import { eventually } from '../support/ledger-node.ts'
import { makeDirectory, makeSchema, testDatabaseUrl } from './databases.ts'

test.skipIf(testDatabaseUrl === null)('a reader of a table it changes', async () => {
  const [directory, schema] = [makeDirectory(), await makeSchema(testDatabaseUrl ?? '')]
  const folder = join(directory.path, 'steps')
  mkdirSync(folder)
  writeFileSync(join(folder, '0001-first.sql'), 'CREATE TABLE kept (id INTEGER)')
  const node = await openPostgres(schema.url, folder)
  writeFileSync(join(folder, '0002-second.sql'), 'ALTER TABLE kept ADD COLUMN later INTEGER')
  const read = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const audit = node.snapshot(async (session) => {
    await session.query('SELECT count(*) AS n FROM kept', [])
    read.resolve()
    await done.promise
  })
  await read.promise
  let isMigrated = false
  const migrating = openPostgres(schema.url, folder).then(async (engine) => {
    isMigrated = true
    await engine.close()
  })
  const waiting = `SELECT 1 FROM pg_stat_activity
    WHERE application_name = current_setting('application_name') AND wait_event_type = 'Lock'`
  await eventually('it waits', async () => (await node.query(waiting, [])).length > 0)
  const beganMs = performance.now()
  await node.query('SELECT id FROM kept', [])
  expect(performance.now() - beganMs).toBeLessThan(4_500)
  expect(isMigrated).toBe(false)
  done.resolve()
  await audit
  await migrating
  expect(await node.query('SELECT later FROM kept', [])).toEqual([])
  await node.close()
  await schema.drop()
  directory.remove()
})
