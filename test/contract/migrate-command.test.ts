// Tests `tollgate migrate` on both engines: a plan that changes nothing, then the migrated schema, then nothing left to
// do.

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withConnection } from '../../src/store/postgres.ts'
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

/** As if the newest migration were of the version that this one replaces. */
async function leavesOldData(env: Record<string, string>, undo: () => unknown): Promise<void> {
  const words = ['account', 'credit', 'ann', '5', '--create', '--reason', 'test']
  const made = await runCommand(words, tmpdir(), env)
  expect([made.code, made.err]).toEqual([0, expect.any(String)])
  await undo()
  for (const command of [words, ['balance', 'ann'], ['config', 'check']]) {
    const { code, out, err } = await runCommand(command, tmpdir(), env)
    expect([code, out, err]).toEqual([1, '', expect.stringContaining('run `tollgate migrate`')])
  }
  expect((await migrate(env, '--plan')).migrations).toHaveLength(1)
}

const forgetNewest =
  'DELETE FROM schema_migration WHERE version = (SELECT max(version) FROM schema_migration)'

test('no other command migrates the data of an older version: SQLite', async () => {
  const data = makeDirectory()
  await leavesOldData({ TOLLGATE_DATA: data.path }, () => {
    const file = openFile(join(data.path, 'tollgate.db'))
    file.run(forgetNewest)
    file.close()
  })
  data.remove()
})

test.skipIf(testDatabaseUrl === null)(
  'no other command migrates the data of an older version: PostgreSQL',
  async () => {
    const schema = await makeSchema(testDatabaseUrl ?? '')
    const env = { DATABASE_URL: schema.url }
    const empty = await runCommand(['balance', 'ann'], tmpdir(), env)
    expect([empty.code, empty.err]).toEqual([1, expect.stringContaining('no Tollgate data')])
    expect((await migrate(env, '--plan')).migrations).toHaveLength(count)
    await leavesOldData(env, () =>
      withConnection(schema.url, (session) => session.run(forgetNewest, [])),
    )
    await schema.drop()
  },
)

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
