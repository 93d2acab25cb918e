// Tests starts whose database cannot be used: the server ends with one line that says why.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { makeDirectory, makeSchema } from '../contract/databases.ts'
import { runCommand } from '../support/command-line.ts'
import { postgresCases } from '../support/deployment.ts'
import { startServer } from '../support/server-process.ts'

const serve = ['serve', '--port', '0', '--no-console']
const newer = /^The data was written by a newer Tollgate: its schema is 9999, .+\n$/
const raise = 'UPDATE schema_migration SET version = 9999 WHERE version = 1'

test('a database that cannot be reached', async () => {
  using directory = disposable()
  const env = { DATABASE_URL: 'postgres://tollgate:a-password@127.0.0.1:1/tollgate' }
  const ended = await runCommand(serve, directory.path, env)
  expect(ended).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(/^Cannot connect to PostgreSQL at 127.0.0.1:1\/tollgate: .+\n$/),
  })
})

test.each(postgresCases)('a password is missing, on $engine', async (postgres) => {
  using directory = disposable()
  const url = new URL(postgres.databaseUrl ?? '')
  url.password = ''
  const startedMs = performance.now()
  const ended = await runCommand(['balance', 'ann'], directory.path, { DATABASE_URL: url.href })
  expect(ended).toMatchObject({ code: 1, out: '' })
  expect(ended.err).toContain('client password must be a string')
  // The server closes a connection that does not sign in only after a minute.
  expect(performance.now() - startedMs).toBeLessThan(30_000)
})

test('another currency than that of the data', async () => {
  using directory = disposable()
  writeFileSync(join(directory.path, 'c.yaml'), 'currency: EUR')
  mkdirSync(join(directory.path, 'data'))
  const first = await startServer(join(directory.path, 'data'))
  await first.kill()
  const ended = await runCommand([...serve, '--config', 'c.yaml', '--data', 'data'], directory.path)
  expect(ended).toEqual({
    code: 1,
    out: '',
    err: 'The data counts in USD, the configuration says EUR. Set currency: USD, or start with other data.\n',
  })
})

test('an older version after an upgrade, on SQLite', async () => {
  using directory = disposable()
  const file = join(directory.path, 'data/tollgate.db')
  const words = [
    'account',
    'credit',
    'ann',
    '1',
    '--create',
    '--reason',
    'a gift',
    '--data',
    'data',
  ]
  expect((await runCommand(words, directory.path)).code).toBe(0)
  using database = new Database(file)
  database.exec(raise)
  const ended = await runCommand(serve, directory.path)
  expect(ended).toEqual({ code: 1, out: '', err: expect.stringMatching(newer) })
})

test.each(postgresCases)('an older version after an upgrade, on $engine', async (postgres) => {
  using directory = disposable()
  const schema = await makeSchema(postgres.databaseUrl ?? '')
  try {
    const env = { DATABASE_URL: schema.url }
    expect((await runCommand(['migrate'], directory.path, env)).code).toBe(0)
    const client = new pg.Client({ connectionString: schema.url })
    await client.connect()
    await client.query(raise)
    await client.end()
    const ended = await runCommand(serve, directory.path, env)
    expect(ended).toEqual({ code: 1, out: '', err: expect.stringMatching(newer) })
  } finally {
    await schema.drop()
  }
})

function disposable() {
  const directory = makeDirectory()
  return { path: directory.path, [Symbol.dispose]: () => directory.remove() }
}
