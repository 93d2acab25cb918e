// Tests that a key changed by another process takes effect here within a second, and that an outage changes nothing.

import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KeyRow, type KeyTable, unrestrictedKey } from '../store/keys.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { ensureAccounts } from './ensure-accounts.ts'
import { createKeyring } from './keyring.ts'
import { createSecret, hashSecret } from './secret.ts'
import { loadKeys, watchKeys } from './watch.ts'

let dataDir: string
let store: Store
let other: Store
const secret = createSecret()
const row: KeyRow = {
  ...unrestrictedKey,
  id: 'key_1',
  name: 'laptop',
  account: 'ann',
  group: 'default',
  hash: hashSecret(secret),
  hint: '',
  createdAt: 1,
}

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'tollgate-watch-'))
  store = await openStore({ dataDir, databaseUrl: null })
  other = await openStore({ dataDir, databaseUrl: null })
  await ensureAccounts(store, { accounts: { ann: { credit: null } }, keys: [], file: null }, 1)
  jest.useFakeTimers()
})
afterEach(async () => {
  jest.useRealTimers()
  await store.close()
  await other.close()
  rmSync(dataDir, { recursive: true })
})

/** Advances the test's own clock until then; resolves to the milliseconds it took. */
async function until(holds: () => boolean): Promise<number> {
  const start = performance.now()
  while (!holds()) {
    if (performance.now() - start > 2000) throw new Error('not within 2 s')
    jest.advanceTimersByTime(5)
    // The result of a look needs no timer.
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  }
  return performance.now() - start
}

test('a key made and then disabled elsewhere counts within a second at the default pace', async () => {
  const { revision, rows } = await loadKeys(store)
  const keyring = createKeyring({ configured: [], stored: rows })
  const errors: unknown[] = []
  const watch = watchKeys(store, keyring, { revision, onError: (error) => errors.push(error) })
  await other.keys.insert(row)
  expect(await until(() => keyring.find(secret, 1) !== null)).toBeLessThan(1000)
  await other.keys.disable('key_1', 2)
  expect(await until(() => keyring.find(secret, 1) === null)).toBeLessThan(1000)
  watch.close()
  expect(errors).toEqual([])
})

test('the keys of an account that is suspended elsewhere stop within a second, those of the file too', async () => {
  await store.keys.insert(row)
  const loaded = await loadKeys(store)
  const declared = {
    name: 'file',
    account: 'ann',
    group: 'default',
    secret: 'sixteen-letters!',
    expiresAt: null,
    models: null,
    deniedModels: null,
    addresses: null,
    spendLimit: null,
    historyMode: null,
    disabled: false,
    showCost: false,
    limits: {},
  }
  const keyring = createKeyring({ configured: [declared], stored: loaded.rows })
  const watch = watchKeys(store, keyring, { revision: loaded.revision, onError: () => undefined })
  await other.people.change('ann', { suspendedAt: 2 })
  expect(await until(() => keyring.find(secret, 1) === null)).toBeLessThan(1000)
  expect(keyring.find(declared.secret, 1)).toBeNull()
  await other.people.change('ann', { suspendedAt: null })
  await until(() => keyring.find(secret, 1) !== null)
  expect(keyring.find(declared.secret, 1)?.keyId).toBe('config:file')
  watch.close()
})

test('asked to, it looks at once, and once more where a look was under way', async () => {
  const { revision, rows } = await loadKeys(store)
  const keyring = createKeyring({ configured: [], stored: rows })
  const errors: unknown[] = []
  const watch = watchKeys(store, keyring, { revision, onError: (error) => errors.push(error) })
  const early = watch.refresh()
  await other.keys.insert(row)
  await Promise.all([early, watch.refresh()])
  expect(keyring.find(secret, 1)?.keyId).toBe('key_1')
  await other.keys.disable('key_1', 2)
  await watch.refresh()
  expect(keyring.find(secret, 1)).toBeNull()
  watch.close()
  await other.keys.remove('key_1')
  await watch.refresh()
  expect(errors).toEqual([])
})

test('keys made, rotated, removed and made anew elsewhere arrive, among more than are read at once', async () => {
  for (let index = 0; index < 2_500; index += 1)
    await store.keys.insert({ ...row, id: `key_${index + 2}`, hash: hashSecret(`${index}`) })
  await store.keys.insert(row)
  const { revision, rows } = await loadKeys(store)
  const keyring = createKeyring({ configured: [], stored: rows })
  const whole: number[] = []
  const keys: KeyTable = {
    ...store.keys,
    async those(ids) {
      whole.push(ids.length)
      return store.keys.those(ids)
    },
  }
  const onError = (error: unknown) => expect(error).toBeUndefined()
  const watch = watchKeys({ ...store, keys }, keyring, { revision, onError })
  const [rotated, anew] = [createSecret(), createSecret()]
  const previous = { hash: row.hash, until: 100 }
  await other.keys.update({ ...row, hash: hashSecret(rotated), previous })
  await watch.refresh()
  expect(keyring.find(rotated, 1)?.keyId).toBe('key_1')
  expect([keyring.find(secret, 99)?.keyId, keyring.find(secret, 100)]).toEqual(['key_1', null])
  await other.keys.remove('key_1')
  await other.keys.insert({ ...row, hash: hashSecret(anew), revision: 2 })
  await watch.refresh()
  expect([keyring.find(rotated, 1), keyring.find(secret, 1)]).toEqual([null, null])
  expect(keyring.find(anew, 1)?.keyId).toBe('key_1')
  await other.keys.remove('key_9')
  await watch.refresh()
  expect(keyring.size).toBe(2_500)
  expect(whole).toEqual([1, 1])
  watch.close()
})

test('while the store is away the keys stay, one error is reported, and then it catches up', async () => {
  await store.keys.insert(row)
  const { revision, rows } = await loadKeys(store)
  const keyring = createKeyring({ configured: [], stored: rows })
  let away = true
  let looks = 0
  const keys: KeyTable = {
    ...store.keys,
    async revision() {
      looks += 1
      if (away) throw new Error('away')
      return store.keys.revision()
    },
  }
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const watch = watchKeys({ ...store, keys }, keyring, { revision, onError, pollMs: 5 })
  await store.keys.remove('key_1')
  await until(() => looks > 5)
  expect(keyring.find(secret, 1)?.keyId).toBe('key_1')
  expect(errors).toEqual([new Error('away')])
  away = false
  await until(() => keyring.find(secret, 1) === null)
  watch.close()
})

test('accounts named by the configuration are made once', async () => {
  const config = {
    file: null,
    accounts: { ann: { credit: null }, bob: { credit: '5' } },
    keys: [
      {
        name: 'k',
        account: 'zoe',
        group: 'default',
        secret: 'sixteen-letters!',
        expiresAt: null,
        models: null,
        deniedModels: null,
        addresses: null,
        spendLimit: null,
        historyMode: null,
        disabled: false,
        showCost: false,
        limits: {},
      },
    ],
  }
  expect(await ensureAccounts(store, config, 1)).toEqual(['bob', 'zoe'])
  expect(await ensureAccounts(store, config, 2)).toEqual([])
  expect((await store.accounts.all()).map(({ id }) => id)).toEqual(['ann', 'bob', 'zoe'])
})
