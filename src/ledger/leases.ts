// Holds of running requests against the money this node leased from each wallet: in memory, usually without waiting.

import type { Nano } from '../money.ts'
import { maxNano } from '../money.ts'
import { type Authority, Grants } from './grants.ts'
import type { LeaseSettings, Refusal } from './lease.ts'
import { Held, HoldTotals, Lease, mayOvertake, min, rest, Waiter } from './lease.ts'
import type { Hold, NoHold } from './ledger.ts'

interface LeasesOptions {
  readonly authority: Authority
  readonly settings: LeaseSettings
  /** Called when a grant was rejected; the requests that waited for it were refused. */
  readonly onError: (error: unknown, account: string) => void
  /** Calls back once after a time; `setTimeout` by default. */
  readonly schedule?: (run: () => void, delayMs: number) => void
}

/** One account's lease, for tests and the health page. */
interface LeaseState {
  readonly freeNano: Nano
  readonly heldNano: Nano
  readonly holds: number
  readonly waiting: number
}

/** The operations that requests use. */
export interface Holds {
  /** At once if the lease has the money and nobody is ahead, else a promise (at most 300 ms). RangeError below 0. */
  hold(account: string, keyId: string, amountNano: Nano): Hold | NoHold | Promise<Hold | NoHold>
  /** Like `hold`, but ahead of new requests that wait. False if the money is not available, or the hold is closed. */
  extend(hold: Hold, byNano: Nano): boolean | Promise<boolean>
  /**
   * Ends the hold and returns how much of the charge the lease covers: from the hold, then from the lease's free money.
   * What the hold does not need is free again. Returns 0n for a hold that is already closed. If the epoch is over, it is
   * what the lease covered: the ledger takes nothing from a lease that it has released.
   */
  close(hold: Hold, chargeNano: Nano): Nano
  /** Ends the hold of a request that never began; does nothing if it is already closed. */
  release(hold: Hold): void
  /** Whether the hold is open and its money is in the present epoch's lease. */
  covers(hold: Hold): boolean
}

/** The operations that the node uses. Nothing is admitted before `open`, called when the ledger has opened the node. */
interface LeaseUpkeep {
  /** Gives back all that no request holds, because another node lacks money of this account. */
  recall(account: string): void
  /** Ends the epoch: all leases are forgotten, and nothing is admitted before the next `open`. */
  fence(): void
  /** `epoch`: of the node in the ledger, for `epochOf`. */
  open(epoch?: number): void
  /** For good: admits no new request, gives back free money now and the rest as holds close. Extensions still work. */
  drain(): void
  /**
   * Advances the time, on any monotonic clock, about once a second, and gives back what is not needed. One call visits
   * up to 10,000 accounts; the next call continues after them.
   */
  tick(nowMs: number): void
  /** What running requests hold, by account, without the accounts that hold nothing. */
  held(): ReadonlyMap<string, Nano>
  /** Grows whenever the result of `held` may have changed. */
  readonly changed: number
  /** Number of running requests, including those that hold 0. */
  readonly openHolds: number
  /** Leased money that no request holds, over all accounts. */
  readonly freeNano: Nano
  /** Number of accounts that have a lease here. */
  readonly accounts: number
  /** null if this node has no lease of the account. */
  state(account: string): LeaseState | null
}

/** What the ledger is told of leases. */
interface LeaseFigures {
  /** The epoch of the lease that the hold is from. */
  epochOf(hold: Hold): number
  /** What each of these accounts has held and free here, without those for which a grant is under way. */
  counted(accounts: readonly string[]): ReadonlyMap<string, Nano>
}

export type Leases = Holds & LeaseUpkeep & LeaseFigures

export function createLeases(options: LeasesOptions): Leases {
  return new NodeLeases(options)
}

const refusals: Readonly<Record<Refusal, NoHold>> = {
  insufficient: { refused: 'insufficient' },
  'in-flight': { refused: 'in-flight' },
  closed: { refused: 'closed' },
}

/** Leases visited in one tick: it must not delay requests, however many accounts there are. */
const visitsPerTick = 10_000

class NodeLeases implements Leases {
  readonly #authority: Authority
  readonly #totals: HoldTotals
  readonly #grants: Grants
  #leases = new Map<string, Lease>()
  /** How far the ticks have gone through the leases. */
  #round = this.#leases.values()
  #isOpen = false
  #epoch = 0

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
    // No wallet can hold so much, and the database cannot represent it.
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
    if (!held.open || lease.fenced || !this.#totals.allow(lease, keyId, byNano)) {
      held.lacking = lease.fenced ? 'closed' : 'in-flight'
      return false
    }
    if (byNano <= lease.freeNano) {
      this.#totals.grow(held, byNano)
      return true
    }
    if (byNano > maxNano) return false
    return new Promise((resolve) => {
      const settle = (refusal: Refusal | null) => {
        if (refusal !== null) held.lacking = refusal
        resolve(refusal === null)
      }
      this.#grants.wait(new Waiter(held, byNano, 'extension', settle))
    })
  }

  close(hold: Hold, chargeNano: Nano): Nano {
    if (chargeNano < 0n) throw new RangeError(`a charge of ${chargeNano}`)
    const held = ours(hold)
    if (!held.open) return 0n
    held.open = false
    const { lease } = held
    if (!lease.fenced) this.#totals.end(held)
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
    // The wallet's shortage is unknown now, because this gives money back to it.
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

  epochOf(hold: Hold): number {
    return ours(hold).lease.epoch
  }

  open(epoch = 0): void {
    this.#isOpen = true
    this.#epoch = epoch
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

  counted(accounts: readonly string[]): ReadonlyMap<string, Nano> {
    const counted = new Map<string, Nano>()
    for (const account of accounts) {
      const { asks, answers, freeNano, heldNano } =
        this.#leases.get(account) ?? new Lease(account, 0)
      if (asks === answers) counted.set(account, freeNano + heldNano)
    }
    return counted
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
    const lease = new Lease(account, this.#epoch)
    this.#leases.set(account, lease)
    return lease
  }
}

function ours(hold: Hold): Held {
  if (hold instanceof Held) return hold
  throw new TypeError('a hold of another ledger')
}
