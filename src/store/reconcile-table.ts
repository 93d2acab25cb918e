// The data that reconciliation compares for a period: usage rows, journal entries and totals.

import type { Nano } from '../money.ts'
import type { UsageRow } from './usage-row.ts'

export interface ReconcilePeriod {
  /** Left out: all accounts. */
  readonly account?: string | undefined
  /** Unix milliseconds, multiples of 15 minutes. */
  readonly since: number
  readonly until: number
}

export interface ReconcilePiece {
  /** Where this piece ends: a multiple of 15 minutes, or the end of the period if little is left. */
  readonly until: number
  /** Rows of this time may have been removed, so only totals are given. */
  readonly pruned: boolean
  readonly rows: readonly ReconciledRow[]
  /** Journal entries without a row, at most the first 1,000. */
  readonly orphans: readonly ReconciledEntry[]
  readonly totals: readonly ReconciledTotal[]
}

export interface ReconciledRow {
  readonly row: UsageRow
  /** The amounts in the journal entries for the row. */
  readonly chargeNano: Nano
  readonly writeoffNano: Nano
  /** Differences between the row and its entries, in amount or accounts. */
  readonly problems: readonly string[]
}

export interface ReconciledEntry {
  readonly id: string
  readonly account: string
  readonly at: number
  readonly amountNano: Nano
}

export interface ReconciledTotal {
  /** The day's first moment in UTC, Unix milliseconds. */
  readonly day: number
  readonly account: string
  readonly requests: number
  readonly chargeNano: Nano
  readonly writeoffNano: Nano
}

export interface ReconcileTable {
  /** Reads one piece, from the beginning of the period. */
  read(asked: ReconcilePeriod): Promise<ReconcilePiece>
}
