// Tests that nothing is kept of a request that ends while the transaction that deletes its account is under way.

import { expect, test } from 'bun:test'
import pg from 'pg'
import { openPostgres } from '../../src/store/postgres.ts'
import { createStore } from '../../src/store/tables.ts'
import { eventually } from '../support/clients.ts'
import { postgresCases } from '../support/deployment.ts'
import { makeSchema } from './databases.ts'

const nowMs = 1_700_000_000_000

test.each(postgresCases)('a response stored during its account’s deletion', async (postgres) => {
  const schema = await makeSchema(postgres.databaseUrl ?? '')
  const engine = await openPostgres(schema.url)
  const deleting = new pg.Client({ connectionString: schema.url })
  await deleting.connect()
  try {
    const store = createStore(engine)
    await store.accounts.ensure('ann', nowMs)
    await deleting.query('BEGIN')
    await deleting.query(`UPDATE account SET deleted_at = ${nowMs} WHERE id = 'ann'`)
    await deleting.query(`DELETE FROM response WHERE account = 'ann'`)
    let isKept = false
    const row = {
      ...{ account: 'ann', id: 'resp_1', previousId: null, running: false, items: [] },
      ...{ input: '[]', body: '{}', createdAt: nowMs, expiresAt: nowMs + 1_000 },
    }
    const keeping = store.responses.apply([{ kind: 'keep', row }], null).finally(() => {
      isKept = true
    })
    await eventually(async () => {
      const waiting = await deleting.query('SELECT 1 FROM pg_locks WHERE NOT granted')
      return isKept || waiting.rows.length > 0 ? true : undefined
    })
    await deleting.query('COMMIT')
    expect(await keeping).toEqual([0])
    expect(await store.responses.find('ann', 'resp_1', nowMs)).toBeNull()
  } finally {
    await deleting.end()
    await engine.close()
    await schema.drop()
  }
})
