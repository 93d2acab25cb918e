// Tests backup and restore of a deployment on PostgreSQL, into a separate database.

import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { adjustBalance } from '../../src/admin/accounts.ts'
import { openStore } from '../../src/store/open.ts'
import { adminOf } from '../support/admin.ts'
import { runCommand } from '../support/command-line.ts'
import { makeDirectory, testDatabaseUrl } from './databases.ts'

const directory = makeDirectory()
const names = ['from+', 'to', 'damaged'].map((name) => `backup_${name}_${process.pid}`)
afterAll(async () => {
  directory.remove()
  if (testDatabaseUrl === null) return
  for (const name of names) await query(`DROP DATABASE IF EXISTS "${name}"`)
})

async function query(sql: string, url = testDatabaseUrl): Promise<void> {
  const client = new pg.Client({ connectionString: url ?? '' })
  await client.connect()
  await client.query(sql)
  await client.end()
}

async function newDatabases(): Promise<string[]> {
  const urls: string[] = []
  for (const name of names) {
    await query(`CREATE DATABASE "${name}"`)
    const url = new URL(testDatabaseUrl ?? '')
    url.pathname = `/${name}`
    urls.push(url.href)
  }
  return urls
}

function run(command: string, file: string, url: string, env: Record<string, string> = {}) {
  return runCommand([command, file, '--json'], directory.path, { DATABASE_URL: url, ...env })
}

test.skipIf(testDatabaseUrl === null)(
  'what is backed up from PostgreSQL is what is restored, into an empty database alone',
  async () => {
    const [from = '', to = '', other = ''] = await newDatabases()
    const file = join(directory.path, 'copy')
    const store = await openStore({ dataDir: '', databaseUrl: from })
    const gift = { account: 'ann', amount: 5n, direction: 'credit', reason: 'a gift' } as const
    await adjustBalance(adminOf(store), { ...gift, createAccount: true })
    await store.close()

    // A role that the other server does not have.
    const role = `backup_role_${process.pid}`
    await query(`CREATE ROLE ${role}; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`, from)

    const made = await run('backup', file, from)
    await query(`DROP OWNED BY ${role}; DROP ROLE ${role}`, from)
    expect([made.code, made.err]).toEqual([0, ''])
    expect(JSON.parse(made.out)).toMatchObject({ ok: true, file, bytes: statSync(file).size })
    // Nobody else can read it, and no password remains next to it.
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory.path)).toEqual(['copy'])
    const again = await run('backup', file, from)
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('is there already')])

    const restored = await run('restore', file, to)
    expect([restored.code, restored.err]).toEqual([0, ''])
    expect(JSON.parse(restored.out)).toMatchObject({ ok: true, transfers: 1, wallets: 1 })
    const twice = await run('restore', file, to)
    expect([twice.code, twice.err]).toEqual([1, expect.stringContaining('holds data already')])

    const wrong = join(directory.path, 'wrong')
    writeFileSync(wrong, 'no archive')
    const refused = await run('restore', wrong, other)
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('archive')])
    // What the start script needs is there, and no program of PostgreSQL.
    const bare = join(directory.path, 'bare')
    mkdirSync(bare)
    for (const name of ['dirname', 'find', 'head', 'readlink'])
      symlinkSync(Bun.which(name) ?? '', join(bare, name))
    const nowhere = await run('backup', `${file}-2`, from, { PATH: bare })
    expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining('client programs')])
    expect(existsSync(`${file}-2`)).toBe(false)
  },
)
