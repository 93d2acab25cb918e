// Keeps a keyring up to date with the store: keys created, disabled or removed elsewhere, and accounts suspended, take
// effect within a second.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { KeyRow } from '../store/keys.ts'
import { type RevisionWatch, watchRevision } from '../store/revision.ts'
import type { Store } from '../store/store.ts'
import type { KeyringChange, ReplaceableKeyring } from './keyring.ts'

interface LoadedKeys {
  readonly revision: number
  readonly rows: readonly KeyRow[]
  readonly closed: readonly string[]
}

type KeyStore = Pick<Store, 'keys' | 'accounts'>

interface KeyWatchOptions {
  /** The revision at which the keyring was filled. */
  readonly revision: number
  /** Called once per outage, at its first failed read; the keyring stays unchanged. */
  readonly onError: (error: unknown) => void
  /** 500 by default. */
  readonly pollMs?: number
  /** See `RevisionWatchOptions`. */
  readonly busy?: () => boolean
}

/** Reads the keys, the closed accounts, and a revision that both are at least as new as. */
export async function loadKeys({ keys, accounts }: KeyStore): Promise<LoadedKeys> {
  // In this order: a change in between makes the revision too old, and the next poll reads again.
  const revision = await keys.revision()
  return { revision, rows: await keys.all(), closed: await accounts.closed() }
}

/** The first poll is half a second from now. */
export function watchKeys(
  store: KeyStore,
  keyring: ReplaceableKeyring,
  { revision, onError, pollMs, busy }: KeyWatchOptions,
): RevisionWatch {
  const watch = watchRevision({
    known: revision,
    read: () => store.keys.revision(),
    async reload() {
      const read = await store.keys.revision()
      const change = await changesOf(store, keyring)
      if (!watch.closed) keyring.patch(change)
      return read
    },
    onError,
    ...(pollMs !== undefined && { pollMs }),
    ...(busy !== undefined && { busy }),
  })
  return watch
}

const pageRows = 2_000
const mostRowsAtOnce = 500

/**
 * Reads whole only the keys that differ from the keyring's, and of the others what tells that they do not. Between
 * pages other work of the thread has its turn, so that a change among very many keys delays no request.
 */
async function changesOf(
  { keys, accounts }: KeyStore,
  { rows }: ReplaceableKeyring,
): Promise<KeyringChange> {
  const seen = new Set<string>()
  const differing: string[] = []
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await keys.versionsAfter(after, pageRows)
    for (const { id, revision, hash } of page) {
      seen.add(id)
      const known = rows.get(id)
      if (known?.revision !== revision || known.hash !== hash) differing.push(id)
    }
    after = page.length < pageRows ? undefined : page.at(-1)?.id
    if (after !== undefined) await nextTurn()
  }
  const changed: KeyRow[] = []
  for (let from = 0; from < differing.length; from += mostRowsAtOnce) {
    if (from > 0) await nextTurn()
    changed.push(...(await keys.those(differing.slice(from, from + mostRowsAtOnce))))
  }
  const found = new Set(changed.map(({ id }) => id))
  // Removed before the pages were read, or between the two reads.
  const gone = (id: string) => !seen.has(id)
  const removed = [...[...rows.keys()].filter(gone), ...differing.filter((id) => !found.has(id))]
  return { changed, removed, closed: await accounts.closed() }
}
