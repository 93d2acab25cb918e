// Moves money between leases and the ledger: asks for grants, serves waiting requests, and gives back what is free.

import type { Nano } from '../money.ts'
import type { Grant, GrantSize } from '../store/ledger.ts'
import type { HoldTotals, Lease, Waiter } from './lease.ts'
import { isWorthAsking, judge, pulseMs, request } from './lease.ts'

/**
 * Calls for one account are carried out in the order they were made, each for the epoch that was open when it was made:
 * a grant must see the money given back before it, and money given back by an earlier epoch does not belong to the
 * present one.
 */
export interface Authority {
  /** Rejects if the ledger cannot be reached. */
  grant(account: string, size: GrantSize): Promise<Grant>
  /** Returns money that no request holds to the wallet; does not wait for the ledger. */
  giveBack(account: string, amountNano: Nano): void
  /** Asks the other nodes to give back what they do not need. */
  recall(account: string): void
  /** Called when this node neither holds nor has free any money of the account. */
  forget(account: string): void
}

interface GrantsOptions {
  readonly authority: Authority
  readonly totals: HoldTotals
  /** Called when the ledger reports that it has ended this epoch. */
  readonly onFenced: () => void
  readonly onError: (error: unknown, account: string) => void
  readonly schedule: (run: () => void, delayMs: number) => void
}

export class Grants {
  readonly #options: GrantsOptions
  /** While the node drains, free money goes back to the wallet at once, and no reserve is requested. */
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

  /** Queues the waiter, and asks the ledger for the money it lacks. */
  wait(waiter: Waiter): void {
    const { lease } = waiter.hold
    const { waiters } = lease
    // The wallet's shortage when a request last waited may be out of date.
    if (waiters.length === 0) lease.lackingNano = null
    const firstNew = waiter.extends ? waiters.findIndex((other) => !other.extends) : -1
    waiters.splice(firstNew === -1 ? waiters.length : firstNew, 0, waiter)
    if (isWorthAsking(lease, waiter)) this.#ask(lease)
    this.#pulseLater(lease)
  }

  /** Gives free money to the waiters in turn, and refuses those that no further money could help. */
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

  /** Refuses the selected waiters as `closed`. */
  refuse(lease: Lease, which: (waiter: Waiter) => boolean): void {
    const refused = lease.waiters.filter(which)
    lease.waiters = lease.waiters.filter((waiter) => !which(waiter))
    for (const waiter of refused) waiter.settle('closed')
  }

  /** Requests money for future requests; no waiter depends on it. */
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
    // The grant was made to an epoch that is over, and was released with it.
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
    // A recall makes every node lease only what it needs, so it is worth its cost only when the wallet has run out.
    if (lease.elsewhereNano > 0n && lease.lackingNano !== null) {
      this.#options.authority.recall(lease.account)
    }
    if (lease.waiters.some((waiter) => isWorthAsking(lease, waiter))) this.#ask(lease)
  }

  #unreachable(lease: Lease, error: unknown, purpose: 'request' | 'reserve'): void {
    lease.answers = lease.asks
    // No waiter depends on a reserve, and the worker logs that the ledger is unreachable.
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

/** After this answer the wallet's free money is below the returned amount; null: the answer does not limit it. */
function lackingNano({ needNano, wantNano }: GrantSize, grantedNano: Nano): Nano | null {
  if (grantedNano === 0n) return needNano
  return grantedNano < wantNano ? 1n : null
}
