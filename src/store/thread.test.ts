// Tests that a store in a separate thread behaves like the store, refusals included, and that its end rejects waiting
// calls.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isStoreAway } from './away.ts'
import { openStore } from './open.ts'
import { RowRefused, type Store } from './store.ts'
import { openStoreThread } from './thread.ts'

let dataDir: string
let own: Store
let apart: Store
let died: Error[]

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'tollgate-thread-'))
  own = await openStore({ dataDir, databaseUrl: null })
  died = []
  apart = openStoreThread(dataDir, (error) => void died.push(error))
})
afterEach(async () => {
  await apart.close()
  await own.close()
  rmSync(dataDir, { recursive: true })
})

test('it reads what another connection wrote, and the other way around', async () => {
  expect(apart.engine).toBe('sqlite')
  await apart.ping()
  expect(await apart.accounts.ensure('ann', 1)).toBe(true)
  await own.accounts.ensure('bob', 2)
  expect((await own.accounts.all()).map(({ id }) => id)).toEqual(['ann', 'bob'])
  expect((await apart.accounts.all()).map(({ id }) => id)).toEqual(['ann', 'bob'])
  expect(await apart.journal.wallet('ann')).toEqual(await own.journal.wallet('ann'))
})

test('what the values are refused for is refused here too', async () => {
  const event = { at: 1, actor: 'a', role: 'admin', action: 'x', target: {}, detail: {} } as const
  await apart.operatorEvents.add({ id: 'e', address: null, changes: null, ...event })
  const again = { id: 'e', address: null, changes: null, ...event }
  expect(await apart.operatorEvents.add(again).catch((error: unknown) => error)).toBeInstanceOf(
    RowRefused,
  )
})

test('calls after the end are rejected as a store that is away', async () => {
  await apart.close()
  const failure = await apart.accounts.all().catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(Error)
  expect(isStoreAway(failure)).toBe(true)
})

test('where the thread dies its calls are rejected as a store that is away, and the next ones work', async () => {
  for (const times of [1, 2]) {
    await apart.ping()
    // No message can carry the result, so that the thread dies of an error that nothing handles.
    const last = (apart.accounts as { valueOf(): unknown }).valueOf() as Promise<unknown>
    const calls = [apart.accounts.all(), last]
    const [other, own] = await Promise.allSettled(calls)
    if (own?.status !== 'rejected') throw new Error('it did not die')
    expect(isStoreAway(own.reason)).toBe(true)
    if (other?.status === 'rejected') expect(isStoreAway(other.reason)).toBe(true)
    expect(died).toHaveLength(times)
    expect(await apart.accounts.ensure(`account-${times}`, 1)).toBe(true)
  }
})
