// A circuit breaker: decides when a channel has failed so often that it is not asked, and for how long.

/** Counts the last 30 s in six slots, and holds the breaker's state. Times in milliseconds. */
export interface Breaker {
  readonly totals: number[]
  readonly failures: number[]
  /** Number of the 5 s slot written last. */
  slot: number
  consecutive: number
  /** How often it opened since it was last closed; 0 while it is closed. */
  opened: number
  openUntilMs: number
  probesPassed: number
  probeSinceMs: number | null
}

const slots = 6
const slotMs = 5_000
const minimumRequests = 20
const failureShare = 0.5
const consecutiveLimit = 5
const firstOpenMs = 10_000
const longestOpenMs = 120_000
const probesToClose = 3
/** A probe that runs longer than this (a long stream) no longer blocks the next one. */
const probePatienceMs = 30_000

export function createBreaker(): Breaker {
  return {
    totals: new Array<number>(slots).fill(0),
    failures: new Array<number>(slots).fill(0),
    slot: 0,
    consecutive: 0,
    opened: 0,
    openUntilMs: 0,
    probesPassed: 0,
    probeSinceMs: null,
  }
}

/** Milliseconds until the next attempt may pass; 0: now. */
export function breakerWaitMs(breaker: Breaker, nowMs: number): number {
  if (breaker.opened === 0) return 0
  if (nowMs < breaker.openUntilMs) return breaker.openUntilMs - nowMs
  if (breaker.probeSinceMs === null) return 0
  return Math.max(0, breaker.probeSinceMs + probePatienceMs - nowMs)
}

export function beginProbe(breaker: Breaker, nowMs: number): void {
  if (breaker.opened > 0 && breakerWaitMs(breaker, nowMs) === 0) breaker.probeSinceMs = nowMs
}

/** An attempt ended without evidence about the channel. */
export function passOver(breaker: Breaker): void {
  breaker.probeSinceMs = null
}

/** Three successes in a row close an open breaker, whether they were probes or attempts of last resort. */
export function succeed(breaker: Breaker, nowMs: number): void {
  breaker.consecutive = 0
  breaker.probeSinceMs = null
  count(breaker, nowMs, 0)
  if (breaker.opened === 0) return
  breaker.openUntilMs = Math.min(breaker.openUntilMs, nowMs)
  breaker.probesPassed += 1
  if (breaker.probesPassed >= probesToClose) close(breaker)
}

/** `transport`: no complete reply arrived. `random` returns [0, 1) for the jitter, 10 % either way. */
export function fail(
  breaker: Breaker,
  transport: boolean,
  nowMs: number,
  random: () => number,
): void {
  breaker.consecutive = transport ? breaker.consecutive + 1 : 0
  breaker.probeSinceMs = null
  count(breaker, nowMs, 1)
  // Attempts begun before it opened, or as a last resort, do not extend the open time.
  if (breaker.opened > 0 && nowMs < breaker.openUntilMs) return
  if (breaker.opened > 0 || isBad(breaker)) open(breaker, nowMs, random)
}

/** Requests and failures of the last 30 s. */
export function recent(breaker: Breaker, nowMs: number): { total: number; failed: number } {
  turn(breaker, nowMs)
  return { total: sum(breaker.totals), failed: sum(breaker.failures) }
}

function open(breaker: Breaker, nowMs: number, random: () => number): void {
  const openMs = Math.min(longestOpenMs, firstOpenMs * 2 ** breaker.opened)
  breaker.opened = Math.min(breaker.opened + 1, 16)
  breaker.openUntilMs = nowMs + openMs * (0.9 + 0.2 * random())
  breaker.probesPassed = 0
}

function close(breaker: Breaker): void {
  breaker.opened = 0
  breaker.probesPassed = 0
  breaker.totals.fill(0)
  breaker.failures.fill(0)
}

function isBad(breaker: Breaker): boolean {
  if (breaker.consecutive >= consecutiveLimit) return true
  const total = sum(breaker.totals)
  return total >= minimumRequests && sum(breaker.failures) >= total * failureShare
}

function count(breaker: Breaker, nowMs: number, failed: 0 | 1): void {
  turn(breaker, nowMs)
  const index = breaker.slot % slots
  breaker.totals[index] = (breaker.totals[index] ?? 0) + 1
  breaker.failures[index] = (breaker.failures[index] ?? 0) + failed
}

/** Clears the slots whose time has passed. */
function turn(breaker: Breaker, nowMs: number): void {
  const slot = Math.floor(nowMs / slotMs)
  if (slot <= breaker.slot) return
  const passed = Math.min(slots, slot - breaker.slot)
  for (let n = 0; n < passed; n += 1) {
    breaker.totals[(slot - n) % slots] = 0
    breaker.failures[(slot - n) % slots] = 0
  }
  breaker.slot = slot
}

function sum(numbers: readonly number[]): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}
