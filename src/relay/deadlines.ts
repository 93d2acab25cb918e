// One coarse timer for all running requests: each costs an entry in a list instead of a timer of its own.

import type { GatewayError } from '../errors.ts'

/** An entry called at every tick; decides by itself what has run out. */
export interface Timed {
  /** Its index in the list; -1 while it is not in it. Only Deadlines writes it. */
  slot: number
  tick(nowMs: number): void
  /** Ends whatever is still waited for; `why` left out: the process stops. */
  shutDown?(why?: GatewayError): void
}

const tickMs = 50
/** The timer runs on for one quiet second: stopping and starting it at every request would cost more. */
const quietTicks = 20

/** Times are by `performance.now()`, which a change of the system clock does not affect. */
export class Deadlines {
  private readonly timed: Timed[] = []
  private timer: ReturnType<typeof setInterval> | null = null
  private emptyTicks = 0

  add(entry: Timed): void {
    if (entry.slot !== -1) return
    entry.slot = this.timed.length
    this.timed.push(entry)
    if (this.timer === null) this.timer = setInterval(() => this.tick(), tickMs)
  }

  /** Moves the last entry into the free slot: the list has no order, so nothing has to be searched. */
  delete(entry: Timed): void {
    const { slot } = entry
    if (slot === -1) return
    entry.slot = -1
    const last = this.timed.pop()
    if (last === undefined || last === entry) return
    this.timed[slot] = last
    last.slot = slot
  }

  /** All current entries, in no order. */
  get entries(): readonly Timed[] {
    return this.timed
  }

  get size(): number {
    return this.timed.length
  }

  /** Ends everything that runs; `why` left out: the process stops. */
  shutDown(why?: GatewayError): void {
    for (const entry of [...this.timed]) entry.shutDown?.(why)
  }

  /** A bug in one entry must not keep the others from their limits. */
  private tickOne(entry: Timed | undefined, nowMs: number): void {
    try {
      entry?.tick(nowMs)
    } catch (error) {
      reportError(error)
    }
  }

  private tick(): void {
    const nowMs = performance.now()
    // Backwards: an entry that leaves during its tick is replaced by one already visited.
    for (let at = this.timed.length - 1; at >= 0; at--) this.tickOne(this.timed[at], nowMs)
    this.emptyTicks = this.timed.length === 0 ? this.emptyTicks + 1 : 0
    if (this.emptyTicks <= quietTicks || this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
    this.emptyTicks = 0
  }
}
