// One account's lease on this node: its free money, what requests hold, the requests that wait, and the rules for them.

import type { Nano } from '../money.ts'
import { maxNano } from '../money.ts'
import type { GrantSize } from '../store/ledger.ts'
import type { Hold, NoHold } from './ledger.ts'

/** How often waiters are judged again, and the ledger asked again for them. */
export const pulseMs = 60
/** Pulses after which a waiter that the ledger has answered is refused; at the next one it is refused whatever happened. */
const patience = 4
/** Requests behind the first waiter may together take 1/10 of the amount it waits for. */
const overtakePart = 10n
/** A lease is sized for this many seconds of spending, and averages spending over them. */
const horizonSeconds = 10n
const horizonMs = Number(horizonSeconds) * 1_000
/** A lease from which nothing was taken for this long keeps only its reserve. */
const unusedMs = 10_000
/** An account without a running request for this long gives back its whole lease and is forgotten. */
export const idleMs = 60_000
/** The reserve covers this many holds as large as the largest, limited to a fifth of the wallet. */
const reserveHolds = 10n

export type Refusal = Exclude<NoHold['refused'], 'spend-limit'>

/** A hold as this node stores it, with its lease and whether it is still open. */
export class Held implements Hold {
  readonly lease: Lease
  readonly keyId: string
  amountNano: Nano = 0n
  open = true
  lacking?: NoHold['refused']

  constructor(lease: Lease, keyId: string) {
    this.lease = lease
    this.keyId = keyId
  }

  get account(): string {
    return this.lease.account
  }
}

/** A new hold or an extension that needs more than its lease has free, or that may not overtake an earlier one. */
export class Waiter {
  readonly hold: Held
  readonly byNano: Nano
  readonly extends: boolean
  /** The lease's `asks` when the waiter arrived: the answer to one of those may be older than the waiter. */
  readonly asksBefore: number
  /** Called once with the outcome; null means that the hold has grown. */
  readonly settle: (refusal: Refusal | null) => void
  pulses = 0
  /** What later requests took while this waiter was first in the queue. */
  overtakenNano: Nano = 0n

  constructor(
    hold: Held,
    byNano: Nano,
    kind: 'hold' | 'extension',
    settle: (refusal: Refusal | null) => void,
  ) {
    this.hold = hold
    this.byNano = byNano
    this.extends = kind === 'extension'
    this.asksBefore = hold.lease.asks
    this.settle = settle
  }
}

export class Lease {
  readonly account: string
  /** The epoch of the node in which it was leased. */
  readonly epoch: number
  freeNano: Nano = 0n
  heldNano: Nano = 0n
  /** Number of running requests, including those that hold 0. */
  holds = 0
  /** Extensions first, then new holds, each in order of arrival. */
  waiters: Waiter[] = []
  /** The lease's epoch is over, or will be: nothing more is held, and the ledger decides what it still pays. */
  fenced = false

  /** Grants asked for and grants answered; at most one is under way. */
  asks = 0
  answers = 0
  pulsing = false
  /** Money was given back after the grant under way was asked for, so its answer does not include that money. */
  gaveBackSinceAsk = false
  /** By the latest answer, the wallet had less than this free; null: unknown. */
  lackingNano: Nano | null = null
  /** From the latest answer: what other nodes lease, and the wallet's whole balance. */
  elsewhereNano: Nano = 0n
  postedNano: Nano = 0n

  /** Money was taken since the last tick. */
  used = true
  /** The reserve was checked since money was last taken. */
  rested = false
  /** The largest amount that one request has held. */
  largestNano: Nano = 0n
  /** Charged since `spendMs`; and the average per second before that. */
  spentNano: Nano = 0n
  spendPerSecondNano: Nano = 0n
  spendMs: number | null = null
  usedMs = 0
  busyMs = 0
  /** Another node asked for this account's money since the last tick; it counts as shared until `sharedUntilMs`. */
  recalled = false
  sharedUntilMs = 0

  constructor(account: string, epoch: number) {
    this.account = account
    this.epoch = epoch
  }
}

export interface LeaseSettings {
  /** The most that requests of one key, or of one account, may hold at once on this node; null: unlimited. */
  readonly maxHeldPerKeyNano: Nano | null
  readonly maxHeldPerAccountNano: Nano | null
}

/** Counts what running requests of this node hold, by lease and by key, and checks it against the limits. */
export class HoldTotals {
  readonly #settings: LeaseSettings
  /** Maintained only where a limit per key is set. */
  #heldByKey = new Map<string, Nano>()
  /** Grows whenever the held amounts may have changed. */
  changed = 0
  /** Number of running requests, including those that hold 0. */
  open = 0

  constructor(settings: LeaseSettings) {
    this.#settings = settings
  }

  /** Whether the key and the account may hold this much more. */
  allow(lease: Lease, keyId: string, byNano: Nano): boolean {
    const { maxHeldPerKeyNano, maxHeldPerAccountNano } = this.#settings
    if (byNano === 0n) return true
    if (maxHeldPerAccountNano !== null && lease.heldNano + byNano > maxHeldPerAccountNano)
      return false
    if (maxHeldPerKeyNano === null) return true
    return (this.#heldByKey.get(keyId) ?? 0n) + byNano <= maxHeldPerKeyNano
  }

  start(hold: Held, amountNano: Nano): void {
    hold.lease.holds += 1
    this.open += 1
    this.grow(hold, amountNano)
  }

  /** Moves the amount from the lease's free money to the hold. */
  grow(hold: Held, byNano: Nano): void {
    hold.amountNano += byNano
    hold.lease.freeNano -= byNano
    hold.lease.used = true
    if (hold.amountNano > hold.lease.largestNano) hold.lease.largestNano = hold.amountNano
    this.#count(hold, byNano)
  }

  /** Ends the hold; the caller decides how much of its amount is charged and how much becomes free. */
  end(hold: Held): void {
    hold.lease.holds -= 1
    this.open -= 1
    this.#count(hold, -hold.amountNano)
  }

  /** Forgets the holds of the epoch that has ended. */
  reset(): void {
    this.#heldByKey = new Map()
    this.open = 0
    this.changed += 1
  }

  #count(hold: Held, byNano: Nano): void {
    hold.lease.heldNano += byNano
    this.changed += 1
    if (this.#settings.maxHeldPerKeyNano === null) return
    const ofKeyNano = (this.#heldByKey.get(hold.keyId) ?? 0n) + byNano
    if (ofKeyNano === 0n) this.#heldByKey.delete(hold.keyId)
    else this.#heldByKey.set(hold.keyId, ofKeyNano)
  }
}

/** Decides what to do with a waiter; `ahead` is the first one that waits before it. */
export function judge(
  lease: Lease,
  waiter: Waiter,
  ahead: Waiter | undefined,
): Refusal | 'serve' | 'wait' {
  if (!waiter.hold.open) return 'insufficient'
  const outOfPatience = waiter.pulses >= patience
  if (lease.freeNano >= waiter.byNano) {
    if (ahead === undefined || outOfPatience || mayOvertake(ahead, waiter.byNano)) return 'serve'
  }
  const answered = waiter.asksBefore < lease.answers
  if (answered && isLacking(lease, waiter)) {
    if (waiter.byNano > reachableNano(lease, waiter.hold)) return 'insufficient'
    if (outOfPatience) return 'in-flight'
  }
  if (waiter.pulses <= patience) return 'wait'
  return answered ? 'in-flight' : 'closed'
}

/** Lets small requests pass a large one that waits, without starving it. */
export function mayOvertake(ahead: Waiter, byNano: Nano): boolean {
  return (ahead.overtakenNano + byNano) * overtakePart <= ahead.byNano
}

function isLacking(lease: Lease, waiter: Waiter): boolean {
  return lease.lackingNano !== null && waiter.byNano - lease.freeNano >= lease.lackingNano
}

/** The most that could become free for a hold, by the latest answer: if all others ended and were charged nothing. */
function reachableNano(lease: Lease, hold: Held): Nano {
  const walletNano = lease.lackingNano === null ? 0n : lease.lackingNano - 1n
  const pinnedNano = lease.heldNano - hold.amountNano + lease.elsewhereNano
  return min(lease.freeNano + walletNano + pinnedNano, lease.postedNano - hold.amountNano)
}

/**
 * What to ask the ledger for now; null if no answer could help a waiter. `needNano` is the smallest amount that any
 * waiter lacks, so that money which would serve that one is leased even where another waiter needs more.
 */
export function request(lease: Lease): GrantSize | null {
  let needNano: Nano | null = null
  let waitingNano = 0n
  for (const { byNano } of lease.waiters) {
    waitingNano += byNano
    const shortNano = byNano - lease.freeNano
    if (shortNano > 0n && (needNano === null || shortNano < needNano)) needNano = shortNano
  }
  if (needNano === null) return null
  const shared = isShared(lease)
  const recentNano = shared ? 0n : lease.spendPerSecondNano * horizonSeconds
  const shareNano = shared ? 0n : lease.postedNano / 5n
  return {
    needNano,
    wantNano: min(max(waitingNano - lease.freeNano, needNano), maxNano),
    spareNano: min(max(recentNano, shareNano), maxNano),
  }
}

/** Whether an answer now could help the waiter: it lacks money that, by the latest answer, the wallet may have. */
export function isWorthAsking(lease: Lease, waiter: Waiter): boolean {
  return waiter.byNano > lease.freeNano && !isLacking(lease, waiter)
}

interface Rest {
  /** Part of the free money that the account does not need. */
  readonly surplusNano: Nano
  /** Amount to lease in advance, so that the next requests find it here even if the ledger is unreachable by then. */
  readonly wantNano: Nano
  /** The lease itself is not needed any more. */
  readonly forget: boolean
}

const asItIs: Rest = { surplusNano: 0n, wantNano: 0n, forget: false }

/** Advances the lease's clocks, and returns what the account needs from now on. */
export function rest(lease: Lease, nowMs: number): Rest {
  const comesToRest = !lease.used && !lease.rested
  lease.rested = !lease.used
  noteTime(lease, nowMs)
  if (lease.waiters.length > 0 || lease.asks > lease.answers) return asItIs
  if (lease.holds === 0 && nowMs - lease.busyMs >= idleMs)
    return { ...asItIs, surplusNano: lease.freeNano, forget: true }
  if (comesToRest) return { ...asItIs, wantNano: wantedReserveNano(lease) }
  if (nowMs - lease.usedMs < unusedMs) return asItIs
  const surplusNano = lease.freeNano - reserveNano(lease)
  // Gives back at least half at a time, rather than a little at each tick while the spending average decays.
  return { ...asItIs, surplusNano: surplusNano * 2n >= lease.freeNano ? surplusNano : 0n }
}

function reserveNano(lease: Lease): Nano {
  const someNano = min(lease.largestNano * reserveHolds, lease.postedNano / 5n)
  return max(max(someNano, lease.largestNano), lease.spendPerSecondNano * horizonSeconds)
}

/** What the reserve lacks and the wallet may have, by the latest answer; 0n while other nodes share the account. */
function wantedReserveNano(lease: Lease): Nano {
  if (isShared(lease) || lease.lackingNano !== null) return 0n
  const shortNano = reserveNano(lease) - lease.freeNano
  const inWalletNano = lease.postedNano - lease.elsewhereNano - lease.heldNano - lease.freeNano
  return max(min(shortNano, inWalletNano), 0n)
}

function isShared(lease: Lease): boolean {
  return lease.recalled || lease.sharedUntilMs > (lease.spendMs ?? 0)
}

function noteTime(lease: Lease, nowMs: number): void {
  if (lease.used) lease.usedMs = nowMs
  if (lease.used || lease.holds > 0) lease.busyMs = nowMs
  lease.used = false
  if (lease.recalled) lease.sharedUntilMs = nowMs + horizonMs
  lease.recalled = false
  noteSpend(lease, nowMs)
}

/** Exponential moving average: each interval is weighted by its share of the horizon. */
function noteSpend(lease: Lease, nowMs: number): void {
  const elapsedMs = lease.spendMs === null ? 0 : Math.round(nowMs - lease.spendMs)
  if (lease.spendMs !== null && elapsedMs <= 0) return
  if (elapsedMs > 0) {
    const weight = BigInt(Math.min(elapsedMs, horizonMs))
    const sampleNano = (lease.spentNano * 1_000n) / BigInt(elapsedMs)
    const whole = BigInt(horizonMs)
    lease.spendPerSecondNano =
      (lease.spendPerSecondNano * (whole - weight) + sampleNano * weight) / whole
    lease.spentNano = 0n
  }
  lease.spendMs = nowMs
}

export function min(a: Nano, b: Nano): Nano {
  return a < b ? a : b
}

function max(a: Nano, b: Nano): Nano {
  return a > b ? a : b
}
