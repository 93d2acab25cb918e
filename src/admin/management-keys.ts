// Keys that manage a deployment, or one account of it: create, list, edit, disable, remove.

import {
  createSecret,
  hashSecret,
  hintOf,
  managementPrefix,
  randomBase62,
} from '../identity/secret.ts'
import type { ManagementKeyRow } from '../store/management-keys.ts'
import type { Store } from '../store/store.ts'
import { checkNotDeleted } from './key-group.ts'
import { type Page, pageOf } from './page.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

type ManagementKey = ReturnType<typeof managementKeyView>

/** The account must exist and not be deleted. The secret is shown in this reply only. */
export async function createManagementKey(
  { store, nowMs }: AdminContext,
  { name, account, scopes, expiresAt = null }: Input<'createManagementKey'>,
): Promise<ManagementKey & { readonly secret: string }> {
  if (account !== null) {
    const person = await store.people.find(account)
    if (person === null)
      throw new AdminError('not_found', 'account', `there is no account ${JSON.stringify(account)}`)
    checkNotDeleted(account, person)
  }
  const secret = createSecret(managementPrefix)
  const row: ManagementKeyRow = {
    id: `mkey_${randomBase62(16)}`,
    name,
    account,
    hash: hashSecret(secret),
    hint: hintOf(secret),
    scopes,
    createdAt: nowMs,
    expiresAt,
    disabledAt: null,
    usedAt: null,
    revision: 1,
  }
  await store.managementKeys.insert(row)
  return { ...managementKeyView(row, nowMs), secret }
}

/** Oldest first. */
export async function listManagementKeys(
  { store, nowMs }: AdminContext,
  { account, ...page }: Input<'listManagementKeys'>,
): Promise<Page<ManagementKey>> {
  const placeOf = ({ createdAt, id }: ManagementKeyRow) =>
    `${String(createdAt).padStart(15, '0')} ${id}`
  const { items, next } = pageOf(await store.managementKeys.all(account), placeOf, page)
  return { items: items.map((row) => managementKeyView(row, nowMs)), next }
}

export async function showManagementKey(
  { store, nowMs }: AdminContext,
  input: Input<'key'>,
): Promise<ManagementKey> {
  return managementKeyView(await keyAt(store, input), nowMs)
}

/** Fields left out keep their values. */
export async function updateManagementKey(
  admin: AdminContext,
  input: Input<'updateManagementKey'>,
): Promise<ManagementKey> {
  return edit(admin, input, (before) => ({
    ...before,
    name: input.name ?? before.name,
    scopes: input.scopes ?? before.scopes,
    expiresAt: input.expiresAt === undefined ? before.expiresAt : input.expiresAt,
  }))
}

/** Stops a key at once; it stays in the list. */
export async function disableManagementKey(
  admin: AdminContext,
  input: Input<'key'>,
): Promise<ManagementKey> {
  return edit(admin, input, (before) => ({
    ...before,
    disabledAt: before.disabledAt ?? admin.nowMs,
  }))
}

/** Undoes `disableManagementKey`. */
export async function enableManagementKey(
  admin: AdminContext,
  input: Input<'key'>,
): Promise<ManagementKey> {
  return edit(admin, input, (before) => ({ ...before, disabledAt: null }))
}

export async function removeManagementKey(
  { store }: AdminContext,
  input: Input<'key'>,
): Promise<void> {
  const { id } = await keyAt(store, input)
  if (!(await store.managementKeys.remove(id))) throw noKey(id)
}

interface Edit {
  readonly id: string
  readonly owner?: string | undefined
  readonly revision?: number | undefined
}

async function edit(
  { store, nowMs }: AdminContext,
  given: Edit,
  change: (before: ManagementKeyRow) => ManagementKeyRow,
): Promise<ManagementKey> {
  for (;;) {
    const before = await keyAt(store, given)
    const after = change(before)
    // Another process changed the key meanwhile: read it again.
    if (await store.managementKeys.update(after))
      return managementKeyView({ ...after, revision: before.revision + 1 }, nowMs)
  }
}

async function keyAt(store: Store, { id, owner, revision }: Edit): Promise<ManagementKeyRow> {
  const row = await store.managementKeys.find(id)
  if (row === null || (owner !== undefined && row.account !== owner)) throw noKey(id)
  if (revision === undefined || row.revision === revision) return row
  throw new AdminError('stale', 'revision', `management key ${id} was changed since it was read`)
}

function noKey(id: string): AdminError {
  return new AdminError('not_found', 'id', `there is no management key ${JSON.stringify(id)}`)
}

function managementKeyView(row: ManagementKeyRow, nowMs: number) {
  const { id, name, account, hint, scopes, createdAt, expiresAt, disabledAt, usedAt } = row
  const isExpired = expiresAt !== null && expiresAt <= nowMs
  const status: 'active' | 'disabled' | 'expired' =
    disabledAt !== null ? 'disabled' : isExpired ? 'expired' : 'active'
  return {
    id,
    name,
    account,
    hint,
    scopes,
    status,
    createdAt: timeText(createdAt),
    expiresAt: timeText(expiresAt),
    disabledAt: timeText(disabledAt),
    lastUsedAt: timeText(usedAt),
    revision: row.revision,
  }
}
