// Limits within this process: synchronous, and without cost for a request that nothing limits.

import type { LimitSettings } from '../config/types.ts'
import { Book, judge, limiting, partOf, stateOf, unlimited } from './book.ts'
import type { Admitted, Limiter, LimitScope, LimitState, Refused } from './limiter.ts'

/** The answer to a request that nothing limits: always the same object. */
export const free: Admitted = Object.freeze({
  admitted: true as const,
  state: unlimited,
  finish: () => undefined,
})

interface LocalLimiter extends Limiter {
  admit(scopes: readonly LimitScope[], tokens: number, nowMs: number): Admitted | Refused
}

class LocalAdmission implements Admitted {
  readonly admitted = true
  readonly state: LimitState
  readonly #book: Book
  readonly #scopes: readonly LimitScope[]
  readonly #taken: number
  #finished = false

  constructor(book: Book, scopes: readonly LimitScope[], taken: number, state: LimitState) {
    this.#book = book
    this.#scopes = scopes
    this.#taken = taken
    this.state = state
  }

  finish(tokens: number, nowMs: number): void {
    if (this.#finished) return
    this.#finished = true
    this.#book.finish(this.#scopes, this.#taken, tokens, nowMs)
  }
}

interface LocalOptions {
  /** How many processes share the limits without seeing each other: each enforces its share. */
  readonly workers?: number
  /** A test may pass its own, to inspect it. */
  readonly book?: Book
}

/** Creates a limiter in this process's memory. */
export function createLocalLimiter(options: LocalOptions = {}): LocalLimiter {
  const { workers = 1, book = new Book() } = options
  const parts = new WeakMap<LimitSettings, LimitSettings>()
  const partOfScope = (scope: LimitScope): LimitScope => {
    const limits = parts.get(scope.limits) ?? partOf(scope.limits, workers)
    parts.set(scope.limits, limits)
    return { id: scope.id, limits }
  }
  return {
    admit(asked, tokens, nowMs) {
      const wholes = limiting(asked)
      if (wholes.length === 0) return free
      const scopes = workers === 1 ? wholes : wholes.map(partOfScope)
      const uses = book.uses(scopes, nowMs)
      const refusal = judge(scopes, uses, tokens)
      if (refusal !== null) return { ...refusal, state: stateOf(scopes, uses) }
      book.take(scopes, tokens, nowMs)
      return new LocalAdmission(book, scopes, tokens, stateOf(scopes, book.uses(scopes, nowMs)))
    },
    state(whole, nowMs) {
      const scopes = [workers === 1 ? whole : partOfScope(whole)]
      return stateOf(scopes, book.uses(scopes, nowMs))
    },
    close: async () => undefined,
  }
}
