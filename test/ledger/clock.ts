// Virtual time: scheduled events happen in the order of their times, and promises settle in between.

import type { Scheduler } from './node.ts'

export class Clock implements Scheduler {
  nowMs = 0
  readonly #latency: () => number
  #due: { readonly atMs: number; readonly run: () => void }[] = []

  /** `latency` returns the milliseconds that a message takes. */
  constructor(latency: () => number) {
    this.#latency = latency
  }

  soon(run: () => void): void {
    this.later(run, this.#latency())
  }

  later(run: () => void, delayMs: number): void {
    const atMs = this.nowMs + delayMs
    const after = this.#due.findIndex((event) => event.atMs > atMs)
    this.#due.splice(after === -1 ? this.#due.length : after, 0, { atMs, run })
  }

  /** Until that time, or until `done`. */
  async runUntil(untilMs: number, done: () => boolean = () => false): Promise<void> {
    await settled()
    while (!done()) {
      const [next] = this.#due
      if (next === undefined || next.atMs > untilMs) break
      this.#due.shift()
      this.nowMs = next.atMs
      next.run()
      await settled()
    }
  }
}

/** Resolves when all promise callbacks that can run have run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
