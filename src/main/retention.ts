// Removes usage rows that are older than the deployment keeps them: a few at a time, through the ledger's thread; or, where
// they are archived, by whole days, through a thread that writes them to files before.

const dayMs = 86_400_000
const firstMs = 5_000
const everyMs = 60_000
/** Settling goes on between two batches. */
const pauseMs = 100
const rowsAtOnce = 500

interface RetentionOptions {
  /** Null: for ever. Asked each time. */
  readonly keepDays: () => number | null
  /** Returns how many rows it removed. */
  readonly prune: (before: number, limit: number) => Promise<number>
  /** In place of `prune`, all there is before that moment; null: rows are removed alone. Asked each time. */
  readonly archive: () => ((before: number) => Promise<void>) | null
  readonly onError: (error: unknown) => void
}

export function keepUsageFor(options: RetentionOptions): { close(): void } {
  const { keepDays, prune, onError } = options
  let closed = false
  let timer = setTimeout(look, firstMs)
  timer.unref()

  async function look(): Promise<void> {
    const removed = await removeSome()
    if (closed) return
    timer = setTimeout(look, removed < rowsAtOnce ? everyMs : pauseMs)
    timer.unref()
  }

  async function removeSome(): Promise<number> {
    const days = keepDays()
    if (days === null) return 0
    const before = Date.now() - days * dayMs
    try {
      const archive = options.archive()
      if (archive === null) return await prune(before, rowsAtOnce)
      await archive(before - (before % dayMs))
      return 0
    } catch (error) {
      onError(error)
      return 0
    }
  }

  return {
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
