// One account's lease on this node: what of it is free, what requests hold, who waits, and the rules they are judged by.

import type { Nano } from '../money.ts'
import { maxNano } from '../money.ts'
import type { GrantSize } from '../store/ledger.ts'
import type { Hold, NoHold } from './ledger.ts'

/** How often a waiter is looked at again, and the ledger asked again for it. */
export const pulseMs = 60
/** Pulses after which a waiter that the ledger has answered is refused; at the next one it is refused whatever happened. */
const patience = 4
/** Those behind the first waiter may take, together, this part of what it waits for. */
const overtakePart = 10n
/** How many seconds of spending a lease is sized for, and remembers. */
const horizonSeconds = 10n
const horizonMs = Number(horizonSeconds) * 1_000
/** A lease of which nothing was taken for so long keeps only its reserve. */
const unusedMs = 10_000
/** An account without a running request for so long is given back whole and forgotten. */
export const idleMs = 60_000
/** The reserve covers so many requests like the largest, unless they need more than a fifth of the wallet. */
const reserveHolds = 10n

export type Refusal = Exclude<NoHold['refused'], 'spend-limit'>

/** A hold as this node keeps it: it knows its lease, and whether it is still running. */
export class Held implements Hold {
  readonly lease: Lease
  readonly keyId: string
  amountNano: Nano = 0n
  open = true

  constructor(lease: Lease, keyId: string) {
    this.lease = lease
    this.keyId = keyId
  }

  get account(): string {
    return this.lease.account
  }
}

/** A hold that wants more than its lease has free: a new one, or the extension of one that runs. */
export class Waiter {
  readonly hold: Held
  readonly byNano: Nano
  readonly extends: boolean
  /** The lease's `asks` when it came: an answer to one of those may be older than the waiter. */
  readonly asksBefore: number
  /** null: the hold has grown. */
  readonly settle: (refusal: Refusal | null) => void
  pulses = 0
  /** What those behind it took while it stood first. */
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
  freeNano: Nano = 0n
  heldNano: Nano = 0n
  /** Running requests, those that hold nothing included. */
  holds = 0
  /** Extensions first, then by arrival. */
  waiters: Waiter[] = []
  /** Its epoch is over: what it had is the ledger's again. */
  fenced = false

  /** Grants asked for and answered, counted; at most one is under way. */
  asks = 0
  answers = 0
  pulsing = false
  /** Money went back after the grant under way was asked for: its answer does not count that money as the wallet's. */
  gaveBackSinceAsk = false
  /** The wallet had less than this free by the latest answer; null: that is not known. */
  lackingNano: Nano | null = null
  /** By the latest answer: what other nodes lease, and what the wallet has in all. */
  elsewhereNano: Nano = 0n
  postedNano: Nano = 0n

  /** Something was taken since the last tick. */
  used = true
  /** The reserve was looked at since something was last taken. */
  rested = false
  /** The most that one request held. */
  largestNano: Nano = 0n
  /** Charged since `spendMs`, and per second over the seconds before it. */
  spentNano: Nano = 0n
  spendPerSecondNano: Nano = 0n
  spendMs: number | null = null
  usedMs = 0
  busyMs = 0
  /** Another node asked for this account; it is shared until then. */
  recalled = false
  sharedUntilMs = 0

  constructor(account: string) {
    this.account = account
  }
}

export interface LeaseSettings {
  /** The most that requests of one key, or of one account, may hold at once on this node; null: no such bound. */
  readonly maxHeldPerKeyNano: Nano | null
  readonly maxHeldPerAccountNano: Nano | null
}

/** What running requests of this node hold: counted in their leases and by key, within the bounds. */
export class HoldTotals {
  readonly #settings: LeaseSettings
  /** Kept only where a bound per key is set. */
  #heldByKey = new Map<string, Nano>()
  /** Grows whenever what is held may have changed. */
  changed = 0
  /** Requests that run, those that hold nothing included. */
  open = 0

  constructor(settings: LeaseSettings) {
    this.#settings = settings
  }

  /** Whether the key and the account may hold so much more. */
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

  /** Takes it from what the lease has free. */
  grow(hold: Held, byNano: Nano): void {
    hold.amountNano += byNano
    hold.lease.freeNano -= byNano
    hold.lease.used = true
    if (hold.amountNano > hold.lease.largestNano) hold.lease.largestNano = hold.amountNano
    this.#count(hold, byNano)
  }

  /** What it held is the caller's to charge or to free. */
  end(hold: Held): void {
    hold.lease.holds -= 1
    this.open -= 1
    this.#count(hold, -hold.amountNano)
  }

  /** No request of this epoch counts any more. */
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

/** What is to be done with a waiter; `ahead` is the first one that waits before it. */
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

/** So that small requests pass by a large one that waits, and cannot starve it. */
export function mayOvertake(ahead: Waiter, byNano: Nano): boolean {
  return (ahead.overtakenNano + byNano) * overtakePart <= ahead.byNano
}

function isLacking(lease: Lease, waiter: Waiter): boolean {
  return lease.lackingNano !== null && waiter.byNano - lease.freeNano >= lease.lackingNano
}

/** The most that could come free for a hold by the latest answer: if all others ended and were charged nothing. */
function reachableNano(lease: Lease, hold: Held): Nano {
  const walletNano = lease.lackingNano === null ? 0n : lease.lackingNano - 1n
  const pinnedNano = lease.heldNano - hold.amountNano + lease.elsewhereNano
  return min(lease.freeNano + walletNano + pinnedNano, lease.postedNano - hold.amountNano)
}

/**
 * What to ask of the ledger now; null: nothing that could change a waiter's lot. The need is what the most modest
 * waiter lacks, so that money for it is not left where it is because another needs more.
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

/** Whether an answer now could help the waiter: it lacks something, and the latest answer does not say it lacks it for good. */
export function isWorthAsking(lease: Lease, waiter: Waiter): boolean {
  return waiter.byNano > lease.freeNano && !isLacking(lease, waiter)
}

interface Rest {
  /** What of the free part the account does not need. */
  readonly surplusNano: Nano
  /** What is to be asked for, so that the next requests find it here though the ledger may be away by then. */
  readonly wantNano: Nano
  /** The lease itself is not needed. */
  readonly forget: boolean
}

const asItIs: Rest = { surplusNano: 0n, wantNano: 0n, forget: false }

/** Notes the time, and says what the account needs from now on. */
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
  // Not a little at each tick while the memory of spending fades: at least half at a time.
  return { ...asItIs, surplusNano: surplusNano * 2n >= lease.freeNano ? surplusNano : 0n }
}

function reserveNano(lease: Lease): Nano {
  const someNano = min(lease.largestNano * reserveHolds, lease.postedNano / 5n)
  return max(max(someNano, lease.largestNano), lease.spendPerSecondNano * horizonSeconds)
}

/** What the reserve lacks and the wallet may have, by the latest answer; 0n while the account is shared. */
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

/** A moving average: each stretch of time counts by its share of the horizon. */
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
