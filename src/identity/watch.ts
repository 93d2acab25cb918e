// Keeps a keyring in step with the store: a key made, disabled or removed elsewhere, or an account suspended, counts
// within a second.

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
  /** The revision the keyring was filled at. */
  readonly revision: number
  /** Called once per outage, at its first failed look; the keyring stays as it was. */
  readonly onError: (error: unknown) => void
  /** 500 unless a test says otherwise. */
  readonly pollMs?: number
  /** As of `RevisionWatchOptions`. */
  readonly busy?: () => boolean
}

/** Reads the keys, whose do not count, and the revision both are at least as new as. */
export async function loadKeys({ keys, accounts }: KeyStore): Promise<LoadedKeys> {
  // In this order: a change in between leaves the number behind, and the next look reads again.
  const revision = await keys.revision()
  return { revision, rows: await keys.all(), closed: await accounts.closed() }
}

/** The first look is half a second from now. */
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
