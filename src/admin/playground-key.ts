// The key that the console's playground calls models with: short-lived, one for each account and group.

import { createHash } from 'node:crypto'
import { createSecret, hashSecret, hintOf, startOf } from '../identity/secret.ts'
import { type KeyRow, unrestrictedKey } from '../store/keys.ts'
import { RowRefused, type Store } from '../store/store.ts'
import { allowedGroup } from './key-group.ts'
import type { Input } from './schema.ts'
import { timeText } from './time.ts'
import { type AdminContext, AdminError } from './use-case.ts'

const livesMs = 3_600_000
const idPrefix = 'playground_'

interface PlaygroundKey {
  readonly id: string
  readonly group: string
  /** In this reply and nowhere else. */
  readonly key: string
  readonly expiresAt: string
}

/**
 * A new secret of the one key, whose usage stays under its id; the secret before works until its own time, so that two
 * open pages do not end each other's. `group` left out: `default` or the first the account may use. What the owner
 * limited or disabled stays so. Throws AdminError `invalid` (group), `conflict`.
 */
export async function playgroundKey(
  { store, nowMs }: AdminContext,
  { account, group: asked }: Input<'playgroundKey'>,
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
    // Else another page's request came between: read again.
    if (isKept) return { id, group, key: secret, expiresAt: timeText(fresh.expiresAt) }
  }
}

/** Made by `playgroundKey`; the ids of other keys begin otherwise. */
export function isOfPlayground({ id }: Pick<KeyRow, 'id'>): boolean {
  return id.startsWith(idPrefix)
}

function replaced(before: KeyRow, fresh: Partial<KeyRow>): KeyRow {
  if (before.disabledAt !== null) {
    const message = `the playground's key ${before.id} is disabled: enable it, or choose another group`
    throw new AdminError('conflict', 'group', message)
  }
  return { ...before, ...fresh, previous: { hash: before.hash, until: before.expiresAt ?? 0 } }
}

/** False where it is there by now. */
async function inserted(store: Store, row: KeyRow): Promise<boolean> {
  try {
    await store.keys.insert(row)
    return true
  } catch (error) {
    if (error instanceof RowRefused && (await store.keys.find(row.id)) !== null) return false
    throw error
  }
}
