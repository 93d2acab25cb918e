// The thread of `openStoreThread`: opens the store and carries out the calls it receives.

import { parentPort, workerData } from 'node:worker_threads'
import { openStore } from './open.ts'
import type { Store } from './store.ts'
import { failureOf, type StoreCall, type StoreReply } from './thread.ts'

const opened: { store: Promise<Store> | null } = { store: null }

/** Opened at the first call, and again after a failure, because a database may come back. */
async function storeOf(): Promise<Store> {
  opened.store ??= openStore({ dataDir: workerData as string, databaseUrl: null })
  try {
    return await opened.store
  } catch (error) {
    opened.store = null
    throw error
  }
}

async function answer({ id, table, method, args }: StoreCall): Promise<StoreReply> {
  try {
    const store = (await storeOf()) as unknown as Record<string, Record<string, unknown>>
    const owner = (table === null ? store : store[table]) as Record<string, unknown> | undefined
    const work = owner?.[method]
    if (typeof work !== 'function') throw new Error(`The store has no ${table}.${method}.`)
    return { id, result: await work.apply(owner, [...args]) }
  } catch (error) {
    return { id, failure: failureOf(error) }
  }
}

parentPort?.on('message', async (call: StoreCall) => {
  parentPort?.postMessage(await answer(call))
})
