// Tests that a process leaves a PostgreSQL server that has become read-only while its connections stay open.

import { expect, test } from 'bun:test'
import { openPostgres } from '../../src/store/postgres.ts'
import { postgresCases } from '../support/deployment.ts'
import { makeSchema } from './databases.ts'

test.each(postgresCases)(
  'a connection on which nothing can be written any more is replaced',
  async ({ databaseUrl }) => {
    const schema = await makeSchema(databaseUrl ?? '')
    const engine = await openPostgres(schema.url)
    try {
      const write = () =>
        engine.transaction((session) => session.run('UPDATE usage_folded SET until = 900000', []))
      expect(await write()).toBe(1)
      // The server as this connection sees it; others reach one that can be written.
      await engine.query('SET default_transaction_read_only = on', [])
      await expect(write()).rejects.toThrow('read-only transaction')
      expect(await write()).toBe(1)
    } finally {
      await engine.close()
      await schema.drop()
    }
  },
)
