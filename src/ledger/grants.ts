// Money that comes to a lease and leaves it: grants asked for those who wait, who is served, and what goes back.

import type { Nano } from '../money.ts'
import type { Grant, GrantSize } from '../store/ledger.ts'
import type { HoldTotals, Lease, Waiter } from './lease.ts'
import { isWorthAsking, judge, pulseMs, request } from './lease.ts'

/**
 * Calls for one account are carried out in the order they were made, each for the epoch that was open when it was made:
 * a grant must see what was given back before it, and what an earlier epoch gives back is not the present one's.
 */
export interface Authority {
  /** Rejects where the ledger cannot be reached. */
  grant(account: string, size: GrantSize): Promise<Grant>
  /** Sends back what no request holds; never waits. */
  giveBack(account: string, amountNano: Nano): void
  /** Asks the other nodes for what they do not need. */
  recall(account: string): void
  /** Nothing of this account is held or free here any more. */
  forget(account: string): void
}

interface GrantsOptions {
  readonly authority: Authority
  readonly totals: HoldTotals
  /** The ledger has ended this epoch. */
  readonly onFenced: () => void
  readonly onError: (error: unknown, account: string) => void
  readonly schedule: (run: () => void, delayMs: number) => void
}

export class Grants {
  readonly #options: GrantsOptions
  /** Whatever comes free goes back, and nothing is reserved. */
  draining = false

  constructor(options: GrantsOptions) {
    this.#options = options
  }

  giveBack(lease: Lease, amountNano: Nano): void {
    if (amountNano <= 0n) return
    lease.freeNano -= amountNano
    lease.gaveBackSinceAsk = true
    this.#options.authority.giveBack(lease.account, amountNano)
  }

  /** Queues it, and asks the ledger for what it lacks. */
  wait(waiter: Waiter): void {
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
  serve(lease: Lease): void {
    const { totals } = this.#options
    const waiting: Waiter[] = []
    for (const waiter of lease.waiters) {
      const ahead = waiting[0]
      const decision = judge(lease, waiter, ahead)
      if (decision === 'wait') waiting.push(waiter)
      else if (decision !== 'serve') waiter.settle(decision)
      else if (!totals.allow(lease, waiter.hold.keyId, waiter.byNano)) waiter.settle('in-flight')
      else {
        if (ahead !== undefined) ahead.overtakenNano += waiter.byNano
        if (waiter.extends) totals.grow(waiter.hold, waiter.byNano)
        else totals.start(waiter.hold, waiter.byNano)
        waiter.settle(null)
      }
    }
    lease.waiters = waiting
    if (this.draining) this.giveBack(lease, lease.freeNano)
  }

  /** Refuses those waiters as `closed`. */
  refuse(lease: Lease, which: (waiter: Waiter) => boolean): void {
    const refused = lease.waiters.filter(which)
    lease.waiters = lease.waiters.filter((waiter) => !which(waiter))
    for (const waiter of refused) waiter.settle('closed')
  }

  /** For the next requests: nobody waits for it. */
  reserve(lease: Lease, wantNano: Nano): void {
    const size = { needNano: 1n, wantNano: 1n, spareNano: wantNano }
    if (!this.draining) this.#grant(lease, size, 'reserve')
  }

  #ask(lease: Lease): void {
    if (lease.asks > lease.answers) return
    const asked = request(lease)
    if (asked === null) return
    this.#grant(lease, asked, 'request')
  }

  #grant(lease: Lease, size: GrantSize, purpose: 'request' | 'reserve'): void {
    lease.asks += 1
    lease.gaveBackSinceAsk = false
    this.#options.authority.grant(lease.account, size).then(
      (grant) => this.#granted(lease, size, grant),
      (error) => this.#unreachable(lease, error, purpose),
    )
  }

  #granted(lease: Lease, size: GrantSize, grant: Grant): void {
    lease.answers = lease.asks
    // Granted to an epoch that is over, and released with it.
    if (lease.fenced) return
    if (grant.fenced) {
      this.#options.onFenced()
      return
    }
    lease.freeNano += grant.grantedNano
    lease.postedNano = grant.postedNano
    lease.elsewhereNano = grant.leasedElsewhereNano
    lease.lackingNano = lease.gaveBackSinceAsk ? null : lackingNano(size, grant.grantedNano)
    this.serve(lease)
    if (lease.waiters.length === 0) return
    // Only a wallet that has run out is worth what a recall costs: every node then leases no more than it needs.
    if (lease.elsewhereNano > 0n && lease.lackingNano !== null) {
      this.#options.authority.recall(lease.account)
    }
    if (lease.waiters.some((waiter) => isWorthAsking(lease, waiter))) this.#ask(lease)
  }

  #unreachable(lease: Lease, error: unknown, purpose: 'request' | 'reserve'): void {
    lease.answers = lease.asks
    // Nobody waits for a reserve, and the worker says that the ledger is away.
    if (purpose === 'reserve' && lease.waiters.length === 0) return
    this.refuse(lease, () => true)
    this.#options.onError(error, lease.account)
  }

  #pulseLater(lease: Lease): void {
    if (lease.pulsing) return
    lease.pulsing = true
    this.#options.schedule(() => this.#pulse(lease), pulseMs)
  }

  #pulse(lease: Lease): void {
    lease.pulsing = false
    for (const waiter of lease.waiters) waiter.pulses += 1
    this.serve(lease)
    if (lease.waiters.length === 0) return
    this.#ask(lease)
    this.#pulseLater(lease)
  }
}

/** The wallet's free money is below this after an answer; null: it may have any amount. */
function lackingNano({ needNano, wantNano }: GrantSize, grantedNano: Nano): Nano | null {
  if (grantedNano === 0n) return needNano
  return grantedNano < wantNano ? 1n : null
}
