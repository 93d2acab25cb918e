// The key that the console's playground calls models with: short-lived, one per account and group.

import { createHash } from 'node:crypto'
import { createSecret, hashSecret, hintOf, startOf } from '../identity/secret.ts'
import { type KeyRow, unrestrictedKey } from '../store/keys.ts'
import { RowRefused, type Store } from '../store/store.ts'
import { allowedGroup, checkRoom } from './key-group.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

const livesMs = 3_600_000
const idPrefix = 'playground_'

interface PlaygroundKey {
  readonly id: string
  readonly group: string
  /** The secret, shown in this reply only. */
  readonly key: string
  readonly expiresAt: string
}

/**
 * Gives the one key a new secret and keeps its id for usage; the previous secret works until its own expiry, so that
 * two open pages do not end each other's. `group` left out: `default` or the first the account may use. Limits and
 * disabling by the owner stay in force. Refused where it would be one key more than `most`. Throws AdminError `invalid`
 * (group), `conflict`.
 */
export async function playgroundKey(
  { store, nowMs }: AdminContext,
  { account, group: asked }: Input<'playgroundKey'>,
  most = Number.POSITIVE_INFINITY,
): Promise<PlaygroundKey> {
  const group = await allowedGroup(store, account, asked)
  const secret = createSecret()
  const fresh = {
    name: 'Playground',
    group,
    hash: hashSecret(secret),
    hint: hintOf(secret),
    start: startOf(secret),
    expiresAt: nowMs + livesMs,
  }
  const id =
    idPrefix +
    createHash('sha256')
      .update(JSON.stringify([account, group]))
      .digest('hex')
  await store.accounts.ensure(account, nowMs)
  for (;;) {
    const before = await store.keys.find(id)
    if (before === null) await checkRoom(store, account, most)
    const isKept =
      before === null
        ? await inserted(store, {
            ...unrestrictedKey,
            ...fresh,
            id,
            account,
            createdAt: nowMs,
            showCost: true,
          })
        : await store.keys.update(replaced(before, fresh))
    // Another page's request came between: read the key again.
    if (isKept) return { id, group, key: secret, expiresAt: timeText(fresh.expiresAt) }
  }
}

/** Whether `playgroundKey` made the key; ids of other keys begin differently. */
export function isOfPlayground({ id }: Pick<KeyRow, 'id'>): boolean {
  return id.startsWith(idPrefix)
}

function replaced(before: KeyRow, fresh: Partial<KeyRow>): KeyRow {
  if (before.disabledAt !== null) {
    const message = `the playground's key ${before.id} is disabled: enable it, or choose another group`
    throw new AdminError('conflict', 'group', message, 'key_disabled')
  }
  return { ...before, ...fresh, previous: { hash: before.hash, until: before.expiresAt ?? 0 } }
}

/** False where the key exists already. */
async function inserted(store: Store, row: KeyRow): Promise<boolean> {
  try {
    await store.keys.insert(row)
    return true
  } catch (error) {
    if (error instanceof RowRefused && (await store.keys.find(row.id)) !== null) return false
    throw error
  }
}
