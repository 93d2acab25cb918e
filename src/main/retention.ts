// Removes expired usage rows: a few at a time through the ledger's thread; or, where they are archived, by whole days
// through a thread that writes them to files first.

import type { Pruning } from '../ledger/messages.ts'
import type { ClockCheck } from './clock-check.ts'

const dayMs = 86_400_000
const firstMs = 5_000
const everyMs = 60_000
/** Pause between two batches, so that settling goes on. */
const pauseMs = 100
const rowsAtOnce = 500

interface RetentionOptions {
  readonly clock: ClockCheck
  /** Called each time; null: rows are kept for ever. */
  readonly keepDays: () => number | null
  /** For requests that were refused before a vendor was asked. */
  readonly keepRefusalsDays: () => number
  /** Returns the number of rows removed. */
  readonly prune: (pruning: Pruning) => Promise<number>
  /** Replaces `prune` where it is not null: archives and removes all rows before that moment. Called each time. */
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
      const problem = await options.clock.problem()
      if (problem !== null) throw new Error(problem)
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
