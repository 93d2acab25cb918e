// Tests backup and restore with each other; other tests cover load and a full disk with real processes.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, type TestDirectory } from '../../test/contract/databases.ts'
import { adminOf, nowMs } from '../../test/support/admin.ts'
import { openStore } from '../store/open.ts'
import { adjustBalance } from './accounts.ts'
import { auditLedger } from './audit.ts'
import { backUp } from './backup.ts'
import { restore } from './restore.ts'

let directory: TestDirectory
beforeAll(() => {
  directory = makeDirectory()
})
afterAll(() => directory.remove())

test('what is backed up is what is restored; nothing is written over', async () => {
  const from = { dataDir: join(directory.path, 'from'), databaseUrl: null }
  const to = { dataDir: join(directory.path, 'to'), databaseUrl: null }
  const file = join(directory.path, 'copy')
  const store = await openStore(from)
  const gift = { account: 'ann', amount: 5n, direction: 'credit', reason: 'a gift' } as const
  await adjustBalance(adminOf(store), { ...gift, createAccount: true })
  expect(await auditLedger({ store })).toMatchObject({ ok: true, transfers: 1, setAsides: [] })
  const made = await backUp(from, { file })
  expect(made).toMatchObject({ ok: true, file, transfers: 1, usageRows: 0, settled: 0, wallets: 1 })
  await store.close()

  const conflict = (field: string) => ({ refusal: 'conflict', field })
  await expect(backUp(from, { file })).rejects.toMatchObject(conflict('file'))
  const own = join(from.dataDir, 'outbox-0.db')
  await expect(backUp(from, { file: own })).rejects.toMatchObject(conflict('file'))
  const elsewhere = { ...from, databaseUrl: 'postgres://nowhere.invalid/db' }
  await expect(backUp(elsewhere, { file: `${file}-2` })).rejects.toMatchObject(conflict('file'))
  await expect(restore(elsewhere, { file, force: true }, nowMs)).rejects.toThrow('Cannot connect')
  expect(readdirSync(directory.path).sort()).toEqual(['copy', 'from'])

  const restored = await restore(to, { file, force: false }, nowMs)
  expect(restored).toMatchObject({ ok: true, transfers: 1, wallets: 1, aside: null })
  await expect(restore(to, { file, force: false }, nowMs)).rejects.toMatchObject(conflict('force'))
  const { aside } = await restore(to, { file, force: true }, nowMs)
  expect(existsSync(join(aside ?? '', 'tollgate.db'))).toBe(true)
})
