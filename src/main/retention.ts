// Removes usage rows that are older than the deployment keeps them: a few at a time, through the ledger's thread.

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
  readonly onError: (error: unknown) => void
}

export function keepUsageFor({ keepDays, prune, onError }: RetentionOptions): { close(): void } {
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
    try {
      return await prune(Date.now() - days * dayMs, rowsAtOnce)
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
