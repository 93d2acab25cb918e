// Holds of running requests against what this node has leased of each wallet: in memory, at once where the lease covers.

import type { Nano } from '../money.ts'
import { maxNano } from '../money.ts'
import { type Authority, Grants } from './grants.ts'
import type { LeaseSettings, Refusal } from './lease.ts'
import { Held, HoldTotals, Lease, mayOvertake, min, rest, Waiter } from './lease.ts'
import type { Hold, NoHold } from './ledger.ts'

interface LeasesOptions {
  readonly authority: Authority
  readonly settings: LeaseSettings
  /** A grant was rejected: whoever waited for it was refused. */
  readonly onError: (error: unknown, account: string) => void
  /** Calls back once after a time; a timer unless given. */
  readonly schedule?: (run: () => void, delayMs: number) => void
}

/** One account's lease, for tests and the health page. */
interface LeaseState {
  readonly freeNano: Nano
  readonly heldNano: Nano
  readonly holds: number
  readonly waiting: number
}

/** What requests do with the leases. */
export interface Holds {
  /** At once where the lease covers it and nobody waits before; else a promise of at most 300 ms. Throws RangeError below 0. */
  hold(account: string, keyId: string, amountNano: Nano): Hold | NoHold | Promise<Hold | NoHold>
  /** As `hold`, before new requests that wait. False where the money is not there, or the hold is closed. */
  extend(hold: Hold, byNano: Nano): boolean | Promise<boolean>
  /**
   * Ends the hold and returns what of the charge the lease covers: from the hold, then from the lease's free part.
   * What the hold does not need is free again. 0n for a hold that is closed already, or of an epoch that is over.
   */
  close(hold: Hold, chargeNano: Nano): Nano
  /** Ends the hold of a request that never began; nothing where it is closed already. */
  release(hold: Hold): void
  /** Whether the present epoch's lease has the hold's money. */
  covers(hold: Hold): boolean
}

/** What the node does with them. Closed when made: `open` when the ledger has opened the node. */
interface LeaseUpkeep {
  /** Gives back all that no request holds: another node starves. */
  recall(account: string): void
  /** The epoch is over: all leases are forgotten, and nothing is admitted until `open`. */
  fence(): void
  open(): void
  /** For good: admits no new request, gives back what is free, and the rest as holds close. Extensions still work. */
  drain(): void
  /**
   * Notes the time, on any monotonic clock, about once a second: what is not needed goes back. A call looks at up to
   * 10,000 accounts, the next one at those after them.
   */
  tick(nowMs: number): void
  /** What running requests hold, by account; those that hold nothing left out. */
  held(): ReadonlyMap<string, Nano>
  /** Grows whenever what `held` says may have changed. */
  readonly changed: number
  /** Requests that run, those that hold nothing included. */
  readonly openHolds: number
  /** Leased and not held, of all accounts. */
  readonly freeNano: Nano
  /** Accounts whose lease is looked after. */
  readonly accounts: number
  /** null where this node knows nothing of the account. */
  state(account: string): LeaseState | null
}

export type Leases = Holds & LeaseUpkeep

export function createLeases(options: LeasesOptions): Leases {
  return new NodeLeases(options)
}

const refusals: Readonly<Record<Refusal, NoHold>> = {
  insufficient: { refused: 'insufficient' },
  'in-flight': { refused: 'in-flight' },
  closed: { refused: 'closed' },
}

/** Leases one tick looks at: it must not hold up requests, however many accounts there are. */
const visitsPerTick = 10_000

class NodeLeases implements Leases {
  readonly #authority: Authority
  readonly #totals: HoldTotals
  readonly #grants: Grants
  #leases = new Map<string, Lease>()
  /** How far the ticks have come. */
  #round = this.#leases.values()
  #isOpen = false

  constructor({ authority, settings, onError, schedule = setTimeout }: LeasesOptions) {
    this.#authority = authority
    this.#totals = new HoldTotals(settings)
    this.#grants = new Grants({
      authority,
      totals: this.#totals,
      onFenced: () => this.fence(),
      onError,
      schedule,
    })
  }

  get changed(): number {
    return this.#totals.changed
  }

  get openHolds(): number {
    return this.#totals.open
  }

  get accounts(): number {
    return this.#leases.size
  }

  hold(account: string, keyId: string, amountNano: Nano): Hold | NoHold | Promise<Hold | NoHold> {
    if (amountNano < 0n) throw new RangeError(`a hold of ${amountNano}`)
    if (!this.#isOpen || this.#grants.draining) return refusals.closed
    const lease = this.#leases.get(account) ?? this.#begin(account)
    if (!this.#totals.allow(lease, keyId, amountNano)) return refusals['in-flight']
    const ahead = lease.waiters[0]
    if (
      amountNano === 0n ||
      (amountNano <= lease.freeNano && (ahead === undefined || mayOvertake(ahead, amountNano)))
    ) {
      if (ahead !== undefined) ahead.overtakenNano += amountNano
      const hold = new Held(lease, keyId)
      this.#totals.start(hold, amountNano)
      return hold
    }
    // No wallet can have it, and no database could be asked.
    if (amountNano > maxNano) return refusals.insufficient
    const hold = new Held(lease, keyId)
    return new Promise((resolve) => {
      const settle = (refusal: Refusal | null) => {
        resolve(refusal === null ? hold : refusals[refusal])
      }
      this.#grants.wait(new Waiter(hold, amountNano, 'hold', settle))
    })
  }

  extend(hold: Hold, byNano: Nano): boolean | Promise<boolean> {
    if (byNano < 0n) throw new RangeError(`an extension of ${byNano}`)
    const held = ours(hold)
    const { lease, keyId } = held
    if (!held.open || lease.fenced || !this.#totals.allow(lease, keyId, byNano)) return false
    if (byNano <= lease.freeNano) {
      this.#totals.grow(held, byNano)
      return true
    }
    if (byNano > maxNano) return false
    return new Promise((resolve) => {
      const settle = (refusal: Refusal | null) => resolve(refusal === null)
      this.#grants.wait(new Waiter(held, byNano, 'extension', settle))
    })
  }

  close(hold: Hold, chargeNano: Nano): Nano {
    if (chargeNano < 0n) throw new RangeError(`a charge of ${chargeNano}`)
    const held = ours(hold)
    if (!held.open) return 0n
    held.open = false
    const { lease } = held
    if (lease.fenced) return 0n
    this.#totals.end(held)
    const atHandNano = lease.freeNano + held.amountNano
    const fromLeaseNano = min(chargeNano, atHandNano)
    lease.freeNano = atHandNano - fromLeaseNano
    lease.spentNano += chargeNano
    if (lease.waiters.length > 0 || this.#grants.draining) this.#grants.serve(lease)
    return fromLeaseNano
  }

  release(hold: Hold): void {
    this.close(hold, 0n)
  }

  covers(hold: Hold): boolean {
    const held = ours(hold)
    return held.open && !held.lease.fenced
  }

  recall(account: string): void {
    const lease = this.#leases.get(account)
    if (lease === undefined) return
    lease.recalled = true
    // What the wallet lacks is not known any more: this adds to it.
    lease.lackingNano = null
    this.#grants.giveBack(lease, lease.freeNano)
  }

  fence(): void {
    const fenced = this.#leases
    this.#isOpen = false
    this.#leases = new Map()
    this.#round = this.#leases.values()
    this.#totals.reset()
    for (const lease of fenced.values()) {
      lease.fenced = true
      this.#grants.refuse(lease, () => true)
    }
  }

  open(): void {
    this.#isOpen = true
  }

  drain(): void {
    this.#grants.draining = true
    for (const lease of this.#leases.values()) {
      this.#grants.refuse(lease, (waiter) => !waiter.extends)
      this.#grants.giveBack(lease, lease.freeNano)
    }
  }

  tick(nowMs: number): void {
    for (let visits = 0; visits < visitsPerTick; visits += 1) {
      const { done, value: lease } = this.#round.next()
      if (done) {
        this.#round = this.#leases.values()
        return
      }
      const { surplusNano, wantNano, forget } = rest(lease, nowMs)
      this.#grants.giveBack(lease, surplusNano)
      if (wantNano > 0n) this.#grants.reserve(lease, wantNano)
      if (forget) {
        this.#leases.delete(lease.account)
        this.#authority.forget(lease.account)
      }
    }
  }

  held(): ReadonlyMap<string, Nano> {
    const held = new Map<string, Nano>()
    for (const lease of this.#leases.values())
      if (lease.heldNano > 0n) held.set(lease.account, lease.heldNano)
    return held
  }

  get freeNano(): Nano {
    let sumNano = 0n
    for (const lease of this.#leases.values()) sumNano += lease.freeNano
    return sumNano
  }

  state(account: string): LeaseState | null {
    const lease = this.#leases.get(account)
    if (lease === undefined) return null
    const { freeNano, heldNano, holds, waiters } = lease
    return { freeNano, heldNano, holds, waiting: waiters.length }
  }

  #begin(account: string): Lease {
    const lease = new Lease(account)
    this.#leases.set(account, lease)
    return lease
  }
}

function ours(hold: Hold): Held {
  if (hold instanceof Held) return hold
  throw new TypeError('a hold of another ledger')
}
