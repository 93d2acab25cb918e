// A timer whose pace follows the work: fast, slow, or not at all.

/** Calls back at the pace set last; does not keep the process alive. */
export class Pace {
  private readonly tick: () => void
  private timer: ReturnType<typeof setInterval> | null = null
  /** null: it stands still. */
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
