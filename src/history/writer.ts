// The thread that writes history: folds, compresses and seals exchanges, stores them, and deletes expired messages.

import type { HistoryEntry, HistoryTable } from '../store/history.ts'
import { entryOf } from './document.ts'
import type { FromWriter, ToWriter } from './messages.ts'

/** Expired messages are searched for at most this often. */
const cleanEveryMs = 10_000

interface Writer {
  /** Never rejects. */
  take(message: ToWriter): Promise<FromWriter>
}

export function createWriter(table: Pick<HistoryTable, 'add' | 'clean'>): Writer {
  let cleanedMs = Number.NEGATIVE_INFINITY
  let diskBytes: number | null = null
  return {
    async take({ exchanges, diskBudget }) {
      let lost = 0
      let failure: string | null = null
      const failed = (error: unknown, count: number): void => {
        lost += count
        failure = error instanceof Error ? error.message : String(error)
      }
      const entries: HistoryEntry[] = []
      for (const exchange of exchanges) {
        try {
          entries.push(await entryOf(exchange))
        } catch (error) {
          failed(error, 1)
        }
      }
      try {
        if (entries.length > 0) await table.add(entries)
      } catch (error) {
        failed(error, entries.length)
      }
      try {
        if (performance.now() - cleanedMs > cleanEveryMs) {
          cleanedMs = performance.now()
          diskBytes = await table.clean(Date.now(), diskBudget)
        }
      } catch (error) {
        failed(error, 0)
      }
      return { lost, failure, diskBytes }
    },
  }
}
