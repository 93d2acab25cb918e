// Notices that this machine's clock is ahead, so that nothing is removed before its time.

const dayMs = 86_400_000
/** More than the clocks of two machines differ. */
const toleranceMs = 60_000

interface Clocks {
  /** The database's clock, Unix milliseconds. */
  readonly databaseMs: () => Promise<number>
  readonly wallMs: () => number
  /** Counts on whatever the clock is set to. */
  readonly monotonicMs: () => number
}

export interface ClockCheck {
  /** Why nothing may be removed at present; null: the clock is plausible. */
  problem(): Promise<string | null>
}

/**
 * The clock may be set forward by hand or by a machine's host, or the machine slept: these cannot be told apart, so
 * after more than a day at once nothing is removed for a day, in which somebody may notice.
 */
export function createClockCheck({ databaseMs, wallMs, monotonicMs }: Clocks): ClockCheck {
  let last = { wallMs: wallMs(), monotonicMs: monotonicMs() }
  let heldUntilMs = Number.NEGATIVE_INFINITY
  return {
    async problem() {
      const now = { wallMs: wallMs(), monotonicMs: monotonicMs() }
      const leapMs = now.wallMs - last.wallMs - (now.monotonicMs - last.monotonicMs)
      last = now
      if (leapMs > dayMs) heldUntilMs = now.monotonicMs + dayMs
      // Set back again, it is what it was before.
      if (leapMs < -dayMs) heldUntilMs = Number.NEGATIVE_INFINITY
      if (now.monotonicMs < heldUntilMs)
        return 'the clock of this machine went forward by more than a day at once: nothing is removed for a day'
      const aheadMs = wallMs() - (await databaseMs())
      return aheadMs > toleranceMs
        ? `the clock of this machine is ${Math.round(aheadMs / 1_000)} s ahead of the database's`
        : null
    },
  }
}
