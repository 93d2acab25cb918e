// What the serving thread and the thread that writes history say to each other.

import type { HistorySettings } from '../config/types.ts'
import type { StoreSettings } from '../store/open.ts'
import type { Exchange } from './document.ts'

/** What the thread starts with. */
export interface WriterStart {
  readonly store: StoreSettings
}

export interface ToWriter {
  readonly exchanges: readonly Exchange[]
  readonly diskBudget: HistorySettings['diskBudget']
}

/** The answer to each message: only then comes the next. */
export interface FromWriter {
  /** Of the message's exchanges: those that could not be kept, and why. */
  readonly lost: number
  readonly failure: string | null
  /** All that is kept, as it was last counted; null: not yet. */
  readonly diskBytes: number | null
}
