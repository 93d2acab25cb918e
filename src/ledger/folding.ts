// Folds usage totals of past quarter-hours into totals by hour and by day, in the background.

const everyMs = 60_000
/** Quarter-hours are folded this long after their end; usage settled later costs an update of hours and days itself. */
const lateMs = 3_600_000

interface FoldingParts {
  /** Folds quarter-hours that ended before this moment; returns whether there were any, undefined if it failed. */
  readonly fold: (before: number) => Promise<boolean | undefined>
  /** Returns early when the worker is to stop. */
  readonly pause: (forMs: number) => Promise<void>
  readonly stopping: AbortSignal
}

/** With much to fold, as after an upgrade, pauses as long as it worked: the thread's other work gets half the time. */
export async function keepFolding({ fold, pause, stopping }: FoldingParts): Promise<void> {
  while (!stopping.aborted) {
    const beganMs = performance.now()
    const folded = await fold(Date.now() - lateMs)
    await pause(folded === true ? performance.now() - beganMs : everyMs)
  }
}
