// What requests change in the store beside money, through the ledger's worker: keys of repeated requests, responses, videos.

import type { KeyUse } from '../store/keys.ts'
import type { IdempotencyFound } from '../store/ledger.ts'
import type { ResponseChange } from '../store/responses.ts'
import type { VideoChange, VideoChanged } from '../store/video-table.ts'
import type { Holds } from './leases.ts'
import type { Hold } from './ledger.ts'
import type { IdempotencyEntry, Pruning, VideoBeginning } from './messages.ts'
import type { WorkerLink } from './worker-link.ts'

export interface LedgerChanges {
  /** Takes an `Idempotency-Key` for a request, or says who has it. Rejects where the ledger cannot be reached. */
  begin(entry: IdempotencyEntry): Promise<IdempotencyFound>
  /** Frees the key of a request that was refused before it was settled. */
  forget(account: string, key: string, requestId: string): Promise<void>
  /** Keeps and removes responses, in one transaction. Rejects where the store cannot be reached. */
  changeResponses(changes: readonly ResponseChange[]): Promise<readonly number[]>
  /**
   * Begins a video: what the hold has is set aside in the ledger until the video ends, whatever becomes of this node,
   * and the hold is closed. `insufficient`: a lease that was lost had the money. Rejects where nobody can say; then
   * the hold is closed, and what was set aside, if it was, is found with the video.
   */
  beginVideo(hold: Hold, beginning: VideoBeginning): Promise<'begun' | 'insufficient'>
  /** Notes when keys were last used. Rejects where the store cannot be reached. */
  noteKeyUses(uses: readonly KeyUse[]): Promise<void>
  /** Removes the oldest usage rows of requests that began before then; returns how many. Rejects where the store cannot be reached. */
  pruneUsage(pruning: Pruning): Promise<number>
  /** Every other change of a video. Rejects where the store cannot be reached. */
  changeVideo(change: Exclude<VideoChange, { readonly kind: 'begin' }>): Promise<VideoChanged>
}

/** Epochs count from 1. */
const noEpoch = 0

export class WorkerChanges implements LedgerChanges {
  readonly #link: WorkerLink
  readonly #leases: Holds
  readonly #epoch: () => number

  /** `epoch`: the node's own at present. */
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
    // What a lost lease had is the wallet's free money again; this epoch's lease is not charged for it.
    const epoch = this.#leases.covers(hold) ? this.#epoch() : noEpoch
    const question = { ask: 'video', epoch, change } as const
    try {
      // Doing it again changes nothing where it was done.
      const { state } = await this.#link.ask(question).catch(() => this.#link.ask(question))
      this.#leases.close(hold, state === 'insufficient' ? 0n : hold.amountNano)
      return state === 'insufficient' ? state : 'begun'
    } catch (error) {
      // It may have been taken all the same: nobody here counts on it any more.
      this.#leases.close(hold, hold.amountNano)
      throw error
    }
  }

  changeVideo(change: Exclude<VideoChange, { readonly kind: 'begin' }>): Promise<VideoChanged> {
    return this.#link.ask({ ask: 'video', epoch: this.#epoch(), change })
  }
}
