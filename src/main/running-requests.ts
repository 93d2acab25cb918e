// Reports this process's requests under way to the store while somebody looks, and stops those marked to be stopped.

import type { Deadlines } from '../relay/deadlines.ts'
import { runningIn, stopIn } from '../relay/running.ts'
import { type RevisionWatch, watchRevision } from '../store/revision.ts'
import type { ProcessReading, RunningTable } from '../store/running.ts'
import { processId } from './process-reading.ts'

interface RunningOptions {
  readonly deadlines: Deadlines
  readonly reading: () => ProcessReading
  readonly onError: (error: unknown) => void
  readonly busy: () => boolean
}

/** Most requests reported by one process, so that reports stay small. */
const mostReported = 500

/** Checks the store twice a second while requests come. */
export function watchRunning(table: RunningTable, options: RunningOptions): RevisionWatch {
  const { deadlines, reading, onError, busy } = options
  const look = async (): Promise<number> => {
    const { accounts, stops } = await table.work()
    for (const stop of stops) {
      if (stopIn(deadlines, stop.requestId, stop.account)) await table.endStop(stop, 'done')
    }
    if (accounts === null || accounts.length > 0) {
      const whose = accounts === null ? null : new Set(accounts)
      const requests = runningIn(deadlines, whose, mostReported)
      // The state of the process is for operators, who look at all accounts.
      if (whose === null) await table.report(processId, requests, reading())
      else await table.report(processId, requests)
    }
    return unchanged
  }
  // There is no state to reread here: looking is all of the work.
  return watchRevision({ known: unchanged, read: look, reload: look, onError, busy })
}

const unchanged = 0
