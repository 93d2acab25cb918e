// One coarse timer for everything under way: a request costs a set entry and not a timer of its own.

/** Looked at every tick; decides by itself what has run out. */
export interface Timed {
  tick(nowMs: number): void
}

const tickMs = 100

/** Times are `performance.now()`: a stepped clock moves nothing. */
export class Deadlines {
  private readonly timed = new Set<Timed>()
  private timer: ReturnType<typeof setInterval> | null = null
  private emptyTicks = 0

  add(entry: Timed): void {
    this.timed.add(entry)
    if (this.timer === null) this.timer = setInterval(() => this.tick(), tickMs)
  }

  delete(entry: Timed): void {
    this.timed.delete(entry)
  }

  get size(): number {
    return this.timed.size
  }

  private tick(): void {
    const nowMs = performance.now()
    for (const entry of this.timed) entry.tick(nowMs)
    // Kept through a quiet second: stopping and starting at every request would cost more than it saves.
    this.emptyTicks = this.timed.size === 0 ? this.emptyTicks + 1 : 0
    if (this.emptyTicks <= 10 || this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
    this.emptyTicks = 0
  }
}
