// What the request path asks of the ledger: a hold before the work, a settlement after it, and nothing that waits for a disk.

import type { Nano } from '../money.ts'
import type { SpendLimit } from '../store/keys.ts'
import type { IdempotencyDone } from '../store/ledger.ts'
import type { UsageRow } from '../store/usage-row.ts'

/** Money set aside for one running request; closed exactly once. */
export interface Hold {
  readonly account: string
  readonly keyId: string
  /** Grows with `extend`. */
  readonly amountNano: Nano
}

/**
 * Why nothing was set aside. `insufficient`: the wallet does not have it. `in-flight`: it has, but running requests
 * (or a cap on what may be held at once) pin it; `closed`: admission is shut (see `Ledger.closed`).
 */
export type NoHold =
  | { readonly refused: 'insufficient' | 'in-flight' | 'closed' }
  | {
      /** The key may not spend so much more until then. */
      readonly refused: 'spend-limit'
      readonly limitNano: Nano
      readonly period: SpendLimit['period']
      /** Below 0 where more was spent. */
      readonly leftNano: Nano
      /** What is left would do, but for what requests under way hold of it. */
      readonly isHeld: boolean
      /** Unix milliseconds; null: never. */
      readonly resetsAt: number | null
    }

/** What a finished request leaves, whether it was charged or not. */
export interface Finished {
  /** `chargeNano` is the whole formula, `writeoffNano` 0n. */
  readonly row: UsageRow
  readonly capNano: Nano | null
  readonly idempotency: IdempotencyDone | null
}

export interface Ledger {
  /** At once where this node's lease covers it; else a promise of at most some 300 ms. */
  hold(account: string, keyId: string, amountNano: Nano): Hold | NoHold | Promise<Hold | NoHold>
  /** Adds to a running hold; false where the money is not there. */
  extend(hold: Hold, byNano: Nano): boolean | Promise<boolean>
  /**
   * Closes the hold (null: there was none, as with a refusal) and queues the record for the outbox. `kept` is called
   * once, when the record is as safe as the deployment's `durability` asks: before that the reply must not end.
   */
  finish(hold: Hold | null, finished: Finished, kept: (() => void) | null): void
  /** As `finish`, with the record in the outbox before this returns: for streams, whose last bytes leave at once. */
  finishNow(hold: Hold | null, finished: Finished): void
  /** Notes what a running stream has used until now, in case the process dies. Replaced by its `finish`. */
  progress(hold: Hold, finished: Finished): void
  /** Closes a hold of a request that never began. */
  release(hold: Hold): void
  /** Why no request is admitted at present, for the log and the health page; null: all is well. */
  readonly closed: string | null
}

export interface LedgerStats {
  /** Finished requests that the ledger does not have yet. */
  readonly unsettled: number
  readonly oldestUnsettledMs: number
  /** Since this process started: requests that ended, and of them those the ledger has, set aside ones included. */
  readonly finished: number
  readonly accounted: number
  /** Records that never came into the ledger, though later ones did. */
  readonly missing: number
  /** Rows settled since this process started, those its outbox held then included. */
  readonly settled: number
  readonly chargedNano: Nano
  readonly writtenOffNano: Nano
  readonly setAside: number
  /** What running requests hold. */
  readonly heldNano: Nano
  /** Leased to this process and not spent: what is free, and what is held. */
  readonly leasedNano: Nano
}
