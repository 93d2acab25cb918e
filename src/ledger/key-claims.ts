// Asks the ledger about keys with a spend limit: reads what they spent and leases parts of their limits, one question
// per key at a time.

import { setTimeout as delay } from 'node:timers/promises'
import type { Nano } from '../money.ts'
import type { KeyClaim, SpentRange } from '../store/ledger.ts'
import type { Budget } from './key-budget.ts'
import { pulseMs } from './lease.ts'
import type { Claimed, Spent } from './messages.ts'
import { monotonicMs } from './shared.ts'

export interface KeyClaimsOptions {
  /** Returns what keys spent in ranges of time, and up to which record of this process the ledger's sums go. */
  readonly spent: (ranges: readonly SpentRange[]) => Promise<Spent>
  /** Leases more or less of a key's limit. Rejects if the ledger cannot be reached or has closed this node. */
  readonly claim: (claim: KeyClaim) => Promise<Claimed>
  /** Ends the leases of keys. Rejects as `claim` does. */
  readonly giveBack: (keyIds: readonly string[]) => Promise<unknown>
  readonly onError: (error: unknown) => void
  /** Unix milliseconds; `Date.now` by default. */
  readonly nowMs?: () => number
  /** How long after a claim that was not granted the next one follows; 60 by default. */
  readonly claimAgainMs?: number
}

export class KeyClaims {
  readonly #options: KeyClaimsOptions
  readonly #nowMs: () => number
  #failing = false

  constructor(options: KeyClaimsOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? Date.now
  }

  /** Never rejects. Requests that lack room at the same time wait for the same answer. */
  claim(budget: Budget, needNano: Nano): Promise<'answered' | 'failed'> {
    if (budget.asking !== null) return budget.asking
    return this.#ask([budget], async () => {
      const waitMs = budget.claimAgainMs - monotonicMs()
      if (waitMs > 0) await delay(waitMs)
      await this.#claimNow(budget, needNano)
      if (budget.roomNano < needNano)
        budget.claimAgainMs = monotonicMs() + (this.#options.claimAgainMs ?? pulseMs)
    })
  }

  async #claimNow(budget: Budget, needNano: Nano): Promise<void> {
    const asked = budget.startReading(this.#nowMs())
    const claim = budget.claim(asked, needNano)
    budget.isLeased = true
    const claimed = await this.#options.claim(claim)
    budget.learn(asked, claimed)
    budget.lease(claim, claimed.roomNano, asked)
  }

  /** Reduces the lease to what requests hold and have spent. */
  async giveBack(budget: Budget): Promise<void> {
    while (budget.asking !== null) await budget.asking
    // Before the ledger is asked, because its answer may get lost.
    budget.giveUpRoom()
    await this.#ask([budget], () => this.#claimNow(budget, 0n))
  }

  /** Ends the leases of keys that have nothing left here, all at once: a whole deployment may come to rest together. */
  async giveBackIdle(budgets: readonly Budget[]): Promise<void> {
    for (const budget of budgets) budget.roomNano = 0n
    await this.#ask(budgets, async () => {
      await this.#options.giveBack(budgets.map(({ keyId }) => keyId))
      for (const budget of budgets) budget.isLeased = false
    })
  }

  /** Reads what these keys have spent. Never rejects. */
  async read(budgets: readonly Budget[]): Promise<void> {
    await this.#ask(budgets, async () => {
      const asked = budgets.map((budget) => budget.startReading(this.#nowMs()))
      const { nano, reached } = await this.#options.spent(asked.flatMap(({ ranges }) => ranges))
      let place = 0
      asked.forEach((each, at) => {
        const found = nano.slice(place, place + each.ranges.length)
        place += each.ranges.length
        budgets[at]?.learn(each, { nano: found, reached })
      })
    })
  }

  /** Asks the ledger about these keys, which no other question is about meanwhile. Never rejects. */
  #ask(budgets: readonly Budget[], work: () => Promise<void>): Promise<'answered' | 'failed'> {
    const asking = this.#tried(budgets, work).finally(() => {
      for (const budget of budgets) budget.asking = null
    })
    for (const budget of budgets) budget.asking = asking
    return asking
  }

  async #tried(budgets: readonly Budget[], work: () => Promise<void>) {
    try {
      await work()
      this.#failing = false
      return 'answered'
    } catch (error) {
      for (const budget of budgets) budget.isTouched = true
      if (!this.#failing) this.#options.onError(error)
      this.#failing = true
      return 'failed'
    }
  }
}
