// Answers the serving thread about keys with a spend limit: what they have spent, and how much of it this node leases.

import type { KeyClaim, KeyLeaseTable, NodeRef, SpentRange } from '../store/ledger.ts'
import type { Claimed, Spent } from './messages.ts'

interface KeyWorkOptions {
  readonly keyLeases: KeyLeaseTable
  /** The node as it is open now; null while it is not open. */
  readonly ref: () => NodeRef | null
  /** Up to which of this process's records the ledger has them. */
  readonly reached: () => number
}

export class KeyWork {
  readonly #options: KeyWorkOptions
  /** Keys that this node may have a lease of. */
  readonly #leased = new Set<string>()

  constructor(options: KeyWorkOptions) {
    this.#options = options
  }

  async spent(ranges: readonly SpentRange[]): Promise<Spent> {
    // Read before the sums: what is settled meanwhile may be counted twice at first, but is never left out.
    const reached = this.#options.reached()
    return { nano: await this.#options.keyLeases.spent(ranges), reached }
  }

  /** Rejects if the ledger cannot be reached, or the epoch is over. */
  async claim(epoch: number, claim: KeyClaim): Promise<Claimed> {
    const ref = this.#options.ref()
    const reached = this.#options.reached()
    if (ref?.epoch === epoch) {
      this.#leased.add(claim.keyId)
      const claimed = await this.#options.keyLeases.claim(ref, claim)
      if (claimed !== null) {
        if (claim.keptNano + claimed.roomNano <= 0n) this.#leased.delete(claim.keyId)
        return { ...claimed, reached }
      }
    }
    throw new Error('The node is not open in the ledger.')
  }

  /** Keys of whose limit another node lacks what this one leases. */
  async recalled(ref: NodeRef): Promise<readonly string[]> {
    // Most deployments have no keys with a limit, and need no query.
    return this.#leased.size === 0 ? [] : this.#options.keyLeases.recalled(ref)
  }
}
