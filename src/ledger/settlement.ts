// Writes finished requests into the ledger: retries after failures, sets refused records aside, and drops none.

import type { Nano } from '../money.ts'
import type { RecordOrigin, SetAside, Settlement, SettlementTable } from '../store/ledger.ts'
import { RowRefused } from '../store/store.ts'
import { isSyncFailure, SyncFailed } from './sync-failure.ts'

/** A record on its way into the ledger. */
export interface Entry {
  readonly settlement: Settlement
  /** The record as the outbox has it, for whoever investigates a record that was set aside. */
  readonly raw: () => string
}

interface SettlerOptions {
  readonly settlements: Pick<SettlementTable, 'settle' | 'setAside'>
  /** Waits; rejects when the settler is to stop. */
  readonly delay: (delayMs: number) => Promise<void>
  readonly nowMs: () => number
  readonly onSettled: (rows: number, chargedNano: Nano, writtenOffNano: Nano) => void
  /** The ledger cannot be written at present; the batch is tried again. */
  readonly onFailure: (error: unknown, retryMs: number) => void
  readonly onSetAside: (entry: SetAside) => void
  /** The entry could not even be set aside: what is reported here is all that is left of it. */
  readonly onLost: (entry: SetAside, from: RecordOrigin, error: unknown) => void
}

const firstRetryMs = 50
const slowestRetryMs = 2_000

export class Settler {
  readonly #options: SettlerOptions

  constructor(options: SettlerOptions) {
    this.#options = options
  }

  /**
   * Resolves when every entry is in the ledger or set aside. A refused batch is split into halves until the entries at
   * fault are found; on any other failure the batch stays whole and is retried, at most 2 s apart. Rejects with
   * `SyncFailed`, and with what `delay` rejects with.
   */
  async settle(batch: readonly Entry[]): Promise<void> {
    const [first] = batch
    if (first === undefined) return
    const settlements = batch.map(({ settlement }) => settlement)
    const refused = await this.#persist(async () => {
      const { settled, chargedNano, writtenOffNano } =
        await this.#options.settlements.settle(settlements)
      this.#options.onSettled(settled, chargedNano, writtenOffNano)
    })
    if (refused === null) return
    if (batch.length === 1) return this.#setAside(first, refused)
    const middle = batch.length >> 1
    await this.settle(batch.slice(0, middle))
    await this.settle(batch.slice(middle))
  }

  #setAside({ settlement, raw }: Entry, refused: RowRefused): Promise<void> {
    const { row, fromLeaseNano } = settlement
    const kept = { requestId: row.requestId, account: row.account, heldNano: fromLeaseNano }
    const entry = { ...kept, raw: raw(), reason: refused.message, at: this.#options.nowMs() }
    return this.keepAside(entry, settlement)
  }

  /** Resolves when the entry is set aside, with its money still held, or was reported as lost. */
  async keepAside(entry: SetAside, from: RecordOrigin): Promise<void> {
    const refused = await this.#persist(() => this.#options.settlements.setAside(entry, from))
    if (refused === null) this.#options.onSetAside(entry)
    else this.#options.onLost(entry, from, refused)
  }

  /** Repeats the work until it is done (null) or refused because of its content. */
  async #persist(work: () => Promise<void>): Promise<RowRefused | null> {
    for (let retryMs = firstRetryMs; ; retryMs = Math.min(retryMs * 2, slowestRetryMs)) {
      try {
        await work()
        return null
      } catch (error) {
        if (error instanceof RowRefused) return error
        if (isSyncFailure(error)) throw new SyncFailed(String(error), { cause: error })
        this.#options.onFailure(error, retryMs)
        await this.#options.delay(retryMs)
      }
    }
  }
}
