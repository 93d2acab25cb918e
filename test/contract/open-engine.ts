// Opens a store, checks that it answers, and ends: one of several processes that start at once.

import { openStore } from '../../src/store/open.ts'

const [engine, address = ''] = process.argv.slice(2)
const store = await openStore({
  dataDir: address,
  databaseUrl: engine === 'postgres' ? address : null,
})
await store.accounts.ensure(`account-${process.pid}`, Date.now())
await store.close()
