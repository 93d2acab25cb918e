// Holds of running requests against what this node has leased of each wallet: in memory, at once where the lease covers.

import type { Nano } from '../money.ts'
import { maxNano } from '../money.ts'
import type { Grant } from '../store/ledger.ts'
import type { Refusal } from './lease.ts'
import {
  Held,
  isWorthAsking,
  judge,
  Lease,
  mayOvertake,
  min,
  pulseMs,
  request,
  rest,
  Waiter,
} from './lease.ts'
import type { Hold, NoHold } from './ledger.ts'

interface LeasesOptions {
  readonly authority: Authority
  readonly settings: LeaseSettings
  /** A grant was rejected: whoever waited for it was refused. */
  readonly onError: (error: unknown, account: string) => void
  /** Calls back once after a time; a timer unless given. */
  readonly schedule?: (run: () => void, delayMs: number) => void
}

export interface LeaseSettings {
  /** The most that requests of one key, or of one account, may hold at once on this node; null: no such bound. */
  readonly maxHeldPerKeyNano: Nano | null
  readonly maxHeldPerAccountNano: Nano | null
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
  readonly #settings: LeaseSettings
  readonly #onError: (error: unknown, account: string) => void
  readonly #schedule: (run: () => void, delayMs: number) => void
  #leases = new Map<string, Lease>()
  /** How far the ticks have come. */
  #round = this.#leases.values()
  /** Kept only where a bound per key is set. */
  #heldByKey = new Map<string, Nano>()
  #isOpen = false
  #isDraining = false
  #changed = 0
  #openHolds = 0

  constructor(options: LeasesOptions) {
    this.#authority = options.authority
    this.#settings = options.settings
    this.#onError = options.onError
    this.#schedule = options.schedule ?? setTimeout
  }

  get changed(): number {
    return this.#changed
  }

  get openHolds(): number {
    return this.#openHolds
  }

  get accounts(): number {
    return this.#leases.size
  }

  hold(account: string, keyId: string, amountNano: Nano): Hold | NoHold | Promise<Hold | NoHold> {
    if (amountNano < 0n) throw new RangeError(`a hold of ${amountNano}`)
    if (!this.#isOpen || this.#isDraining) return refusals.closed
    const lease = this.#leases.get(account) ?? this.#begin(account)
    if (this.#isCapped(lease, keyId, amountNano)) return refusals['in-flight']
    const ahead = lease.waiters[0]
    if (
      amountNano === 0n ||
      (amountNano <= lease.freeNano && (ahead === undefined || mayOvertake(ahead, amountNano)))
    ) {
      if (ahead !== undefined) ahead.overtakenNano += amountNano
      return this.#start(new Held(lease, keyId), amountNano)
    }
    // No wallet can have it, and no database could be asked.
    if (amountNano > maxNano) return refusals.insufficient
    const hold = new Held(lease, keyId)
    return new Promise((resolve) => {
      const settle = (refusal: Refusal | null) => {
        resolve(refusal === null ? hold : refusals[refusal])
      }
      this.#wait(new Waiter(hold, amountNano, 'hold', settle))
    })
  }

  extend(hold: Hold, byNano: Nano): boolean | Promise<boolean> {
    if (byNano < 0n) throw new RangeError(`an extension of ${byNano}`)
    const held = ours(hold)
    if (!held.open || held.lease.fenced || this.#isCapped(held.lease, held.keyId, byNano))
      return false
    if (byNano <= held.lease.freeNano) {
      this.#grow(held, byNano)
      return true
    }
    if (byNano > maxNano) return false
    return new Promise((resolve) => {
      this.#wait(new Waiter(held, byNano, 'extension', (refusal) => resolve(refusal === null)))
    })
  }

  close(hold: Hold, chargeNano: Nano): Nano {
    if (chargeNano < 0n) throw new RangeError(`a charge of ${chargeNano}`)
    const held = ours(hold)
    if (!held.open) return 0n
    held.open = false
    const { lease } = held
    if (lease.fenced) return 0n
    lease.holds -= 1
    this.#openHolds -= 1
    this.#count(held, -held.amountNano)
    const atHandNano = lease.freeNano + held.amountNano
    const fromLeaseNano = min(chargeNano, atHandNano)
    lease.freeNano = atHandNano - fromLeaseNano
    lease.spentNano += chargeNano
    this.#serve(lease)
    if (this.#isDraining) this.#giveBack(lease, lease.freeNano)
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
    this.#giveBack(lease, lease.freeNano)
  }

  fence(): void {
    const fenced = this.#leases
    this.#isOpen = false
    this.#leases = new Map()
    this.#round = this.#leases.values()
    this.#heldByKey = new Map()
    this.#openHolds = 0
    this.#changed += 1
    for (const lease of fenced.values()) {
      lease.fenced = true
      this.#refuse(lease, () => true)
    }
  }

  open(): void {
    this.#isOpen = true
  }

  drain(): void {
    this.#isDraining = true
    for (const lease of this.#leases.values()) {
      this.#refuse(lease, (waiter) => !waiter.extends)
      this.#giveBack(lease, lease.freeNano)
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
      this.#giveBack(lease, surplusNano)
      if (wantNano > 0n && !this.#isDraining) this.#grant(lease, 1n, wantNano, 'reserve')
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

  #isCapped(lease: Lease, keyId: string, byNano: Nano): boolean {
    const { maxHeldPerKeyNano, maxHeldPerAccountNano } = this.#settings
    if (byNano === 0n) return false
    if (maxHeldPerAccountNano !== null && lease.heldNano + byNano > maxHeldPerAccountNano)
      return true
    if (maxHeldPerKeyNano === null) return false
    return (this.#heldByKey.get(keyId) ?? 0n) + byNano > maxHeldPerKeyNano
  }

  #start(hold: Held, amountNano: Nano): Held {
    hold.lease.holds += 1
    this.#openHolds += 1
    this.#grow(hold, amountNano)
    return hold
  }

  #grow(hold: Held, byNano: Nano): void {
    hold.amountNano += byNano
    hold.lease.freeNano -= byNano
    hold.lease.used = true
    if (hold.amountNano > hold.lease.largestNano) hold.lease.largestNano = hold.amountNano
    this.#count(hold, byNano)
  }

  #count(hold: Held, byNano: Nano): void {
    hold.lease.heldNano += byNano
    this.#changed += 1
    if (this.#settings.maxHeldPerKeyNano === null) return
    const ofKeyNano = (this.#heldByKey.get(hold.keyId) ?? 0n) + byNano
    if (ofKeyNano === 0n) this.#heldByKey.delete(hold.keyId)
    else this.#heldByKey.set(hold.keyId, ofKeyNano)
  }

  #giveBack(lease: Lease, amountNano: Nano): void {
    if (amountNano <= 0n) return
    lease.freeNano -= amountNano
    this.#authority.giveBack(lease.account, amountNano)
  }

  #wait(waiter: Waiter): void {
    const { lease } = waiter.hold
    const { waiters } = lease
    // What the wallet lacked when somebody last waited says nothing of today.
    if (waiters.length === 0) lease.lackingNano = null
    const firstNew = waiter.extends ? waiters.findIndex((other) => !other.extends) : -1
    waiters.splice(firstNew === -1 ? waiters.length : firstNew, 0, waiter)
    if (isWorthAsking(lease, waiter)) this.#ask(lease)
    this.#pulseLater(lease)
  }

  /** Hands what is free to whom it is due, and refuses whom nothing can help. */
  #serve(lease: Lease): void {
    if (lease.waiters.length === 0) return
    const waiting: Waiter[] = []
    for (const waiter of lease.waiters) {
      const ahead = waiting[0]
      const decision = judge(lease, waiter, ahead)
      if (decision === 'wait') waiting.push(waiter)
      else if (decision !== 'serve') waiter.settle(decision)
      else if (this.#isCapped(lease, waiter.hold.keyId, waiter.byNano)) waiter.settle('in-flight')
      else {
        if (ahead !== undefined) ahead.overtakenNano += waiter.byNano
        if (waiter.extends) this.#grow(waiter.hold, waiter.byNano)
        else this.#start(waiter.hold, waiter.byNano)
        waiter.settle(null)
      }
    }
    lease.waiters = waiting
  }

  /** Refuses those waiters as `closed`. */
  #refuse(lease: Lease, which: (waiter: Waiter) => boolean): void {
    const refused = lease.waiters.filter(which)
    lease.waiters = lease.waiters.filter((waiter) => !which(waiter))
    for (const waiter of refused) waiter.settle('closed')
  }

  #ask(lease: Lease): void {
    if (lease.asks > lease.answers) return
    const asked = request(lease)
    if (asked === null) return
    this.#grant(lease, asked.needNano, asked.wantNano, 'request')
  }

  #grant(lease: Lease, needNano: Nano, wantNano: Nano, purpose: 'request' | 'reserve'): void {
    lease.asks += 1
    this.#authority.grant(lease.account, needNano, wantNano).then(
      (grant) => this.#granted(lease, needNano, wantNano, grant),
      (error) => this.#unreachable(lease, error, purpose),
    )
  }

  #granted(lease: Lease, needNano: Nano, wantNano: Nano, grant: Grant): void {
    lease.answers = lease.asks
    // Granted to an epoch that is over, and released with it.
    if (lease.fenced) return
    if (grant.fenced) {
      this.fence()
      return
    }
    lease.freeNano += grant.grantedNano
    lease.postedNano = grant.postedNano
    lease.elsewhereNano = grant.leasedElsewhereNano
    lease.lackingNano = lackingNano(needNano, wantNano, grant.grantedNano)
    this.#serve(lease)
    if (this.#isDraining) this.#giveBack(lease, lease.freeNano)
    if (lease.waiters.length === 0) return
    // Only a wallet that has run out is worth what a recall costs: every node then leases no more than it needs.
    if (lease.elsewhereNano > 0n && lease.lackingNano !== null) {
      this.#authority.recall(lease.account)
    }
    if (lease.waiters.some((waiter) => isWorthAsking(lease, waiter))) this.#ask(lease)
  }

  #unreachable(lease: Lease, error: unknown, purpose: 'request' | 'reserve'): void {
    lease.answers = lease.asks
    // Nobody waits for a reserve, and the worker says that the ledger is away.
    if (purpose === 'reserve' && lease.waiters.length === 0) return
    this.#refuse(lease, () => true)
    this.#onError(error, lease.account)
  }

  #pulseLater(lease: Lease): void {
    if (lease.pulsing) return
    lease.pulsing = true
    this.#schedule(() => this.#pulse(lease), pulseMs)
  }

  #pulse(lease: Lease): void {
    lease.pulsing = false
    for (const waiter of lease.waiters) waiter.pulses += 1
    this.#serve(lease)
    if (lease.waiters.length === 0) return
    this.#ask(lease)
    this.#pulseLater(lease)
  }
}

/** The wallet's free money is below this after an answer; null: it may have any amount. */
function lackingNano(needNano: Nano, wantNano: Nano, grantedNano: Nano): Nano | null {
  if (grantedNano === 0n) return needNano
  return grantedNano < wantNano ? 1n : null
}

function ours(hold: Hold): Held {
  if (hold instanceof Held) return hold
  throw new TypeError('a hold of another ledger')
}

/**
 * Calls for one account are carried out in the order they were made, each for the epoch that was open when it was made:
 * a grant must see what was given back before it, and what an earlier epoch gives back is not the present one's.
 */
interface Authority {
  /** At least `needNano` or nothing, up to `wantNano`. Rejects where the ledger cannot be reached. */
  grant(account: string, needNano: Nano, wantNano: Nano): Promise<Grant>
  /** Sends back what no request holds; never waits. */
  giveBack(account: string, amountNano: Nano): void
  /** Asks the other nodes for what they do not need. */
  recall(account: string): void
  /** Nothing of this account is held or free here any more. */
  forget(account: string): void
}
