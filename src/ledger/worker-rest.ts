// Decides when loops of the ledger's worker sleep: while nothing is written to the outbox, or while nothing is leased.

import { idleMs } from './lease.ts'
import { monotonicMs, type SharedState } from './shared.ts'

/** After this long without a write the loops sleep, and the next append wakes this thread. */
const quietMs = 1_000
const recallMs = 50
/** After this long without a hold or a grant, recalls by other nodes are read less often: every 75 ms instead of 50. */
const leasesRestMs = 2_000
const recallAtRestMs = 75
/** Well beyond the time after which a lease without requests is given back. */
const leasesLastMs = 2 * idleMs

/** Puts loops to sleep while nothing is written to the outbox. */
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

  /** Checks `written` once more after setting `resting`, in case the other thread wrote before it could see that. */
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

/** Puts a loop to sleep while nothing is leased. */
export class LeasesRest {
  readonly #stopping: AbortSignal
  #leasedAtMs = Number.NEGATIVE_INFINITY
  readonly #lastMs: number
  /** Accounts that received a grant and were not forgotten since. */
  readonly #leased = new Set<string>()
  /** Running requests hold something: what was leased beside it is wanted elsewhere, however long they are quiet. */
  #isHeld = false
  #unleased: PromiseWithResolvers<void> | null = null

  constructor(stopping: AbortSignal, lastMs = leasesLastMs) {
    this.#stopping = stopping
    this.#lastMs = lastMs
    stopping.addEventListener('abort', () => this.rouse())
  }

  /** Delay before other nodes' needs are read again. */
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

  /** The amounts that requests hold have changed. */
  holds(isHeld: boolean): void {
    this.#isHeld = isHeld
    this.rouse()
  }

  rouse(): void {
    this.#leasedAtMs = monotonicMs()
    this.#unleased?.resolve()
    this.#unleased = null
  }

  /** null if something may be leased; otherwise resolves when something is leased again. */
  untilLeased(): Promise<void> | null {
    const isRecent = monotonicMs() - this.#leasedAtMs <= this.#lastMs
    const isLeased = this.#isHeld || (this.#leased.size > 0 && isRecent)
    if (isLeased || this.#stopping.aborted) return null
    this.#unleased ??= Promise.withResolvers()
    return this.#unleased.promise
  }
}
