// Makes the key a fresh installation is tried out with.

import { randomUUID } from 'node:crypto'
import type { Store } from '../store/store.ts'
import { createSecret, hashSecret, hintOf } from './secret.ts'

const account = 'default'

/** The secret of a new key of account and group `default`; null where the store already holds a key. */
export async function issueFirstKey(store: Store, nowMs: number): Promise<string | null> {
  if ((await store.keys.all()).length > 0) return null
  await store.accounts.ensure(account, nowMs)
  const secret = createSecret()
  await store.keys.insert({
    id: randomUUID(),
    name: 'first',
    account,
    group: 'default',
    hash: hashSecret(secret),
    hint: hintOf(secret),
    createdAt: nowMs,
    expiresAt: null,
    disabledAt: null,
    models: null,
    requestsPerMinute: null,
    tokensPerMinute: null,
    concurrentRequests: null,
  })
  return secret
}
