// Creates a first API key, with which a new installation can be tried out.

import { randomUUID } from 'node:crypto'
import { parseUnits } from '../money.ts'
import { unrestrictedKey } from '../store/keys.ts'
import { house, walletOf } from '../store/ledger.ts'
import type { Store } from '../store/store.ts'
import { createSecret, hashSecret, hintOf, startOf } from './secret.ts'

const account = 'default'

/** What the first key's account can spend at the start, in the currency's unit, so that a first call works. */
export const localCredit = '100'

/**
 * Returns the secret of a new key in account and group `default`, which is given a local credit; null if the store
 * already has a key.
 */
export async function issueFirstKey(store: Store, nowMs: number): Promise<string | null> {
  if ((await store.keys.all()).length > 0) return null
  await store.accounts.ensure(account, nowMs)
  await store.journal.post([
    {
      id: 'adjust:local-credit',
      code: 'adjust',
      debit: house.adjust,
      credit: walletOf(account),
      amountNano: parseUnits(localCredit) ?? 0n,
      actor: 'first start',
      reason: 'local credit to try the gateway with; no money was paid',
      at: nowMs,
    },
  ])
  const secret = createSecret()
  await store.keys.insert({
    ...unrestrictedKey,
    id: randomUUID(),
    name: 'first',
    account,
    group: 'default',
    hash: hashSecret(secret),
    hint: hintOf(secret),
    start: startOf(secret),
    createdAt: nowMs,
  })
  return secret
}
