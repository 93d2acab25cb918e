// Periodic work of the serving thread for its ledger: frequent while requests run, less often while none do.

import type { Nano } from '../money.ts'
import type { AdmissionGate } from './admission-gate.ts'
import type { KeyBudgets } from './key-budgets.ts'
import type { Leases } from './leases.ts'
import type { OutboxWriter } from './outbox-writer.ts'
import { monotonicMs, type SharedState } from './shared.ts'

interface UpkeepOptions {
  readonly writer: OutboxWriter
  readonly gate: AdmissionGate
  readonly leases: Leases
  readonly budgets: Pick<KeyBudgets, 'refresh' | 'hasLeases'>
  readonly state: SharedState
  /** Called when the held amounts have changed, so that the ledger records them. */
  readonly onHeld: (epoch: number, held: ReadonlyMap<string, Nano>) => void
}

const watchMs = 50
const noteHeldMs = 250
const refreshMs = 500
const tickMs = 1_000
const quietMs = 1_000

/** A timer with a variable period: calls back at the period set last, and does not keep the process alive. */
class Pace {
  private readonly tick: () => void
  private timer: ReturnType<typeof setInterval> | null = null
  /** null: the timer is stopped. */
  everyMs: number | null = null

  constructor(tick: () => void) {
    this.tick = tick
  }

  set(everyMs: number | null): void {
    if (everyMs === this.everyMs) return
    if (this.timer !== null) clearInterval(this.timer)
    this.everyMs = everyMs
    this.timer = everyMs === null ? null : setInterval(this.tick, everyMs)
    this.timer?.unref()
  }
}

export class Upkeep {
  readonly #options: UpkeepOptions
  readonly #pace = new Pace(() => this.#look())
  #quietSinceMs = monotonicMs()
  #heldNotedMs = 0
  #tickedMs = 0
  #refreshedMs = 0
  #notedChange = 0

  constructor(options: UpkeepOptions) {
    this.#options = options
  }

  /** Returns to the fast pace, because a request or another event needs attention. */
  rouse(): void {
    if (this.#pace.everyMs === watchMs) return
    this.#quietSinceMs = monotonicMs()
    this.#pace.set(watchMs)
  }

  stop(): void {
    this.#pace.set(null)
  }

  /** Notes settlements, judges admission, gives back unneeded money, refreshes budgets and reports holds. */
  #look(): void {
    const { writer, gate, leases, budgets, state } = this.#options
    writer.noteSettled()
    gate.look()
    const nowMs = monotonicMs()
    // While the ledger is unreachable it cannot take money back, so leases keep it and requests are served from it.
    if (!state.unreached && nowMs - this.#tickedMs >= tickMs - watchMs / 2) {
      this.#tickedMs = nowMs
      leases.tick(nowMs)
    }
    if (nowMs - this.#refreshedMs >= refreshMs - watchMs / 2) {
      this.#refreshedMs = nowMs
      budgets.refresh()
    }
    if (nowMs - this.#heldNotedMs >= noteHeldMs - watchMs / 2) {
      this.#heldNotedMs = nowMs
      this.#noteHeld()
    }
    this.#rest(nowMs)
  }

  #noteHeld(): void {
    const { gate, leases, onHeld } = this.#options
    if (leases.changed === this.#notedChange || gate.ref === null) return
    this.#notedChange = leases.changed
    onHeld(gate.ref.epoch, leases.held())
  }

  /** After a quiet second, slows down to the pace of the leases; stops where there are no leases. */
  #rest(nowMs: number): void {
    const { writer, gate, budgets } = this.#options
    const { openHolds, changed, accounts } = this.#options.leases
    const busy = openHolds > 0 || changed !== this.#notedChange || writer.unsettledRecords > 0
    if (busy || gate.isShut) this.#quietSinceMs = nowMs
    if (nowMs - this.#quietSinceMs < quietMs) return
    this.#pace.set(accounts > 0 || budgets.hasLeases ? tickMs : null)
  }
}
