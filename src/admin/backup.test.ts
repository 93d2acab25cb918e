// Tests backup and restore with each other; other tests cover load and a full disk with real processes.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, renameSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, type TestDirectory } from '../../test/contract/databases.ts'
import { adminOf, nowMs } from '../../test/support/admin.ts'
import { openStore } from '../store/open.ts'
import { lockForServer } from '../store/restore-folder.ts'
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

test('a restore that was killed while it moved the data is refused to servers until one succeeds', async () => {
  const there = { dataDir: join(directory.path, 'killed'), databaseUrl: null }
  const { dataDir } = there
  const file = join(directory.path, 'copy')
  await restore(there, { file, force: false }, nowMs)
  const outbox = ['outbox-0-a.db', 'outbox-0-a.db-wal', 'outbox-0.db', 'outbox-0.mark']
  for (const name of outbox) await Bun.write(join(dataDir, name), name)
  const aside = join(dataDir, 'replaced-2026-11-27T00-00-00-000Z')
  mkdirSync(aside)
  for (const name of ['tollgate.db', 'outbox-0-a.db'])
    renameSync(join(dataDir, name), join(aside, name))

  const again = (name: string) => restore(there, { file: name, force: true }, nowMs)
  await expect(again(`${file}-mistyped`)).rejects.toThrow('there is no such file')
  expect(() => lockForServer(there)).toThrow(`moved the data there into ${aside}`)
  const restored = await again(file)
  expect(restored.aside).toBe(aside)
  expect(readdirSync(aside).sort()).toEqual([...outbox, 'tollgate.db'])
  lockForServer(there).release()

  // A later restore replaces other data, also where the ledger was removed by hand.
  renameSync(join(dataDir, 'tollgate.db'), join(directory.path, 'elsewhere'))
  await Bun.write(join(dataDir, 'outbox-0.db'), 'newer')
  expect((await again(file)).aside).not.toBe(aside)
  expect(await Bun.file(join(aside, 'outbox-0.db')).text()).toBe('outbox-0.db')
})

test('what is left of a backup that was killed before it locked its folder is removed', async () => {
  const from = { dataDir: join(directory.path, 'from'), databaseUrl: null }
  const folder = join(directory.path, 'drafts')
  const draft = (name: string) => join(folder, `${name}.${crypto.randomUUID()}`)
  const [empty, unlocked, others, fresh] = [draft('a'), draft('b'), draft('c'), draft('d')]
  for (const path of [empty, unlocked, others, fresh]) mkdirSync(path, { recursive: true })
  await Bun.write(join(unlocked, `draft.lock.${crypto.randomUUID()}`), '')
  await Bun.write(join(others, 'letter'), 'of the user')
  for (const path of [empty, unlocked, others]) utimesSync(path, 1, 1)
  await backUp(from, { file: join(folder, 'copy') })
  const left = readdirSync(folder).map((name) => join(folder, name))
  expect(left.sort()).toEqual([others, fresh, join(folder, 'copy')].sort())
})

test('a backup does not make the folder of its file', async () => {
  const from = { dataDir: join(directory.path, 'from'), databaseUrl: null }
  const folder = join(directory.path, 'not-mounted')
  const failed = backUp(from, { file: join(folder, 'copy') })
  await expect(failed).rejects.toThrow(`${folder} is not there`)
  expect(existsSync(folder)).toBe(false)
})
