// Folds totals of usage that are over into those by hours and by days, in the background.

const everyMs = 60_000
/** What is settled later than this after its quarter of an hour costs more: it is added to hours and days by itself. */
const lateMs = 3_600_000

interface FoldingParts {
  /** Of quarters that were over before this moment; whether there was anything. Undefined where it failed. */
  readonly fold: (before: number) => Promise<boolean | undefined>
  /** Returns early when all is to end. */
  readonly pause: (forMs: number) => Promise<void>
  readonly stopping: AbortSignal
}

/** Where there is much to fold, as after an upgrade, what else the thread does has half of the time. */
export async function keepFolding({ fold, pause, stopping }: FoldingParts): Promise<void> {
  while (!stopping.aborted) {
    const beganMs = performance.now()
    const folded = await fold(Date.now() - lateMs)
    await pause(folded === true ? performance.now() - beganMs : everyMs)
  }
}
