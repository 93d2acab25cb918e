// Bounds what a power cut can take: syncs the outbox's log while the ledger does not have its records yet.

import type { FileHandle } from 'node:fs/promises'
import type { SharedState } from './shared.ts'
import { SyncFailed } from './sync-failure.ts'

interface OutboxSyncOptions {
  /** The logs of both halves. */
  readonly logs: readonly Pick<FileHandle, 'datasync'>[]
  readonly state: SharedState
}

export class OutboxSync {
  readonly #options: OutboxSyncOptions
  #synced = 0

  constructor(options: OutboxSyncOptions) {
    this.#options = options
  }

  /** Rejects with `SyncFailed`, which must end the process: a second sync would say all is well when it is not. */
  async sync(): Promise<void> {
    const { logs, state } = this.#options
    const { written } = state
    if (written <= this.#synced) return
    try {
      await Promise.all(logs.map((log) => log.datasync()))
    } catch (error) {
      throw new SyncFailed(`The outbox could not be synced: ${String(error)}`, { cause: error })
    }
    this.#synced = written
  }
}
