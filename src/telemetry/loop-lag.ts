// How late the event loop runs, sampled by a timer that costs two wake-ups a second while there is anything to be late for.

interface LoopLag {
  /** Milliseconds; the worst of the last two seconds, 0 while nothing is sampled. */
  lagMs(): number
  /** Samples again, where it had come to rest. */
  wake(): void
  stop(): void
}

interface LoopLagOptions {
  /** Monotonic milliseconds. */
  readonly clock?: () => number
  /** Once false, sampling rests until it is woken; left out, it never does. */
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
    // A loop that is stuck right now has not had its sample yet.
    lagMs: () => (timer === null ? 0 : Math.max(...samples, clock() - dueAt)),
    wake,
    stop,
  }
}
