// What the holds of this process ask of whoever keeps the ledger: across a thread in production, in memory in tests.

import type { Nano } from '../money.ts'
import type { Grant } from '../store/ledger.ts'

/**
 * Calls for one account are carried out in the order they were made, each for the epoch that was open when it was made:
 * a grant must see what was given back before it, and what an earlier epoch gives back is not the present one's.
 */
export interface Authority {
  /** At least `needNano` or nothing, up to `wantNano`. Rejects where the ledger cannot be reached. */
  grant(account: string, needNano: Nano, wantNano: Nano): Promise<Grant>
  /** Sends back what no request holds; never waits. */
  giveBack(account: string, amountNano: Nano): void
  /** Asks the other nodes for what they do not need. */
  recall(account: string): void
  /** Nothing of this account is held or free here any more. */
  forget(account: string): void
}
