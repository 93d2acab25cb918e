// Holds keys to their spend limits: what they have spent by the ledger, what has ended here since, and what runs here.

import type { Nano } from '../money.ts'
import type { SpendLimit, SpendLimits } from '../store/keys.ts'
import type { Holds } from './leases.ts'
import type { Hold, NoHold } from './ledger.ts'
import type { Spent, SpentRange } from './messages.ts'
import { monotonicMs } from './shared.ts'
import { periodAt } from './spend-period.ts'

interface KeyBudgetsOptions {
  readonly holds: Holds
  /** As the keys have them at the moment. */
  readonly limits: () => SpendLimits
  /** What the ledger has of keys in spans of time, and up to which of this process's records. */
  readonly spent: (ranges: readonly SpentRange[]) => Promise<Spent>
  /** The number of the record of the request that ends now. */
  readonly recordNumber: () => number
  readonly onError: (error: unknown) => void
  /** Unix milliseconds; the clock's unless given. */
  readonly nowMs?: () => number
}

/** A figure that is older is read before it is gone by. */
const staleMs = 5_000
/** A ledger that does not answer keeps no request longer: the last figure goes on to hold. */
const longestReadMs = 1_000
/** What was long ago is added up anew this often: a record may come late. */
const baseMs = 600_000
const recentMs = 2 * 3_600_000
const quarterMs = 900_000
/** Keys that nobody has used yet, read with each look. */
const readAhead = 100

const closedHold: NoHold = { refused: 'closed' }

/** A request that has ended here. */
interface Ended {
  /** Of its record. */
  readonly number: number
  readonly nano: Nano
}

class Budget {
  readonly keyId: string
  limit: SpendLimit & { readonly account: string }
  startMs = -1
  endMs: number | null = -1
  /** What was spent before a moment that no record is likely to come for any more. */
  base: { readonly untilMs: number; readonly nano: Nano; readonly readAtMs: number } | null = null
  /** Since `base` or the beginning, by the ledger. */
  recentNano: Nano = 0n
  /** What has ended here and is not known to be in that. */
  unsettled: Ended[] = []
  unsettledNano: Nano = 0n
  /** What running requests hold here. */
  heldNano: Nano = 0n
  isKnown = false
  /** When it was last read, or could not be. */
  lookedAtMs = Number.NEGATIVE_INFINITY
  isTouched = false
  /** Under way: one at a time, so that none overtakes a later one. */
  reading: Promise<void> | null = null

  constructor(keyId: string, limit: Budget['limit']) {
    this.keyId = keyId
    this.limit = limit
  }

  /** Of another period another sum is to be read. */
  forget(): void {
    this.startMs = -1
    this.isKnown = false
    this.lookedAtMs = Number.NEGATIVE_INFINITY
  }

  /** In a new period nothing is spent. */
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

  /** What is to be asked of the ledger, the base last where it is asked for. */
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

/** The holds of all keys: those without a limit pass through. */
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
      // A hold that was closed meanwhile has given back what it had.
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

  /** Reads anew what was used since the last time, and some of what was never read. About twice a second. */
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

  /** Resolves when the figure is read, or will not be for now. */
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
        // What was asked of the period before says nothing of this one.
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
