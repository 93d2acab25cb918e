// Keeps a keyring up to date with the store: keys created, disabled or removed elsewhere, and accounts suspended, take
// effect within a second.

import type { KeyRow } from '../store/keys.ts'
import { type RevisionWatch, watchRevision } from '../store/revision.ts'
import type { Store } from '../store/store.ts'
import type { ReplaceableKeyring } from './keyring.ts'

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
      const loaded = await loadKeys(store)
      if (!watch.closed) keyring.replace({ stored: loaded.rows, closed: loaded.closed })
      return loaded.revision
    },
    onError,
    ...(pollMs !== undefined && { pollMs }),
    ...(busy !== undefined && { busy }),
  })
  return watch
}
