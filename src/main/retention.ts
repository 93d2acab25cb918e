// Removes usage rows that are older than the deployment keeps them: a few at a time, through the ledger's thread; or, where
// they are archived, by whole days, through a thread that writes them to files before.

import type { Pruning } from '../ledger/messages.ts'

const dayMs = 86_400_000
const firstMs = 5_000
const everyMs = 60_000
/** Settling goes on between two batches. */
const pauseMs = 100
const rowsAtOnce = 500

interface RetentionOptions {
  /** Null: for ever. Asked each time. */
  readonly keepDays: () => number | null
  /** Of requests that were refused before a vendor was asked. */
  readonly keepRefusalsDays: () => number
  /** Returns how many rows it removed. */
  readonly prune: (pruning: Pruning) => Promise<number>
  /** In place of `prune`, all there is before that moment; null: rows are removed alone. Asked each time. */
  readonly archive: () => ((before: number) => Promise<void>) | null
  readonly onError: (error: unknown) => void
}

export function keepUsageFor(options: RetentionOptions): { close(): void } {
  const { keepDays, keepRefusalsDays, prune, onError } = options
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
    const [days, refusalsDays] = [keepDays(), keepRefusalsDays()]
    const pruned = (what: Pruning['what'], before: number) =>
      prune({ what, before, limit: rowsAtOnce })
    try {
      const isSooner = days === null || refusalsDays < days
      const refusals = isSooner ? await pruned('refusals', Date.now() - refusalsDays * dayMs) : 0
      if (days === null) return refusals
      const before = Date.now() - days * dayMs
      const archive = options.archive()
      if (archive === null) return Math.max(refusals, await pruned('all', before))
      await archive(before - (before % dayMs))
      return refusals
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
