// The messages between the serving thread and the thread that writes history.

import type { HistorySettings } from '../config/types.ts'
import type { StoreSettings } from '../store/open.ts'
import type { Exchange } from './document.ts'

/** What the thread is started with. */
export interface WriterStart {
  readonly store: StoreSettings
}

export interface ToWriter {
  readonly exchanges: readonly Exchange[]
  readonly diskBudget: HistorySettings['diskBudget']
}

/** The answer to each message; the next message is sent only after it. */
export interface FromWriter {
  /** Number of the message's exchanges that could not be stored, and why. */
  readonly lost: number
  readonly failure: string | null
  /** Size of all that is stored, as last counted; null: not counted yet. */
  readonly diskBytes: number | null
}
