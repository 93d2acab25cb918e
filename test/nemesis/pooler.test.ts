// Tests three nodes that reach PostgreSQL through PgBouncer, in the mode that gives each transaction another
// connection.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { type PostgresServer, startPooler, startPostgres } from '../../scripts/postgres.mjs'
import { runCommand } from '../support/command-line.ts'
import { deploy, ownPostgresCases } from '../support/deployment.ts'
import { startServer } from '../support/server-process.ts'
import { kinds } from './faults.ts'
import { breakAgainAndAgain, expectBooks } from './run.ts'
import { openStage } from './stage.ts'

/** The faults that concern connections; a pooler does not affect the others. */
const names = [
  'a process is killed',
  'a process stands still',
  'a node is cut off from the database',
  'a node hears nothing of the database',
  'a node has a slow way to the database',
  'connections to the database break',
]

const cases = Bun.env['TEST_PGBOUNCER'] === undefined ? [] : ownPostgresCases

describe.each(cases)('PgBouncer before $engine', () => {
  let server: PostgresServer
  beforeEach(async () => {
    server = await startPostgres()
  })
  afterEach(() => server.stop())

  const run = async (statement: string) => {
    const sql = new SQL(server.url, { max: 1 })
    await sql.unsafe(statement)
    await sql.close()
  }

  test.each(['transaction', 'session'] as const)(
    'in %s mode: the start names the setting it drops',
    async (mode) => {
      const pooler = await startPooler(server, mode)
      const started = startServer(undefined, { env: { DATABASE_URL: pooler.url } })
      await expect(started).rejects.toThrow(
        "ALTER ROLE tollgate SET idle_in_transaction_session_timeout = '5s'",
      )
      await pooler.stop()
    },
  )

  test('a copy of the data is refused, and nothing is made where servers look', async () => {
    await run("ALTER ROLE tollgate SET idle_in_transaction_session_timeout = '5s'")
    const pooler = await startPooler(server, 'session')
    const source = await deploy({ databaseUrl: null, credits: { acme: '1' } })
    try {
      const words = ['data', 'copy', '--to', pooler.url, '--data', source.dataDir()]
      const { code, err } = await runCommand(words, source.dataDir(), {})
      expect([code, err]).toEqual([1, expect.stringContaining('name the database itself')])
      const sql = new SQL(server.url, { max: 1 })
      expect(await sql`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`).toHaveLength(0)
      await sql.close()
    } finally {
      await source.remove()
      await pooler.stop()
    }
  })

  test.each(['transaction', 'session'] as const)(
    'in %s mode: nothing is lost, doubled or overdrawn',
    async (mode) => {
      await run("ALTER ROLE tollgate SET idle_in_transaction_session_timeout = '5s'")
      const pooler = await startPooler(server, mode)
      const stage = await openStage(pooler.url, Math.random)
      try {
        const faults = Object.entries(kinds).filter(([name]) => names.includes(name))
        expect(faults).toHaveLength(names.length)
        await expectBooks(stage, await breakAgainAndAgain(stage, faults))
      } finally {
        await stage.close()
        await pooler.stop()
      }
    },
    120_000,
  )
})
