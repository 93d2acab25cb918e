// Tests which account a management key acts for, and when it is refused.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { findManagementKey } from './management-keys.ts'
import { createSecret, hashSecret, hintOf, managementPrefix } from './secret.ts'

let dataDir: string
let store: Store
const secret = createSecret(managementPrefix)
const row = {
  id: 'mkey_1',
  name: 'ci',
  account: null,
  hash: hashSecret(secret),
  hint: hintOf(secret),
  scopes: ['read'],
  createdAt: 1,
  expiresAt: 200_000,
  disabledAt: null,
  usedAt: null,
  revision: 1,
} as const

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'tollgate-management-'))
  store = await openStore({ dataDir, databaseUrl: null })
  await store.managementKeys.insert(row)
})

afterEach(async () => {
  await store.close()
  rmSync(dataDir, { recursive: true })
})

test('a key is found until it expires, with its scopes, and its hint shows its kind', async () => {
  expect(await findManagementKey(store, secret, 199_999)).toEqual({
    kind: 'management',
    keyId: 'mkey_1',
    keyName: 'ci',
    account: null,
    scopes: ['read'],
    expiresAt: 200_000,
  })
  expect(await findManagementKey(store, secret, 200_000)).toBeNull()
  expect(row.hint).toBe(`sk-tgm-…${secret.slice(-4)}`)
})

test('an unknown, mistyped or disabled key, and a key that calls models, is nobody', async () => {
  const others = [createSecret(managementPrefix), `${secret.slice(0, -1)}_`, createSecret(), '']
  for (const other of others) expect(await findManagementKey(store, other, 1)).toBeNull()
  await store.managementKeys.update({ ...row, disabledAt: 5 })
  expect(await findManagementKey(store, secret, 6)).toBeNull()
})

test('a key of an account that is suspended is nobody until it is not', async () => {
  await store.accounts.ensure('ann', 1)
  const bound = createSecret(managementPrefix)
  await store.managementKeys.insert({
    ...row,
    id: 'mkey_2',
    account: 'ann',
    hash: hashSecret(bound),
  })
  expect((await findManagementKey(store, bound, 1))?.account).toBe('ann')
  await store.people.change('ann', { suspendedAt: 5 })
  expect(await findManagementKey(store, bound, 6)).toBeNull()
  await store.people.change('ann', { suspendedAt: null })
  expect((await findManagementKey(store, bound, 7))?.account).toBe('ann')
})

test('its use is noted once a minute', async () => {
  const usedAt = async () => (await store.managementKeys.find('mkey_1'))?.usedAt
  await findManagementKey(store, secret, 1_000)
  expect(await usedAt()).toBe(1_000)
  await findManagementKey(store, secret, 60_999)
  expect(await usedAt()).toBe(1_000)
  await findManagementKey(store, secret, 61_000)
  expect(await usedAt()).toBe(61_000)
})
