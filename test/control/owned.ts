// Things that belong to the account ann, one for each address that names one: nobody else may find them.

import { entryOf } from '../../src/history/document.ts'
import { makeKeys } from '../../src/history/sealed.ts'
import type { ManagementKeyRow } from '../../src/store/management-keys.ts'
import type { Store } from '../../src/store/store.ts'
import { append, keyRow, usageRow } from '../contract/store.ts'
import { newOrder, paidTransaction } from '../support/payments.ts'

/** The values of each address, by its path. Creates the things. */
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
  const requestId = `req_${'a'.repeat(28)}`
  await append(store, [usageRow({ requestId, account: 'ann', at: Date.now() })])
  await store.keys.insert(keyRow({ id: 'key-of-ann' }))
  await store.managementKeys.insert(managementKey('management-key-of-ann'))
  const order = await store.paymentOrders.create(newOrder())
  const credited = await store.paymentOrders.create(newOrder({ id: 'o2' }))
  await store.payments.markPaid(credited.id, paidTransaction(), null, Date.now())
  const message = await sealedMessage('req_of-ann')
  await store.history.add([message])
  const blob = { id: message.message.requestId, blob: message.blobs[0]?.id ?? '' }
  return {
    '/api/history/{id}': blob,
    '/api/history/{id}/blobs/{blob}': blob,
    '/api/me/sessions/{id}': { id: session.id },
    '/api/me/identities/{id}': { id: 'id-1' },
    ...below('/api/requests/{id}', ['', '/share', '/stop'], requestId),
    ...below('/api/orders/{id}', ['', '/check', '/cancel', '/events'], order.id),
    '/api/orders/{id}/receipt': { id: credited.id },
    ...below('/api/keys/{id}', keyVerbs, 'key-of-ann'),
    ...below('/api/management-keys/{id}', managementKeyVerbs, 'management-key-of-ann'),
  }
}

const keyVerbs = ['', '/rotate', '/disable', '/enable', '/impact', '/test']
const managementKeyVerbs = ['', '/disable', '/enable']

/** The same thing at an address and at all its operations. */
function below(path: string, verbs: readonly string[], id: string) {
  return Object.fromEntries(verbs.map((verb) => [path + verb, { id }]))
}

function managementKey(id: string): ManagementKeyRow {
  return {
    id,
    name: 'ci',
    account: 'ann',
    hash: 'e'.repeat(64),
    hint: '',
    scopes: ['read'],
    createdAt: 1,
    expiresAt: null,
    disabledAt: null,
    usedAt: null,
    revision: 1,
  }
}

async function sealedMessage(requestId: string) {
  const { publicKey } = await makeKeys()
  const picture = `data:image/gif;base64,${Buffer.from('a picture').toString('base64')}`
  const head = {
    requestId,
    account: 'ann',
    keyId: 'key-of-ann',
    keyName: 'ci',
    model: 'm',
    operation: 'chat',
    format: 'openai-chat',
    stream: false,
    at: Date.now(),
    status: 200,
    mode: 'sealed',
    requestBytes: 1,
    replyBytes: 1,
    parameters: [],
    truncated: false,
    expiresAt: Date.now() + 1e9,
  } as const
  const request = new TextEncoder().encode(JSON.stringify({ picture }))
  return entryOf({ head, publicKey, request, reply: new Uint8Array(0), files: [], sent: [] })
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
