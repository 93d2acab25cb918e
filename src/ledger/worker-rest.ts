// When the ledger's worker may rest: while nothing is written to the outbox, and while nothing is leased.

import { idleMs } from './lease.ts'
import { monotonicMs, type SharedState } from './shared.ts'

/** Nothing was written for so long: the next append wakes this thread. */
const quietMs = 1_000
const recallMs = 50
/** Past this nothing was held or granted for a while: others wait a little longer, but less than they have. */
const leasesRestMs = 2_000
const recallAtRestMs = 75
/** A lease without a request is given back long before. */
const leasesLastMs = 2 * idleMs

/** Sleep while nothing is written. */
export class OutboxRest {
  readonly #state: SharedState
  readonly #stopping: AbortSignal
  #lastWritten = 0
  #writtenMs = monotonicMs()
  #unwritten: PromiseWithResolvers<void> | null = null

  constructor(state: SharedState, stopping: AbortSignal) {
    this.#state = state
    this.#stopping = stopping
    stopping.addEventListener('abort', () => this.rouse())
  }

  /** The outbox is looked at once more in case it was as the other thread looked. */
  async whileUnwritten(): Promise<void> {
    if (!this.#isQuiet() || this.#stopping.aborted) return
    if (this.#unwritten === null) {
      this.#unwritten = Promise.withResolvers()
      this.#state.resting = true
      if (this.#state.written !== this.#lastWritten) this.rouse()
    }
    await this.#unwritten?.promise
  }

  rouse(): void {
    this.#writtenMs = monotonicMs()
    this.#state.resting = false
    this.#unwritten?.resolve()
    this.#unwritten = null
  }

  #isQuiet(): boolean {
    const { written, settled } = this.#state
    if (written !== this.#lastWritten) {
      this.#lastWritten = written
      this.#writtenMs = monotonicMs()
    }
    return settled >= written && monotonicMs() - this.#writtenMs > quietMs
  }
}

/** Sleep while nothing is leased. */
export class LeasesRest {
  readonly #stopping: AbortSignal
  #leasedAtMs = Number.NEGATIVE_INFINITY
  /** Accounts that were granted something and not forgotten since. */
  readonly #leased = new Set<string>()
  #unleased: PromiseWithResolvers<void> | null = null

  constructor(stopping: AbortSignal) {
    this.#stopping = stopping
    stopping.addEventListener('abort', () => this.rouse())
  }

  /** How long until the next look at what other nodes need. */
  get recallMs(): number {
    return monotonicMs() - this.#leasedAtMs > leasesRestMs ? recallAtRestMs : recallMs
  }

  granted(account: string): void {
    this.#leased.add(account)
    this.rouse()
  }

  forgotten(account: string): void {
    this.#leased.delete(account)
  }

  rouse(): void {
    this.#leasedAtMs = monotonicMs()
    this.#unleased?.resolve()
    this.#unleased = null
  }

  /** null: something may be leased. Else resolves when something is again. */
  untilLeased(): Promise<void> | null {
    const isLeased = this.#leased.size > 0 && monotonicMs() - this.#leasedAtMs <= leasesLastMs
    if (isLeased || this.#stopping.aborted) return null
    this.#unleased ??= Promise.withResolvers()
    return this.#unleased.promise
  }
}
