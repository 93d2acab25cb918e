// How late the event loop runs, sampled by a timer that costs two wake-ups a second.

export interface LoopLag {
  /** Milliseconds; the worst of the last two seconds. */
  lagMs(): number
  stop(): void
}

const everyMs = 500
const samplesKept = 4

/** Starts sampling; the timer does not keep the process alive. `clock` is monotonic milliseconds. */
export function startLoopLag(clock: () => number = () => performance.now()): LoopLag {
  const samples = new Array<number>(samplesKept).fill(0)
  let at = 0
  let dueAt = clock() + everyMs
  const timer = setInterval(() => {
    const now = clock()
    samples[at % samplesKept] = Math.max(0, now - dueAt)
    at += 1
    dueAt = now + everyMs
  }, everyMs)
  timer.unref()
  return {
    // A loop that is stuck right now has not had its sample yet.
    lagMs: () => Math.max(...samples, clock() - dueAt),
    stop: () => clearInterval(timer),
  }
}
