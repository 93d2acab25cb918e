/** Puts many keys into a fresh data directory, as in a deployment with many users. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { createKey } from '../src/admin/keys.ts'
import { checkInput } from '../src/admin/schema.ts'
import { openStore } from '../src/store/open.ts'
import { databaseFile } from '../src/store/sqlite.ts'

const account = 'crowd'

/** One key is made as users make it; the others are copies of it under other names and hashes. */
export async function fillKeys(dataDir: string, count: number): Promise<void> {
  const store = await openStore({ dataDir, databaseUrl: null })
  const currency = async () => 'USD'
  const context = { store, actor: 'bench', nowMs: Date.now(), currency }
  await store.deployment.rememberCurrency('USD')
  await store.deployment.rememberGroups(['default'])
  await store.accounts.ensure(account, context.nowMs)
  await createKey(context, checkInput('createKey', { account, group: 'default', name: 'key' }))
  await store.close()
  const database = new Database(join(dataDir, databaseFile))
  const columns = database.query('SELECT name FROM pragma_table_info(?)').all('api_key') as {
    readonly name: string
  }[]
  const copied = columns.map(({ name }) => {
    if (name === 'id' || name === 'name') return `${name} || '-' || value`
    return name === 'hash' ? 'lower(hex(randomblob(32)))' : name
  })
  const names = columns.map(({ name }) => name).join(', ')
  database.run(
    `INSERT INTO api_key (${names}) WITH RECURSIVE counted (value) AS
      (SELECT 1 UNION ALL SELECT value + 1 FROM counted WHERE value < ?)
      SELECT ${copied.join(', ')} FROM api_key, counted`,
    [count - 1],
  )
  database.close()
}
