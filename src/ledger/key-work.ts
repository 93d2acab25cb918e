// Answers the serving thread about keys with a spend limit: what they have spent, and how much of it this node leases.

import type { KeyClaim, KeyLeaseTable, NodeRef, SpentRange } from '../store/ledger.ts'
import type { Claimed, Spent } from './messages.ts'

const notOpen = 'The node is not open in the ledger.'

interface KeyWorkOptions {
  readonly keyLeases: KeyLeaseTable
  /** The node as it is open now; null while it is not open. */
  readonly ref: () => NodeRef | null
  /** Up to which of this process's records the ledger has them. */
  readonly reached: () => number
}

/** Leaves connections for settling and leasing credit, however many keys are claimed at the same time. */
const mostClaims = 2

export class KeyWork {
  readonly #options: KeyWorkOptions
  /** Keys that this node may have a lease of. */
  readonly #leased = new Set<string>()
  #claiming = 0
  readonly #waiting: (() => void)[] = []

  constructor(options: KeyWorkOptions) {
    this.#options = options
  }

  async spent(ranges: readonly SpentRange[]): Promise<Spent> {
    // Read before the sums: what is settled meanwhile may be counted twice at first, but is never left out.
    const reached = this.#options.reached()
    return { nano: await this.#options.keyLeases.spent(ranges), reached }
  }

  /** Rejects if the ledger cannot be reached, or the epoch is over. */
  claim(epoch: number, claim: KeyClaim): Promise<Claimed> {
    return this.#inTurn(async () => {
      const ref = this.#refOf(epoch)
      const reached = this.#options.reached()
      this.#leased.add(claim.keyId)
      const claimed = await this.#options.keyLeases.claim(ref, claim)
      if (claimed === null) throw new Error(notOpen)
      if (claim.keptNano + claimed.roomNano <= 0n) this.#leased.delete(claim.keyId)
      return { ...claimed, reached }
    })
  }

  /** Rejects as `claim` does. */
  async giveBack(epoch: number, keyIds: readonly string[]): Promise<void> {
    await this.#options.keyLeases.giveBack(this.#refOf(epoch), keyIds)
    for (const keyId of keyIds) this.#leased.delete(keyId)
  }

  /** Keys of whose limit another node lacks what this one leases. */
  async recalled(ref: NodeRef): Promise<readonly string[]> {
    // Most deployments have no keys with a limit, and need no query.
    return this.#leased.size === 0 ? [] : this.#options.keyLeases.recalled(ref)
  }

  #refOf(epoch: number): NodeRef {
    const ref = this.#options.ref()
    if (ref?.epoch !== epoch) throw new Error(notOpen)
    return ref
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#claiming < mostClaims) this.#claiming += 1
    else await new Promise<void>((go) => this.#waiting.push(go))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#claiming -= 1
      else next()
    }
  }
}
