// The keys kept in the store: made, listed, disabled, removed.

import { suggestion } from '../config/problems.ts'
import { configuredKeyId } from '../identity/keyring.ts'
import { createSecret, hashSecret, hintOf, randomBase62 } from '../identity/secret.ts'
import { type KeyRow, unrestrictedKey } from '../store/keys.ts'
import { type Page, pageOf } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

type Key = ReturnType<typeof keyView>

/** Makes the account where it is missing. The secret is in this reply and nowhere else. */
export async function createKey(
  { store, nowMs }: AdminContext,
  input: Input<'createKey'>,
): Promise<Key & { readonly secret: string }> {
  const { account, group, name, showCost } = input
  checkGroup(group, await store.deployment.groups())
  const secret = createSecret()
  const row: KeyRow = {
    ...unrestrictedKey,
    id: `key_${randomBase62(16)}`,
    name,
    account,
    group,
    hash: hashSecret(secret),
    hint: hintOf(secret),
    createdAt: nowMs,
    expiresAt: input.expiresAt ?? null,
    models: input.models ?? null,
    requestsPerMinute: input.requestsPerMinute ?? null,
    tokensPerMinute: input.tokensPerMinute ?? null,
    concurrentRequests: input.concurrentRequests ?? null,
    showCost,
  }
  await store.accounts.ensure(account, nowMs)
  await store.keys.insert(row)
  return { ...keyView(row, nowMs), secret }
}

/** Oldest first. */
export async function listKeys(
  { store, nowMs }: AdminContext,
  { account, ...page }: Input<'listKeys'>,
): Promise<Page<Key>> {
  const rows = await store.keys.all()
  const found = rows.filter((row) => account === undefined || row.account === account)
  const placeOf = ({ createdAt, id }: KeyRow) => `${String(createdAt).padStart(15, '0')} ${id}`
  const { items, next } = pageOf(found, placeOf, page)
  return { items: items.map((row) => keyView(row, nowMs)), next }
}

/** Stops a key within a second; it stays in the list. */
export async function disableKey(
  { store, nowMs }: AdminContext,
  { id }: Input<'key'>,
): Promise<void> {
  checkIsStored(id)
  if (!(await store.keys.disable(id, nowMs))) throw noKey(id)
}

/** Stops a key within a second and forgets it; its usage stays. */
export async function removeKey({ store }: AdminContext, { id }: Input<'key'>): Promise<void> {
  checkIsStored(id)
  if (!(await store.keys.remove(id))) throw noKey(id)
}

function checkIsStored(id: string): void {
  if (!id.startsWith(configuredKeyId(''))) return
  throw new AdminError(
    'conflict',
    'id',
    `key ${id} is declared in the configuration: change it there`,
  )
}

function noKey(id: string): AdminError {
  return new AdminError('not_found', 'id', `there is no key ${JSON.stringify(id)}`)
}

/** Before the first start of a server nobody knows the groups there will be. */
function checkGroup(group: string, known: readonly string[]): void {
  if (known.length === 0 || known.includes(group)) return
  const near = suggestion(group, known) || `; the configuration has ${known.join(', ')}`
  throw new AdminError('invalid', 'group', `there is no such group${near}`)
}

function keyView(row: KeyRow, nowMs: number) {
  const expired = row.expiresAt !== null && row.expiresAt <= nowMs
  return {
    id: row.id,
    name: row.name,
    account: row.account,
    group: row.group,
    hint: row.hint,
    status: row.disabledAt !== null ? 'disabled' : expired ? 'expired' : 'active',
    createdAt: timeText(row.createdAt),
    expiresAt: timeText(row.expiresAt),
    disabledAt: timeText(row.disabledAt),
    models: row.models,
    showCost: row.showCost,
    limits: {
      requestsPerMinute: row.requestsPerMinute,
      tokensPerMinute: row.tokensPerMinute,
      concurrentRequests: row.concurrentRequests,
    },
  }
}
