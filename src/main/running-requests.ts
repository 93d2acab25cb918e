// Tells the store what runs in this process while somebody looks, and stops what is to be stopped.

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

/** Of one process, so that a report stays small. */
const mostReported = 500

/** Looks twice a second while requests come. */
export function watchRunning(table: RunningTable, options: RunningOptions): RevisionWatch {
  const { deadlines, reading, onError, busy } = options
  const look = async (): Promise<number> => {
    const { accounts, stops } = await table.work()
    for (const { requestId, account } of stops) {
      if (stopIn(deadlines, requestId, account)) await table.stopped(requestId)
    }
    if (accounts === null || accounts.length > 0) {
      const whose = accounts === null ? null : new Set(accounts)
      const requests = runningIn(deadlines, whose, mostReported)
      // How the process does is for those who look at all of it.
      if (whose === null) await table.report(processId, requests, reading())
      else await table.report(processId, requests)
    }
    return unchanged
  }
  // Nothing is kept here that would have to be read anew.
  return watchRevision({ known: unchanged, read: look, reload: look, onError, busy })
}

const unchanged = 0
