// The use of each limit scope on this node: its meters and its running requests, judged and taken together.

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

/** The current use of one scope, in the units of gcra.ts. */
export interface ScopeUse {
  readonly requests: number
  readonly tokens: number
  readonly inFlight: number
}

/** When a place becomes free cannot be known: this wait is long enough to help and short enough to retry. */
const placeWaitMs = 1_000
const firstSweep = 1_024

export const unlimited: LimitState = Object.freeze({ requests: null, tokens: null })

/** A node's share of a limit; never 0 for a limit above 0. */
function part(limit: number, nodes: number): number {
  return nodes <= 1 ? limit : Math.max(Math.min(1, limit), Math.floor(limit / nodes))
}

/** The limits one node enforces when `nodes` of them share a limit without seeing each other's use. */
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

/** The scopes that have any limit; the same array when all do. */
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

/** The refusal with the longest wait, given the use of each scope; null when all admit. */
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

/** The gauges of the tightest scope: the one with the fewest left, then with the longest reset. */
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

/** Use by scope. Idle scopes are forgotten, so memory grows only with the scopes in use. */
export class Book<S extends LimitScope = LimitScope> {
  readonly #entries = new Map<string, Entry<S>>()
  readonly #mayForget: (id: string) => boolean
  #sweepAt = firstSweep
  #nowMs = 0

  /** A scope with nothing in use is still kept while `mayForget` returns false for it. */
  constructor(mayForget: (id: string) => boolean = () => true) {
    this.#mayForget = mayForget
  }

  get size(): number {
    return this.#entries.size
  }

  /** The latest whole millisecond seen; time never goes backwards here. */
  advance(nowMs: number): number {
    if (nowMs > this.#nowMs) this.#nowMs = Math.floor(nowMs)
    return this.#nowMs
  }

  /** The present use of each scope. */
  uses(scopes: readonly S[], nowMs: number): ScopeUse[] {
    const now = this.advance(nowMs)
    return scopes.map((scope) => {
      const entry = this.#entries.get(scope.id)
      if (entry === undefined) return nothing
      return settle(entry, scope, now)
    })
  }

  /** Takes one request, its tokens and its place from every scope, whether or not it was judged here. */
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

  /** Frees the places and replaces the tokens taken by `take` by those actually used. */
  finish(scopes: readonly S[], taken: number, tokens: number, nowMs: number): void {
    const now = this.advance(nowMs)
    for (const scope of scopes) {
      const entry = this.#present(scope, now)
      const { tokensPerMinute } = scope.limits
      entry.inFlight -= 1
      if (tokensPerMinute === undefined) continue
      const units = tokens * unitsPerItem - cost(taken, tokensPerMinute)
      entry.tokens.used = Math.max(0, entry.tokens.used + units)
    }
  }

  /** Lowers the use to the whole limit, where the shared limits allowed this node more than its own share. */
  cap(scopes: readonly S[], nowMs: number): void {
    const now = this.advance(nowMs)
    for (const scope of scopes) {
      const { requests, tokens, scope: present } = this.#present(scope, now)
      const { requestsPerMinute = 0, tokensPerMinute = 0 } = present.limits
      requests.used = Math.min(requests.used, requestsPerMinute * unitsPerItem)
      tokens.used = Math.min(tokens.used, tokensPerMinute * unitsPerItem)
    }
  }

  has(id: string): boolean {
    return this.#entries.has(id)
  }

  /** Adds units to one scope's meters; negative units give back, even beyond what is in use. */
  add(scope: S, requests: number, tokens: number, nowMs: number): void {
    const entry = this.#present(scope, this.advance(nowMs))
    entry.requests.used += requests
    entry.tokens.used += tokens
  }

  /** Every known scope with its present use. */
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

  /** For a request that began earlier: its scope's limits may have changed since, and those of now count. */
  #present(scope: S, now: number): Entry<S> {
    const known = this.#entries.get(scope.id)
    return this.#entry(known?.scope ?? scope, now)
  }

  /** Runs each time the map has doubled, so that its cost per request stays small. */
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

/** Drains both meters under the scope's present limits; a removed limit leaves nothing in use. */
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
