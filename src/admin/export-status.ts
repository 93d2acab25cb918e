// How far the export of usage records to each warehouse has come, for operators.

import type { Store } from '../store/store.ts'
import { timeText } from './time.ts'
import { AdminError } from './use-case.ts'

export async function exportStatus({ usageExport, failingWork }: Store) {
  const [all, failing] = await Promise.all([usageExport.list(), failingWork.all()])
  return all.map(({ destination, place, rowsBehind, waitingSince, rowsTaken, ...rest }) => {
    const failed = failing.find(({ work, subject }) => work === 'export' && subject === destination)
    const isBehind = place.scan !== null || rowsBehind > 0
    return {
      destination,
      /** `before`: records settled before the export was turned on are being sent. */
      state: place.scan !== null ? 'before' : isBehind ? 'behind' : 'current',
      rowsBehind,
      waitingSince: timeText(waitingSince),
      rowsTaken,
      takenAt: timeText(rest.takenAt),
      heldUntil: timeText(rest.heldUntil),
      failure: failed?.failure ?? null,
      failingSince: timeText(failed?.since ?? null),
    }
  })
}

/** Throws AdminError where nothing was ever sent to the destination. */
export async function restartExport({ usageExport }: Store, destination: string) {
  if (!(await usageExport.restart(destination)))
    throw new AdminError('not_found', 'destination', 'nothing was ever sent to it')
  return { destination }
}
