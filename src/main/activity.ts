// Pauses background work while no requests come, so that an idle server does not wake the processor.

import type { Load } from '../http/load.ts'

/** Background work that pauses by itself once the server is not busy. */
interface Resting {
  /** Resumes the work; a request waits for the promise. null: nothing to wait for. */
  wake(): Promise<void> | null | void
}

/** How long after the last request the server counts as busy. */
const restAfterMs = 5_000
/** A request waits no longer for a store that does not answer: the state known before still applies. */
const longestWakeMs = 1_000

export class Activity {
  private readonly load: Pick<Load, 'inFlight'>
  private readonly resting: Resting[] = []
  private latestMs = performance.now()

  constructor(load: Pick<Load, 'inFlight'>) {
    this.load = load
  }

  readonly isBusy = (): boolean =>
    this.load.inFlight > 0 || performance.now() - this.latestMs < restAfterMs

  add(resting: Resting): void {
    this.resting.push(resting)
  }

  /** Called for each request. null: it can be answered at once. */
  readonly arrived = (): Promise<void> | null => {
    this.latestMs = performance.now()
    let waking: Promise<void>[] | null = null
    for (const each of this.resting) {
      const woken = each.wake()
      if (!woken) continue
      waking ??= []
      waking.push(woken)
    }
    return waking === null ? null : atMost(Promise.all(waking))
  }
}

async function atMost(work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, longestWakeMs)
  await Promise.race([work, late.promise])
  clearTimeout(timer)
}
