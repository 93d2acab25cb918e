// Keeps a keyring in step with the store: a key made, disabled or removed elsewhere counts within a second.

import type { KeyRow, KeyTable } from '../store/store.ts'
import type { ReplaceableKeyring } from './keyring.ts'

export interface LoadedKeys {
  readonly revision: number
  readonly rows: readonly KeyRow[]
}

export interface KeyWatchOptions {
  /** The revision the keyring was filled at. */
  readonly revision: number
  /** Called once per outage, at its first failed look; the keyring stays as it was. */
  readonly onError: (error: unknown) => void
  /** 500 unless a test says otherwise. */
  readonly pollMs?: number
}

export interface KeyWatch {
  close(): void
}

/** Reads the keys and the revision they are at least as new as. */
export async function loadKeys(keys: KeyTable): Promise<LoadedKeys> {
  // In this order: a change in between leaves the number behind, and the next look reads again.
  const revision = await keys.revision()
  return { revision, rows: await keys.all() }
}

/** Looks at the revision every half second, the first time after that; does not keep the process alive. */
export function watchKeys(
  keys: KeyTable,
  keyring: ReplaceableKeyring,
  options: KeyWatchOptions,
): KeyWatch {
  let { revision } = options
  let closed = false
  let failing = false
  let timer = arm()

  function arm() {
    return setTimeout(look, options.pollMs ?? 500).unref()
  }

  async function look(): Promise<void> {
    try {
      await reloadIfChanged()
      failing = false
    } catch (error) {
      if (!failing && !closed) options.onError(error)
      failing = true
    }
    if (!closed) timer = arm()
  }

  async function reloadIfChanged(): Promise<void> {
    if ((await keys.revision()) === revision) return
    const loaded = await loadKeys(keys)
    if (closed) return
    keyring.replace({ stored: loaded.rows })
    revision = loaded.revision
  }

  return {
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
