// Lets what is only needed for requests rest while none come, so that an idle server wakes for nothing.

import type { Load } from '../http/load.ts'

/** What rests by itself once the server is not busy. */
interface Resting {
  /** What is to be waited for; null: nothing. */
  wake(): Promise<void> | null | void
}

/** The last request is over for so long. */
const restAfterMs = 5_000
/** A store that does not answer keeps a request no longer: what was known before goes on to hold. */
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

  /** A request has come; null: it can be answered at once. */
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
