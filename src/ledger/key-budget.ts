// One key's spend limit as this node sees it: what is spent, what requests hold, and what they may still hold.

import type { Nano } from '../money.ts'
import type { SpendLimit } from '../store/keys.ts'
import type { KeyClaim, SpentRange } from '../store/ledger.ts'
import type { NoHold } from './ledger.ts'
import type { Spent } from './messages.ts'
import { periodAt } from './spend-period.ts'

/** The sum of older spending (`base`) is read again this often, because a record may arrive late. */
const baseMs = 600_000
const recentMs = 2 * 3_600_000
const quarterMs = 900_000

type Limit = SpendLimit & { readonly account: string }

interface Ended {
  /** The number of its record in the outbox. */
  readonly number: number
  readonly nano: Nano
}

/** What is read of the ledger, and when, about the spending of one period. */
interface Reading {
  readonly epoch: number
  readonly startMs: number
  readonly atMs: number
  readonly ranges: readonly SpentRange[]
}

export class Budget {
  readonly keyId: string
  #limit: Limit
  #startMs = -1
  #endMs: number | null = -1
  /** Spending before a moment for which no more records are likely to arrive. */
  #base: { readonly untilMs: number; readonly nano: Nano; readonly readAtMs: number } | null = null
  /** Spending in the ledger since `#base.untilMs`, or since the period began where there is no base. */
  #recentNano: Nano = 0n
  /** Requests that ended here and may be missing from the ledger's sums. */
  #unsettled: Ended[] = []
  #unsettledNano: Nano = 0n
  #isKnown = false
  /** What running requests of this key hold on this node. */
  heldNano: Nano = 0n
  /** What requests may hold beside that, by the ledger's lease; negative if some cost more than they held. */
  roomNano: Nano = 0n
  /** The ledger may have a lease of this node for the key. */
  isLeased = false
  /** Grows when all leases of this node end, and when the limit changes: what was leased before is not used again. */
  epoch = 0
  usedAtMs = Number.NEGATIVE_INFINITY
  isTouched = false
  /** The reading or claim under way: one at a time, so that an older answer never replaces a newer one. */
  asking: Promise<'answered' | 'failed'> | null = null
  /** Monotonic time before which the limit is not claimed again, because others lease what is lacking. */
  claimAgainMs = Number.NEGATIVE_INFINITY

  constructor(keyId: string, limit: Limit) {
    this.keyId = keyId
    this.#limit = limit
  }

  get account(): string {
    return this.#limit.account
  }

  get isIdle(): boolean {
    return !this.isTouched && this.heldNano === 0n && this.#unsettled.length === 0
  }

  /** Takes the limit as it is now. The room was leased under the previous one, and is claimed again. */
  change(limit: Limit): void {
    const { amountNano, period, timeZone, account } = this.#limit
    this.#limit = limit
    const isOther =
      limit.period !== period || limit.timeZone !== timeZone || limit.account !== account
    if (!isOther && limit.amountNano === amountNano) return
    // Neither an answer on its way nor what running requests give back is room within the new limit.
    this.epoch += 1
    this.giveUpRoom()
    this.claimAgainMs = Number.NEGATIVE_INFINITY
    if (!isOther) return
    // Another period or account needs another sum.
    this.#base = null
    this.#recentNano = 0n
    this.#startMs = -1
    this.#isKnown = false
  }

  /** Moves on to the current period; at the start of a new one nothing is spent. Moves back if the clock was ahead. */
  turn(nowMs: number): void {
    const hasBegun = this.#startMs >= 0 && nowMs >= this.#startMs
    if (hasBegun && (this.#endMs === null || nowMs < this.#endMs)) return
    if (this.#startMs > nowMs) {
      // Much may have been spent in the period that is returned to.
      this.#isKnown = false
      this.giveUpRoom()
    }
    const { startMs, endMs } = periodAt(this.#limit, nowMs)
    this.#startMs = startMs
    this.#endMs = endMs
    this.#base = null
    this.#recentNano = 0n
  }

  /** Sets an amount aside for a request, or says why not; `short`: the lease does not suffice. */
  take(byNano: Nano): NoHold | 'taken' | 'short' {
    if (byNano > 0n) {
      if (!this.#isKnown) return 'short'
      const leftNano = this.#limit.amountNano - this.#spentNano
      if (this.heldNano + byNano > leftNano) return this.refusal(byNano)
      if (byNano > this.roomNano) return 'short'
    }
    this.heldNano += byNano
    this.roomNano -= byNano
    return 'taken'
  }

  /** Why this amount cannot be set aside. */
  refusal(byNano: Nano): NoHold {
    if (!this.#isKnown) return { refused: 'closed' }
    const { amountNano: limitNano, period } = this.#limit
    const leftNano = limitNano - this.#spentNano
    const isHeld = byNano <= leftNano
    return { refused: 'spend-limit', limitNano, period, leftNano, isHeld, resetsAt: this.#endMs }
  }

  /** Gives back what was taken in this epoch of the lease, less what the request that ended cost. */
  end(epoch: number, heldNano: Nano, ended: Ended | null = null): void {
    const chargeNano = ended?.nano ?? 0n
    const backNano = heldNano - chargeNano
    this.heldNano -= heldNano
    if (epoch === this.epoch || backNano < 0n) this.roomNano += backNano
    if (ended === null) return
    this.#unsettled.push(ended)
    this.#unsettledNano += chargeNano
  }

  /** Lets no request hold more until the limit is claimed again. */
  giveUpRoom(): void {
    if (this.roomNano > 0n) this.roomNano = 0n
  }

  /** All leases of this node have ended. */
  fence(): void {
    this.epoch += 1
    this.roomNano = 0n
    this.isLeased = false
  }

  /** What to read now; the base's range comes last where it is due. */
  startReading(nowMs: number): Reading {
    this.turn(nowMs)
    this.isTouched = false
    const ranges = this.#ranges(nowMs)
    return { epoch: this.epoch, startMs: this.#startMs, atMs: nowMs, ranges }
  }

  claim({ ranges }: Reading, needNano: Nano): KeyClaim {
    const hasBaseRange = ranges.length > 1
    return {
      keyId: this.keyId,
      limitNano: this.#limit.amountNano,
      spentBeforeNano: hasBaseRange ? 0n : (this.#base?.nano ?? 0n),
      ranges,
      keptNano: this.heldNano + this.#unsettledNano,
      roomNano: this.roomNano,
      needNano,
    }
  }

  /** Takes the room that the ledger leases in answer to a claim made in this epoch. */
  lease(claim: KeyClaim, roomNano: Nano, { epoch }: Reading): void {
    if (epoch !== this.epoch) return
    // Requests may have taken from the room, or given back to it, since the claim was sent.
    this.roomNano += roomNano - claim.roomNano
    this.isLeased = claim.keptNano + roomNano > 0n
  }

  /** Takes the answer, unless it is for an earlier period, or for the limit before a change. */
  learn({ epoch, startMs, atMs, ranges }: Reading, { nano, reached }: Spent): void {
    if (this.epoch !== epoch || this.#startMs !== startMs) return
    this.#settledUpTo(reached)
    const [recentNano = 0n, baseNano] = nano
    const untilMs = ranges[1]?.untilMs
    if (baseNano !== undefined && untilMs != null)
      this.#base = { untilMs, nano: baseNano, readAtMs: atMs }
    this.#recentNano = recentNano
    this.#isKnown = true
  }

  get #spentNano(): Nano {
    return (this.#base?.nano ?? 0n) + this.#recentNano + this.#unsettledNano
  }

  #settledUpTo(reached: number): void {
    this.#unsettled = this.#unsettled.filter(({ number }) => number > reached)
    this.#unsettledNano = this.#unsettled.reduce((sum, { nano }) => sum + nano, 0n)
  }

  /** None goes beyond the period: what a clock that was ahead has dated later belongs to a later one. */
  #ranges(nowMs: number): readonly SpentRange[] {
    const base = this.#base
    const range = (sinceMs: number, untilMs: number | null): SpentRange => ({
      keyId: this.keyId,
      account: this.account,
      sinceMs,
      untilMs,
    })
    const ageMs = base === null ? baseMs : nowMs - base.readAtMs
    if (base !== null && ageMs >= 0 && ageMs < baseMs) return [range(base.untilMs, this.#endMs)]
    const untilMs = Math.floor((nowMs - recentMs) / quarterMs) * quarterMs
    if (untilMs <= this.#startMs) return [range(this.#startMs, this.#endMs)]
    return [range(untilMs, this.#endMs), range(this.#startMs, untilMs)]
  }
}
