// Measures how late the event loop runs, by a timer with two wake-ups per second while there is work.

interface LoopLag {
  /** The highest lag of the last two seconds in milliseconds; 0 while nothing is sampled. */
  lagMs(): number
  /** Resumes sampling. */
  wake(): void
  stop(): void
}

interface LoopLagOptions {
  /** Monotonic milliseconds. */
  readonly clock?: () => number
  /** When it returns false, sampling pauses before the next `wake`; by default it never pauses. */
  readonly busy?: () => boolean
}

const everyMs = 500
const samplesKept = 4

/** Starts sampling; the timer does not keep the process alive. */
export function startLoopLag({
  clock = () => performance.now(),
  busy = () => true,
}: LoopLagOptions = {}): LoopLag {
  const samples = new Array<number>(samplesKept).fill(0)
  let at = 0
  let dueAt = 0
  let timer: ReturnType<typeof setInterval> | null = null
  const stop = () => {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  const sample = () => {
    const now = clock()
    samples[at % samplesKept] = Math.max(0, now - dueAt)
    at += 1
    dueAt = now + everyMs
    if (busy()) return
    stop()
    samples.fill(0)
  }
  const wake = () => {
    if (timer !== null) return
    dueAt = clock() + everyMs
    timer = setInterval(sample, everyMs)
    timer.unref()
  }
  wake()
  return {
    // Includes a delay that is still going on and has no sample yet.
    lagMs: () => (timer === null ? 0 : Math.max(...samples, clock() - dueAt)),
    wake,
    stop,
  }
}
