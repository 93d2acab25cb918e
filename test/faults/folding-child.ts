// Folds one quarter-hour after another in a process that a test kills; prints a line after each.

import { openStore } from '../../src/store/open.ts'

const [dataDir = '', databaseUrl = '', before = '0'] = process.argv.slice(2)
const store = await openStore({ dataDir, databaseUrl: databaseUrl === '' ? null : databaseUrl })
console.log('open')
while (await store.rollups.fold(Number(before))) console.log('folded')
await store.close()
