// Things of the account ann, one for each address that names one: what nobody else may find.

import type { Store } from '../../src/store/store.ts'

/** The values of each address, by its path. Makes them. */
export async function owned(
  store: Store,
): Promise<Readonly<Record<string, Readonly<Record<string, string>>>>> {
  for (const account of ['ann', 'bob', 'eye', 'root']) await store.accounts.ensure(account, 1)
  await store.identities.add(identity('id-1'))
  await store.identities.add(identity('id-2'))
  const session = {
    id: 'session-of-ann',
    account: 'ann',
    createdAt: Date.now(),
    usedAt: Date.now(),
    address: null,
    client: null,
  }
  await store.sessions.add(session, 'hash', { nowMs: Date.now(), idleMs: 1e9, longestMs: 1e9 })
  return {
    '/api/me/sessions/{id}': { id: session.id },
    '/api/me/identities/{id}': { id: 'id-1' },
  }
}

function identity(id: string) {
  return {
    id,
    issuer: 'https://id.example',
    subject: id,
    account: 'ann',
    name: 'Ann',
    email: null,
    emailVerified: false,
    createdAt: 1,
    usedAt: 1,
  }
}
