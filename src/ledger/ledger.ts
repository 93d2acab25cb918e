// What the request path asks of the ledger: a hold before the work, a settlement after it, without waiting for a disk.

import type { Nano } from '../money.ts'
import type { SpendLimit } from '../store/keys.ts'
import type { IdempotencyDone } from '../store/ledger.ts'
import type { UsageRow } from '../store/usage-row.ts'

/** Money set aside for one running request; closed exactly once. */
export interface Hold {
  readonly account: string
  readonly keyId: string
  readonly amountNano: Nano
  /** Why it could not be extended the last time that this was refused. */
  lacking?: NoHold['refused']
}

/**
 * Why nothing was set aside. `insufficient`: the wallet does not have the money. `in-flight`: it does, but running
 * requests hold it, or a limit on held money is reached. `closed`: admission is closed (see `Ledger.closed`).
 */
export type NoHold =
  | { readonly refused: 'insufficient' | 'in-flight' | 'closed' }
  | {
      /** The key may not spend that much more before `resetsAt`. */
      readonly refused: 'spend-limit'
      readonly limitNano: Nano
      readonly period: SpendLimit['period']
      /** Negative if more was spent than the limit. */
      readonly leftNano: Nano
      /** What is left would suffice if running requests did not hold part of it. */
      readonly isHeld: boolean
      /** Unix milliseconds; null: the limit never resets. */
      readonly resetsAt: number | null
    }

/** What is recorded of a finished request, whether it was charged or not. */
export interface Finished {
  /** `chargeNano` is the full computed charge, before `capNano`; `writeoffNano` is 0n. */
  readonly row: UsageRow
  readonly capNano: Nano | null
  readonly idempotency: IdempotencyDone | null
}

export interface Ledger {
  /** Returns at once if this node's lease has the money; otherwise a promise, of at most about 300 ms. */
  hold(account: string, keyId: string, amountNano: Nano): Hold | NoHold | Promise<Hold | NoHold>
  /** Adds to an open hold; false if the money is not available. */
  extend(hold: Hold, byNano: Nano): boolean | Promise<boolean>
  /**
   * Closes the hold (null: there was none, as with a refusal) and queues the record for the outbox. `kept` is called
   * once, when the record is as safe as the deployment's `durability` asks; the reply must not end before that.
   */
  finish(hold: Hold | null, finished: Finished, kept: (() => void) | null): void
  /** Like `finish`, but the record is in the outbox on return: for streams, whose last bytes leave at once. */
  finishNow(hold: Hold | null, finished: Finished): void
  /**
   * Records what a running stream has used so far, in case the process dies; committed on return, or shortly after where
   * the deployment allows it. `finish` replaces it.
   */
  progress(hold: Hold, finished: Finished): void
  /** Closes the hold of a request that never began. */
  release(hold: Hold): void
  /** Why no request is admitted at present, for the log and the health page; null: requests are admitted. */
  readonly closed: string | null
}

export interface LedgerStats {
  /** Finished requests that are not in the ledger yet. */
  readonly unsettled: number
  readonly oldestUnsettledMs: number
  /** Since this process started: requests that ended, and how many of them are in the ledger or set aside there. */
  readonly finished: number
  readonly accounted: number
  /** Records that did not reach the ledger although later ones did. */
  readonly missing: number
  /** Rows settled since this process started, including those its outbox held at the start. */
  readonly settled: number
  readonly chargedNano: Nano
  readonly writtenOffNano: Nano
  readonly setAside: number
  readonly heldNano: Nano
  /** Leased to this process and not spent: free and held money. */
  readonly leasedNano: Nano
}
