// One coarse timer for everything under way: a request costs a place in a list and not a timer of its own.

/** Looked at every tick; decides by itself what has run out. */
export interface Timed {
  /** Where the list keeps it; -1 while it does not. Only Deadlines writes it. */
  slot: number
  tick(nowMs: number): void
  /** The process stops: whatever is waited for will not come. */
  shutDown?(): void
}

const tickMs = 50
/** Kept through a quiet second: stopping and starting at every request would cost more than it saves. */
const quietTicks = 20

/** Times are `performance.now()`: a stepped clock moves nothing. */
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

  /** The last one takes the place that is left: no order is kept, and nothing has to be searched. */
  delete(entry: Timed): void {
    const { slot } = entry
    if (slot === -1) return
    entry.slot = -1
    const last = this.timed.pop()
    if (last === undefined || last === entry) return
    this.timed[slot] = last
    last.slot = slot
  }

  /** All there are now, in no order. */
  get entries(): readonly Timed[] {
    return this.timed
  }

  get size(): number {
    return this.timed.length
  }

  /** Ends everything under way. */
  shutDown(): void {
    for (const entry of [...this.timed]) entry.shutDown?.()
  }

  private tick(): void {
    const nowMs = performance.now()
    // From the end: one that leaves during its tick is replaced by one already looked at.
    for (let at = this.timed.length - 1; at >= 0; at--) this.timed[at]?.tick(nowMs)
    this.emptyTicks = this.timed.length === 0 ? this.emptyTicks + 1 : 0
    if (this.emptyTicks <= quietTicks || this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
    this.emptyTicks = 0
  }
}
