// What each scope has in use on this node: meters and places, judged together, taken together.

import type { LimitSettings } from '../config/types.ts'
import type { Meter } from './gcra.ts'
import { cost, level, remaining, resetMs, unitsPerItem, waitMs } from './gcra.ts'
import type { LimitGauge, LimitScope, LimitState, Refused } from './limiter.ts'

interface Entry<S extends LimitScope> {
  readonly requests: Meter
  readonly tokens: Meter
  inFlight: number
  scope: S
}

/** How much of one scope is in use, in units of gcra.ts. */
export interface ScopeUse {
  readonly requests: number
  readonly tokens: number
  readonly inFlight: number
}

/** When a place will come free is not known: long enough to matter, short enough to try. */
const placeWaitMs = 1_000
const firstSweep = 1_024

export const unlimited: LimitState = Object.freeze({ requests: null, tokens: null })

/** A node's part of a limit; never 0 of a limit that admits something. */
function part(limit: number, nodes: number): number {
  return nodes <= 1 ? limit : Math.max(Math.min(1, limit), Math.floor(limit / nodes))
}

/** The limits a node keeps to when `nodes` of them share one limit without seeing each other. */
export function partOf(limits: LimitSettings, nodes: number): LimitSettings {
  if (nodes <= 1) return limits
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute: part(requestsPerMinute, nodes) }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute: part(tokensPerMinute, nodes) }),
    ...(concurrentRequests !== undefined && {
      concurrentRequests: part(concurrentRequests, nodes),
    }),
  }
}

/** The scopes that limit anything; the same array when all do. */
export function limiting(scopes: readonly LimitScope[]): readonly LimitScope[] {
  return scopes.every(isLimited) ? scopes : scopes.filter(isLimited)
}

function isLimited({ limits }: LimitScope): boolean {
  return (
    limits.requestsPerMinute !== undefined ||
    limits.tokensPerMinute !== undefined ||
    limits.concurrentRequests !== undefined
  )
}

/** The refusal with the longest wait given what each scope has in use, or null when all admit. */
export function judge(
  scopes: readonly LimitScope[],
  uses: readonly ScopeUse[],
  tokens: number,
): Omit<Refused, 'state'> | null {
  let worst: Omit<Refused, 'state'> | null = null
  const refuse = (scope: LimitScope, kind: Refused['kind'], retryAfterMs: number) => {
    if (worst === null || retryAfterMs > worst.retryAfterMs)
      worst = { admitted: false, scope: scope.id, kind, retryAfterMs }
  }
  for (const [index, scope] of scopes.entries()) {
    const use = uses[index]
    if (use === undefined) continue
    const { requestsPerMinute, tokensPerMinute, concurrentRequests } = scope.limits
    if (requestsPerMinute !== undefined) {
      const wait = waitMs(use.requests, requestsPerMinute, unitsPerItem)
      if (wait > 0) refuse(scope, 'requests', wait)
    }
    if (tokensPerMinute !== undefined) {
      const wait = waitMs(use.tokens, tokensPerMinute, cost(tokens, tokensPerMinute))
      if (wait > 0) refuse(scope, 'tokens', wait)
    }
    if (concurrentRequests !== undefined && use.inFlight >= concurrentRequests)
      refuse(scope, 'concurrent', placeWaitMs)
  }
  return worst
}

/** The gauges of the tightest scope: the fewest left, then the longest until all is free again. */
export function stateOf(scopes: readonly LimitScope[], uses: readonly ScopeUse[]): LimitState {
  let requests: LimitGauge | null = null
  let tokens: LimitGauge | null = null
  for (const [index, { limits }] of scopes.entries()) {
    const use = uses[index]
    if (use === undefined) continue
    if (limits.requestsPerMinute !== undefined)
      requests = tighter(requests, limits.requestsPerMinute, use.requests)
    if (limits.tokensPerMinute !== undefined)
      tokens = tighter(tokens, limits.tokensPerMinute, use.tokens)
  }
  return { requests, tokens }
}

function tighter(than: LimitGauge | null, limit: number, used: number): LimitGauge {
  const left = remaining(used, limit)
  const reset = resetMs(used, limit)
  if (
    than !== null &&
    (than.remaining < left || (than.remaining === left && than.resetMs >= reset))
  )
    return than
  return { limit, remaining: left, resetMs: reset }
}

/** Use by scope. Idle scopes are forgotten, so that memory follows the scopes in use. */
export class Book<S extends LimitScope = LimitScope> {
  readonly #entries = new Map<string, Entry<S>>()
  readonly #mayForget: (id: string) => boolean
  #sweepAt = firstSweep
  #nowMs = 0

  /** `mayForget` keeps a scope with nothing in use all the same while it says no. */
  constructor(mayForget: (id: string) => boolean = () => true) {
    this.#mayForget = mayForget
  }

  get size(): number {
    return this.#entries.size
  }

  /** The latest whole millisecond seen: a clock that steps back stands still here. */
  advance(nowMs: number): number {
    if (nowMs > this.#nowMs) this.#nowMs = Math.floor(nowMs)
    return this.#nowMs
  }

  /** What is in use now, by scope. */
  uses(scopes: readonly S[], nowMs: number): ScopeUse[] {
    const now = this.advance(nowMs)
    return scopes.map((scope) => {
      const entry = this.#entries.get(scope.id)
      if (entry === undefined) return nothing
      return settle(entry, scope, now)
    })
  }

  /** Takes one request, its tokens and its place from every scope, judged or not. */
  take(scopes: readonly S[], tokens: number, nowMs: number): void {
    const now = this.advance(nowMs)
    for (const scope of scopes) {
      const entry = this.#entry(scope, now)
      const { requestsPerMinute, tokensPerMinute } = scope.limits
      entry.inFlight += 1
      if (requestsPerMinute !== undefined) entry.requests.used += unitsPerItem
      if (tokensPerMinute !== undefined) entry.tokens.used += cost(tokens, tokensPerMinute)
    }
  }

  /** Gives the places back and puts the tokens actually used in place of those taken by `take`. */
  finish(scopes: readonly S[], taken: number, tokens: number, nowMs: number): void {
    const now = this.advance(nowMs)
    for (const scope of scopes) {
      const entry = this.#entry(scope, now)
      const { tokensPerMinute } = scope.limits
      entry.inFlight -= 1
      if (tokensPerMinute === undefined) continue
      const units = tokens * unitsPerItem - cost(taken, tokensPerMinute)
      entry.tokens.used = Math.max(0, entry.tokens.used + units)
    }
  }

  /** Lowers what is in use to the whole limit, where more was taken elsewhere than is judged here. */
  cap(scopes: readonly S[], nowMs: number): void {
    const now = this.advance(nowMs)
    for (const scope of scopes) {
      const { requests, tokens } = this.#entry(scope, now)
      const { requestsPerMinute = 0, tokensPerMinute = 0 } = scope.limits
      requests.used = Math.min(requests.used, requestsPerMinute * unitsPerItem)
      tokens.used = Math.min(tokens.used, tokensPerMinute * unitsPerItem)
    }
  }

  has(id: string): boolean {
    return this.#entries.has(id)
  }

  /** Adds units (below zero: gives back, even beyond what is in use) to one scope's meters. */
  add(scope: S, requests: number, tokens: number, nowMs: number): void {
    const entry = this.#entry(scope, this.advance(nowMs))
    entry.requests.used += requests
    entry.tokens.used += tokens
  }

  /** Every scope with something in use, as of now. */
  *all(nowMs: number): Generator<[scope: S, use: ScopeUse]> {
    const now = this.advance(nowMs)
    for (const entry of this.#entries.values()) yield [entry.scope, settle(entry, entry.scope, now)]
  }

  clear(): void {
    this.#entries.clear()
    this.#sweepAt = firstSweep
  }

  #entry(scope: S, now: number): Entry<S> {
    const known = this.#entries.get(scope.id)
    if (known !== undefined) {
      settle(known, scope, now)
      return known
    }
    if (this.#entries.size >= this.#sweepAt) this.#sweep(now)
    const entry: Entry<S> = {
      requests: { used: 0, at: now },
      tokens: { used: 0, at: now },
      inFlight: 0,
      scope,
    }
    this.#entries.set(scope.id, entry)
    return entry
  }

  /** Runs when the map has doubled since the last time, so its cost spreads thin. */
  #sweep(now: number): void {
    for (const [id, entry] of this.#entries) {
      const { requests, tokens, inFlight } = settle(entry, entry.scope, now)
      const idle = requests === 0 && tokens === 0 && inFlight === 0
      if (idle && this.#mayForget(id)) this.#entries.delete(id)
    }
    this.#sweepAt = Math.max(firstSweep, this.#entries.size * 2)
  }
}

const nothing: ScopeUse = Object.freeze({ requests: 0, tokens: 0, inFlight: 0 })

/** Drains both meters under the scope's present limits; a limit that is gone leaves nothing in use. */
function settle<S extends LimitScope>(entry: Entry<S>, scope: S, now: number): ScopeUse {
  entry.scope = scope
  const { requestsPerMinute, tokensPerMinute } = scope.limits
  if (requestsPerMinute === undefined) entry.requests.used = 0
  if (tokensPerMinute === undefined) entry.tokens.used = 0
  return {
    requests: level(entry.requests, requestsPerMinute ?? 0, now),
    tokens: level(entry.tokens, tokensPerMinute ?? 0, now),
    inFlight: entry.inFlight,
  }
}
