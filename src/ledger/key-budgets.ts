// Enforces the keys' spend limits, from what the ledger has settled, what ended here since then, and what runs now.

import type { Nano } from '../money.ts'
import type { SpendLimit, SpendLimits } from '../store/keys.ts'
import type { Holds } from './leases.ts'
import type { Hold, NoHold } from './ledger.ts'
import type { Spent, SpentRange } from './messages.ts'
import { monotonicMs } from './shared.ts'
import { periodAt } from './spend-period.ts'

interface KeyBudgetsOptions {
  readonly holds: Holds
  /** The spend limits of keys as they are at the moment. */
  readonly limits: () => SpendLimits
  /** Returns what keys spent in ranges of time, and up to which record of this process the ledger's sums go. */
  readonly spent: (ranges: readonly SpentRange[]) => Promise<Spent>
  /** The number of the record of the request that is ending now. */
  readonly recordNumber: () => number
  readonly onError: (error: unknown) => void
  /** Unix milliseconds; `Date.now` by default. */
  readonly nowMs?: () => number
}

/** A figure older than this is read again before a request is judged by it. */
const staleMs = 5_000
/** Longest time a request waits for the ledger's figure; after that the last known figure counts. */
const longestReadMs = 1_000
/** The sum of older spending (`base`) is read again this often, because a record may arrive late. */
const baseMs = 600_000
const recentMs = 2 * 3_600_000
const quarterMs = 900_000
/** How many keys that have not been used yet are read at each refresh. */
const readAhead = 100

const closedHold: NoHold = { refused: 'closed' }

interface Ended {
  /** The number of its record in the outbox. */
  readonly number: number
  readonly nano: Nano
}

class Budget {
  readonly keyId: string
  limit: SpendLimit & { readonly account: string }
  startMs = -1
  endMs: number | null = -1
  /** Spending before a moment for which no more records are likely to arrive. */
  base: { readonly untilMs: number; readonly nano: Nano; readonly readAtMs: number } | null = null
  /** Spending in the ledger since `base.untilMs`, or since the period began where there is no base. */
  recentNano: Nano = 0n
  /** Requests that ended here and may be missing from the ledger's sums. */
  unsettled: Ended[] = []
  unsettledNano: Nano = 0n
  /** What running requests of this key hold on this node. */
  heldNano: Nano = 0n
  isKnown = false
  /** Monotonic time of the last reading, or of the last attempt at one that timed out. */
  lookedAtMs = Number.NEGATIVE_INFINITY
  isTouched = false
  /** The reading under way: one at a time, so that an older answer never replaces a newer one. */
  reading: Promise<void> | null = null

  constructor(keyId: string, limit: Budget['limit']) {
    this.keyId = keyId
    this.limit = limit
  }

  /** Discards the sums, because another period needs another sum. */
  forget(): void {
    this.startMs = -1
    this.isKnown = false
    this.lookedAtMs = Number.NEGATIVE_INFINITY
  }

  /** Moves on to the current period; at the start of a new one nothing is spent. */
  turn(nowMs: number): void {
    if (this.startMs >= 0 && (this.endMs === null || nowMs < this.endMs)) return
    const { startMs, endMs } = periodAt(this.limit, nowMs)
    this.startMs = startMs
    this.endMs = endMs
    this.base = null
    this.recentNano = 0n
  }

  get spentNano(): Nano {
    return (this.base?.nano ?? 0n) + this.recentNano + this.unsettledNano
  }

  end(ended: Ended): void {
    this.unsettled.push(ended)
    this.unsettledNano += ended.nano
  }

  settledUpTo(reached: number): void {
    this.unsettled = this.unsettled.filter(({ number }) => number > reached)
    this.unsettledNano = this.unsettled.reduce((sum, { nano }) => sum + nano, 0n)
  }

  /** The ranges to ask the ledger for; the base's range comes last where it is due. */
  ranges(nowMs: number): readonly SpentRange[] {
    const { keyId, startMs, base } = this
    const { account } = this.limit
    const range = (sinceMs: number, untilMs: number | null) => ({
      keyId,
      account,
      sinceMs,
      untilMs,
    })
    if (base !== null && nowMs - base.readAtMs < baseMs) return [range(base.untilMs, null)]
    const untilMs = Math.floor((nowMs - recentMs) / quarterMs) * quarterMs
    if (untilMs <= startMs) return [range(startMs, null)]
    return [range(untilMs, null), range(startMs, untilMs)]
  }

  take(
    ranges: readonly SpentRange[],
    [recentNano = 0n, baseNano]: readonly Nano[],
    nowMs: number,
  ): void {
    const untilMs = ranges[1]?.untilMs
    if (baseNano !== undefined && untilMs != null)
      this.base = { untilMs, nano: baseNano, readAtMs: nowMs }
    this.recentNano = recentNano
    this.isKnown = true
  }
}

/** Wraps the holds of all keys; keys without a limit pass through unchecked. */
export class KeyBudgets implements Holds {
  readonly #options: KeyBudgetsOptions
  readonly #holds: Holds
  readonly #nowMs: () => number
  readonly #budgets = new Map<string, Budget>()
  readonly #held = new Map<Hold, { readonly budget: Budget; nano: Nano }>()
  #failing = false

  constructor(options: KeyBudgetsOptions) {
    this.#options = options
    this.#holds = options.holds
    this.#nowMs = options.nowMs ?? Date.now
  }

  hold(account: string, keyId: string, amountNano: Nano): Hold | NoHold | Promise<Hold | NoHold> {
    const limit = this.#options.limits().get(keyId)
    if (limit === undefined) return this.#holds.hold(account, keyId, amountNano)
    const budget = this.#budgetOf(keyId, limit)
    budget.isTouched = true
    if (monotonicMs() - budget.lookedAtMs < staleMs) return this.#holdWithin(budget, amountNano)
    return this.#readInTime(budget).then(() => this.#holdWithin(budget, amountNano))
  }

  extend(hold: Hold, byNano: Nano): boolean | Promise<boolean> {
    const held = this.#held.get(hold)
    if (held === undefined) return this.#holds.extend(hold, byNano)
    if (this.#refusal(held.budget, byNano) !== null) return false
    const take = (nano: Nano) => {
      held.nano += nano
      // A hold that was closed meanwhile has already given back its amount.
      if (this.#held.get(hold) === held) held.budget.heldNano += nano
    }
    take(byNano)
    const undo = (extended: boolean) => {
      if (!extended) take(-byNano)
      return extended
    }
    const extended = this.#holds.extend(hold, byNano)
    return extended instanceof Promise ? extended.then(undo) : undo(extended)
  }

  close(hold: Hold, chargeNano: Nano): Nano {
    const held = this.#held.get(hold)
    if (held !== undefined) {
      const { budget, nano } = held
      this.#held.delete(hold)
      budget.heldNano -= nano
      budget.isTouched = true
      if (chargeNano > 0n) budget.end({ number: this.#options.recordNumber(), nano: chargeNano })
    }
    return this.#holds.close(hold, chargeNano)
  }

  release(hold: Hold): void {
    this.close(hold, 0n)
  }

  covers(hold: Hold): boolean {
    return this.#holds.covers(hold)
  }

  /** Reads the figures of keys used since the last reading, and of some never read. Called about twice a second. */
  refresh(): void {
    const limits = this.#options.limits()
    for (const [keyId, budget] of this.#budgets) {
      if (!limits.has(keyId) && budget.heldNano === 0n) this.#budgets.delete(keyId)
    }
    const unread: Budget[] = []
    if (this.#budgets.size < limits.size) {
      for (const [keyId, limit] of limits) {
        if (unread.length === readAhead) break
        if (!this.#budgets.has(keyId)) unread.push(this.#budgetOf(keyId, limit))
      }
    }
    const used = [...this.#budgets.values()].filter(
      ({ isTouched, heldNano, unsettled }) => isTouched || heldNano > 0n || unsettled.length > 0,
    )
    const due = [...new Set([...used, ...unread])].filter(({ reading }) => reading === null)
    if (due.length > 0) void this.#read(due)
  }

  #budgetOf(keyId: string, limit: Budget['limit']): Budget {
    let budget = this.#budgets.get(keyId)
    if (budget === undefined) {
      budget = new Budget(keyId, limit)
      this.#budgets.set(keyId, budget)
    }
    const { period, timeZone } = budget.limit
    budget.limit = limit
    if (limit.period !== period || limit.timeZone !== timeZone) budget.forget()
    budget.turn(this.#nowMs())
    return budget
  }

  #holdWithin(budget: Budget, amountNano: Nano): Hold | NoHold | Promise<Hold | NoHold> {
    const refusal = this.#refusal(budget, amountNano)
    if (refusal !== null) return refusal
    budget.heldNano += amountNano
    const keep = (result: Hold | NoHold): Hold | NoHold => {
      if ('refused' in result) budget.heldNano -= amountNano
      else this.#held.set(result, { budget, nano: amountNano })
      return result
    }
    const held = this.#holds.hold(budget.limit.account, budget.keyId, amountNano)
    return held instanceof Promise ? held.then(keep) : keep(held)
  }

  #refusal(budget: Budget, byNano: Nano): NoHold | null {
    if (!budget.isKnown) return closedHold
    budget.turn(this.#nowMs())
    const { amountNano: limitNano, period } = budget.limit
    const leftNano = limitNano - budget.spentNano
    if (byNano === 0n || budget.heldNano + byNano <= leftNano) return null
    const { endMs: resetsAt } = budget
    return {
      refused: 'spend-limit',
      limitNano,
      period,
      leftNano,
      isHeld: byNano <= leftNano,
      resetsAt,
    }
  }

  /** Resolves when the figure is read, or after `longestReadMs` without one. */
  async #readInTime(budget: Budget): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, longestReadMs)
    await Promise.race([budget.reading ?? this.#read([budget]), late.promise])
    clearTimeout(timer)
    budget.lookedAtMs = Math.max(budget.lookedAtMs, monotonicMs())
  }

  /** Never rejects. */
  #read(budgets: readonly Budget[]): Promise<void> {
    const reading = this.#readAll(budgets).finally(() => {
      for (const budget of budgets) budget.reading = null
    })
    for (const budget of budgets) budget.reading = reading
    return reading
  }

  async #readAll(budgets: readonly Budget[]): Promise<void> {
    const nowMs = this.#nowMs()
    const asked = budgets.map((budget) => {
      budget.turn(nowMs)
      budget.isTouched = false
      return { budget, startMs: budget.startMs, ranges: budget.ranges(nowMs) }
    })
    try {
      const { nano, reached } = await this.#options.spent(asked.flatMap(({ ranges }) => ranges))
      let place = 0
      for (const { budget, startMs, ranges } of asked) {
        const found = nano.slice(place, place + ranges.length)
        place += ranges.length
        // An answer for an earlier period does not apply to the present one.
        if (budget.startMs !== startMs) continue
        budget.take(ranges, found, nowMs)
        budget.settledUpTo(reached)
        budget.lookedAtMs = monotonicMs()
      }
      this.#failing = false
    } catch (error) {
      for (const budget of budgets) budget.isTouched = true
      if (!this.#failing) this.#options.onError(error)
      this.#failing = true
    }
  }
}
