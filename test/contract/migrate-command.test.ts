// Tests `tollgate migrate` on both engines: a plan that changes nothing, then the migrated schema, then nothing left to
// do.

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFile } from '../../src/store/sqlite-file.ts'
import { runCommand } from '../support/command-line.ts'
import { makeDirectory, makeSchema, testDatabaseUrl } from './databases.ts'

const migrations = join(import.meta.dirname, '../../src/store/migrations')
const count = ['.', 'sqlite']
  .flatMap((folder) => readdirSync(join(migrations, folder)))
  .filter((name) => name.endsWith('.sql')).length

async function migrate(env: Record<string, string>, ...words: string[]) {
  const { code, out, err } = await runCommand(['migrate', '--json', ...words], tmpdir(), env)
  expect([code, err]).toEqual([0, ''])
  return JSON.parse(out) as { readonly applied: boolean; readonly migrations: string[] }
}

async function migratesFromNothing(env: Record<string, string>): Promise<void> {
  const plan = await migrate(env, '--plan')
  expect([plan.applied, plan.migrations.length]).toEqual([false, count])
  // The plan has changed nothing.
  expect(await migrate(env)).toEqual({ applied: true, migrations: plan.migrations })
  expect(await migrate(env, '--plan')).toEqual({ applied: false, migrations: [] })
}

test('an empty SQLite file is planned, migrated and then done; a folder without one is refused', async () => {
  const data = makeDirectory()
  openFile(join(data.path, 'tollgate.db')).close()
  await migratesFromNothing({ TOLLGATE_DATA: data.path })
  const nowhere = await runCommand(['migrate'], tmpdir(), { TOLLGATE_DATA: `${data.path}/none` })
  expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining('no Tollgate data')])
  data.remove()
})

test.skipIf(testDatabaseUrl === null)(
  'an empty PostgreSQL is planned, migrated and then done',
  async () => {
    const schema = await makeSchema(testDatabaseUrl ?? '')
    await migratesFromNothing({ DATABASE_URL: schema.url })
    await schema.drop()
  },
)
