// Enforces the keys' spend limits on this node, within what it has leased of them from the ledger.

import type { Nano } from '../money.ts'
import type { SpendLimit, SpendLimits } from '../store/keys.ts'
import { Budget } from './key-budget.ts'
import { KeyClaims, type KeyClaimsOptions } from './key-claims.ts'
import { idleMs } from './lease.ts'
import type { Holds } from './leases.ts'
import type { Hold, NoHold } from './ledger.ts'
import { monotonicMs } from './shared.ts'

interface KeyBudgetsOptions extends KeyClaimsOptions {
  readonly holds: Holds
  /** The spend limits of keys as they are at the moment. */
  readonly limits: () => SpendLimits
  /** The number of the record of the request that is ending now. */
  readonly recordNumber: () => number
  /** How long a key is unused before its lease is given back; a minute by default. */
  readonly idleMs?: number
  /** A second by default. */
  readonly longestWaitMs?: number
}

/** Longest time a request waits for the ledger, or for what other nodes lease. */
const longestWaitMs = 1_000

interface HeldOfKey {
  readonly budget: Budget
  /** The budget's epoch when the hold began. */
  readonly epoch: number
  nano: Nano
}

/** Wraps the holds of all keys; keys without a limit pass through unchecked. */
export class KeyBudgets implements Holds {
  readonly #options: KeyBudgetsOptions
  readonly #holds: Holds
  readonly #claims: KeyClaims
  readonly #nowMs: () => number
  readonly #budgets = new Map<string, Budget>()
  readonly #held = new Map<Hold, HeldOfKey>()

  constructor(options: KeyBudgetsOptions) {
    this.#options = options
    this.#holds = options.holds
    this.#claims = new KeyClaims(options)
    this.#nowMs = options.nowMs ?? Date.now
  }

  /** Whether this node may lease part of a key's limit. */
  get hasLeases(): boolean {
    for (const { isLeased } of this.#budgets.values()) if (isLeased) return true
    return false
  }

  hold(account: string, keyId: string, amountNano: Nano): Hold | NoHold | Promise<Hold | NoHold> {
    const limit = this.#options.limits().get(keyId)
    if (limit === undefined) return this.#holds.hold(account, keyId, amountNano)
    const budget = this.#budgetOf(keyId, limit)
    budget.isTouched = true
    const taken = this.#take(budget, amountNano)
    if (taken instanceof Promise)
      return taken.then((refusal) => refusal ?? this.#holdTaken(budget, amountNano))
    return taken ?? this.#holdTaken(budget, amountNano)
  }

  extend(hold: Hold, byNano: Nano): boolean | Promise<boolean> {
    const held = this.#held.get(hold)
    if (held === undefined) return this.#holds.extend(hold, byNano)
    const limit = this.#options.limits().get(held.budget.keyId)
    // A request of a key that was disabled or deleted meanwhile keeps to the last limit.
    if (limit !== undefined) held.budget.change(limit)
    const taken = this.#take(held.budget, byNano)
    const extend = (refusal: NoHold | null) => {
      if (refusal === null) return this.#extendTaken(hold, held, byNano)
      hold.lacking = refusal.refused
      return false
    }
    return taken instanceof Promise ? taken.then(extend) : extend(taken)
  }

  close(hold: Hold, chargeNano: Nano): Nano {
    const held = this.#held.get(hold)
    if (held !== undefined) {
      const { budget, epoch, nano } = held
      this.#held.delete(hold)
      budget.isTouched = true
      const ended = { number: this.#options.recordNumber(), nano: chargeNano }
      budget.end(epoch, nano, chargeNano > 0n ? ended : null)
    }
    return this.#holds.close(hold, chargeNano)
  }

  release(hold: Hold): void {
    this.close(hold, 0n)
  }

  covers(hold: Hold): boolean {
    return this.#holds.covers(hold)
  }

  /** Gives back what no request of this key holds, because another node lacks it. */
  recall(keyId: string): void {
    const budget = this.#budgets.get(keyId)
    if (budget !== undefined) void this.#claims.giveBack(budget)
  }

  /** Ends the epoch: the ledger has ended all leases of this node, or will. */
  fence(): void {
    for (const budget of this.#budgets.values()) budget.fence()
  }

  /** Reads the figures of keys used since the last reading, and gives back idle leases. Called about twice a second. */
  refresh(): void {
    const limits = this.#options.limits()
    const nowMs = monotonicMs()
    const used: Budget[] = []
    const idle: Budget[] = []
    for (const [keyId, budget] of this.#budgets) {
      if (!budget.isIdle) budget.usedAtMs = nowMs
      if (budget.asking !== null) continue
      const isLimited = limits.has(keyId)
      if (!budget.isIdle) {
        if (isLimited) used.push(budget)
        else this.#reduce(budget)
      } else if (!isLimited || nowMs - budget.usedAtMs > (this.#options.idleMs ?? idleMs)) {
        if (budget.isLeased) idle.push(budget)
        else this.#budgets.delete(keyId)
      }
    }
    if (used.length > 0) void this.#claims.read(used)
    if (idle.length > 0) void this.#claims.giveBackIdle(idle)
  }

  #budgetOf(keyId: string, limit: SpendLimit & { readonly account: string }): Budget {
    let budget = this.#budgets.get(keyId)
    if (budget === undefined) {
      budget = new Budget(keyId, limit)
      this.#budgets.set(keyId, budget)
    }
    budget.change(limit)
    return budget
  }

  /** Sets an amount aside within the limit and the lease; null if that is done, otherwise why not. */
  #take(budget: Budget, byNano: Nano): NoHold | null | Promise<NoHold | null> {
    budget.turn(this.#nowMs())
    const taken = budget.take(byNano)
    if (taken === 'taken') return null
    return taken === 'short' ? this.#takeLater(budget, byNano) : taken
  }

  /** Claims what the lease lacks, again and again while other nodes have it. */
  async #takeLater(budget: Budget, byNano: Nano): Promise<NoHold | null> {
    const late = Promise.withResolvers<'late'>()
    const timer = setTimeout(
      () => late.resolve('late'),
      this.#options.longestWaitMs ?? longestWaitMs,
    )
    let isAnswered = false
    try {
      for (;;) {
        const outcome = await Promise.race([this.#claims.claim(budget, byNano), late.promise])
        isAnswered ||= outcome === 'answered'
        budget.turn(this.#nowMs())
        const taken = budget.take(byNano)
        if (taken !== 'short') return taken === 'taken' ? null : taken
        if (outcome !== 'answered')
          return isAnswered ? budget.refusal(byNano) : { refused: 'closed' }
      }
    } finally {
      clearTimeout(timer)
    }
  }

  #holdTaken(budget: Budget, amountNano: Nano): Hold | NoHold | Promise<Hold | NoHold> {
    const { epoch } = budget
    const keep = (result: Hold | NoHold): Hold | NoHold => {
      if ('refused' in result) budget.end(epoch, amountNano)
      else this.#held.set(result, { budget, epoch, nano: amountNano })
      return result
    }
    const held = this.#holds.hold(budget.account, budget.keyId, amountNano)
    return held instanceof Promise ? held.then(keep) : keep(held)
  }

  #extendTaken(hold: Hold, held: HeldOfKey, byNano: Nano): boolean | Promise<boolean> {
    held.nano += byNano
    const undo = (extended: boolean) => {
      // A hold that was closed meanwhile has already given back its whole amount.
      if (!extended && this.#held.get(hold) === held) {
        held.nano -= byNano
        held.budget.end(held.epoch, byNano)
      }
      return extended
    }
    if (this.#held.get(hold) !== held) {
      // It was closed while the lease was claimed, before this amount was part of it.
      held.budget.end(held.epoch, byNano)
      return false
    }
    const extended = this.#holds.extend(hold, byNano)
    return extended instanceof Promise ? extended.then(undo) : undo(extended)
  }

  /** Its key has no limit any more: what its last requests do not need is given back. */
  #reduce(budget: Budget): void {
    if (budget.isLeased) void this.#claims.giveBack(budget)
    else if (budget.heldNano === 0n) this.#budgets.delete(budget.keyId)
  }
}
