// The state of archive and export, as this process last read it: for metrics.

import type { ExportStatus } from '../store/usage-export.ts'

export type ExportReading = Pick<ExportStatus, 'destination' | 'rowsBehind' | 'waitingSince'>

export interface Offloading {
  /** Unix milliseconds; null: the archive does not fail, or there is none. */
  archiveFailingSince: number | null
  exports: readonly ExportReading[]
}

export function createOffloading(): Offloading {
  return { archiveFailingSince: null, exports: [] }
}
