// The store's contract on SQLite and, where TEST_DATABASE_URL names one, on PostgreSQL.

import { openStore, type StoreSettings } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { makeDirectory, makeSchema, testDatabaseUrl } from './databases.ts'
import { type Opened, storeContract } from './store.ts'

storeContract('sqlite', () => {
  const directory = makeDirectory()
  return opened({ dataDir: directory.path, databaseUrl: null }, async () => directory.remove())
})

const url = testDatabaseUrl
if (url !== null) {
  storeContract('postgres', async () => {
    const schema = await makeSchema(url)
    return opened({ dataDir: '/nonexistent', databaseUrl: schema.url }, () => schema.drop())
  })
}

async function opened(settings: StoreSettings, remove: () => Promise<void>): Promise<Opened> {
  const stores: Store[] = []
  const open = async () => {
    const store = await openStore(settings)
    stores.push(store)
    return store
  }
  return {
    store: await open(),
    open,
    async dispose() {
      await Promise.all(stores.map((store) => store.close()))
      await remove()
    },
  }
}
