// Limits what a power cut can destroy: syncs the outbox's log while the ledger does not have its records yet.

import type { FileHandle } from 'node:fs/promises'
import { halfOf } from '../store/sqlite-outbox.ts'
import type { SharedState } from './shared.ts'
import { SyncFailed } from './sync-failure.ts'

interface OutboxSyncOptions {
  /** The log files of both halves, in their order. */
  readonly logs: readonly Pick<FileHandle, 'datasync'>[]
  readonly state: SharedState
}

export class OutboxSync {
  readonly #options: OutboxSyncOptions
  #synced = 0
  /** The outbox's turn at the last sync. */
  #turn = -1

  constructor(options: OutboxSyncOptions) {
    this.#options = options
  }

  /** Rejects with `SyncFailed`, which must end the process: a second sync would succeed although data was lost. */
  async sync(): Promise<void> {
    const { logs, state } = this.#options
    const { written } = state
    if (written <= this.#synced) return
    // Read after `written`: an append switches halves before it publishes its sequence.
    const { turn } = state
    // Only the current half where possible: a sync flushes the disk's cache even if the file has nothing new.
    const due = turn === this.#turn ? logs.filter((_, half) => half === halfOf(turn)) : logs
    try {
      await Promise.all(due.map((log) => log.datasync()))
    } catch (error) {
      throw new SyncFailed(`The outbox could not be synced: ${String(error)}`, { cause: error })
    }
    this.#synced = written
    this.#turn = turn
  }
}
