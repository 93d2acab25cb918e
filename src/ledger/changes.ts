// What requests change in the store beside money, through the ledger's worker: Idempotency-Keys, responses, videos.

import type { KeyUse } from '../store/keys.ts'
import type { IdempotencyFound } from '../store/ledger.ts'
import type { ResponseChange } from '../store/responses.ts'
import type { VideoChange, VideoChanged } from '../store/video-table.ts'
import type { Holds } from './leases.ts'
import type { Hold } from './ledger.ts'
import type { IdempotencyEntry, Pruning, VideoBeginning } from './messages.ts'
import type { WorkerLink } from './worker-link.ts'

export interface LedgerChanges {
  /** Reserves an `Idempotency-Key` for a request, or returns who has it. Rejects if the ledger cannot be reached. */
  begin(entry: IdempotencyEntry): Promise<IdempotencyFound>
  /** Frees the `Idempotency-Key` of a request that was refused before it was settled. */
  forget(account: string, key: string, requestId: string): Promise<void>
  /** Stores and deletes responses, in one transaction. Rejects if the store cannot be reached. */
  changeResponses(changes: readonly ResponseChange[]): Promise<readonly number[]>
  /**
   * Begins a video: the amount of the hold is set aside in the ledger until the video ends, whatever happens to this
   * node, and the hold is closed. `insufficient`: the money was in a lease that was lost. Rejects if the outcome is
   * unknown; then the hold is closed, and money that was set aside nevertheless is found with the video.
   */
  beginVideo(hold: Hold, beginning: VideoBeginning): Promise<'begun' | 'insufficient'>
  /** Records when keys were last used. Rejects if the store cannot be reached. */
  noteKeyUses(uses: readonly KeyUse[]): Promise<void>
  /** Deletes the oldest usage rows of requests that began before a time; returns how many. Rejects as `noteKeyUses`. */
  pruneUsage(pruning: Pruning): Promise<number>
  /** Every change of a video other than its beginning. Rejects if the store cannot be reached. */
  changeVideo(change: Exclude<VideoChange, { readonly kind: 'begin' }>): Promise<VideoChanged>
}

/** Matches no epoch of a node, as epochs count from 1. */
const noEpoch = 0

export class WorkerChanges implements LedgerChanges {
  readonly #link: WorkerLink
  readonly #leases: Holds
  readonly #epoch: () => number

  /** `epoch`: returns the node's present epoch. */
  constructor(link: WorkerLink, leases: Holds, epoch: () => number) {
    this.#link = link
    this.#leases = leases
    this.#epoch = epoch
  }

  begin(entry: IdempotencyEntry): Promise<IdempotencyFound> {
    return this.#link.ask({ ask: 'begin', entry })
  }

  async forget(account: string, key: string, requestId: string): Promise<void> {
    await this.#link.ask({ ask: 'forget', account, key, requestId })
  }

  changeResponses(changes: readonly ResponseChange[]): Promise<readonly number[]> {
    return this.#link.ask({ ask: 'keep', changes })
  }

  async noteKeyUses(uses: readonly KeyUse[]): Promise<void> {
    await this.#link.ask({ ask: 'used', uses })
  }

  pruneUsage(pruning: Pruning): Promise<number> {
    return this.#link.ask({ ask: 'prune', ...pruning })
  }

  async beginVideo(hold: Hold, beginning: VideoBeginning): Promise<'begun' | 'insufficient'> {
    const row = { ...beginning.row, heldNano: hold.amountNano }
    const change = { kind: 'begin', row, idempotency: beginning.idempotency } as const
    // The money of a lost lease is free in the wallet again, so this epoch's lease is not charged for it.
    const epoch = this.#leases.covers(hold) ? this.#epoch() : noEpoch
    const question = { ask: 'video', epoch, change } as const
    try {
      // The question may be sent twice: a beginning that is already stored changes nothing.
      const { state } = await this.#link.ask(question).catch(() => this.#link.ask(question))
      this.#leases.close(hold, state === 'insufficient' ? 0n : hold.amountNano)
      return state === 'insufficient' ? state : 'begun'
    } catch (error) {
      // The money may have been taken nevertheless, so this node no longer counts it as free.
      this.#leases.close(hold, hold.amountNano)
      throw error
    }
  }

  changeVideo(change: Exclude<VideoChange, { readonly kind: 'begin' }>): Promise<VideoChanged> {
    return this.#link.ask({ ask: 'video', epoch: this.#epoch(), change })
  }
}
