// What can be asked of a period that is recomputed, and what it is made of.

import type { Nano } from '../money.ts'
import type { UsageRow } from './usage-row.ts'

export interface ReconcilePeriod {
  /** undefined: all of them. */
  readonly account?: string | undefined
  /** Unix milliseconds, whole quarters of an hour. */
  readonly since: number
  readonly until: number
}

export interface ReconcilePiece {
  /** Where it ends: whole quarters, and all that was asked for where there is little. */
  readonly until: number
  /** Its rows may have been removed: there are totals alone. */
  readonly pruned: boolean
  readonly rows: readonly ReconciledRow[]
  /** Entries that no row belongs to, the first of them. */
  readonly orphans: readonly ReconciledEntry[]
  readonly totals: readonly ReconciledTotal[]
}

export interface ReconciledRow {
  readonly row: UsageRow
  /** What the journal has for it. */
  readonly chargeNano: Nano
  readonly writeoffNano: Nano
  /** Where that is not what the row says, or is between other accounts. */
  readonly problems: readonly string[]
}

export interface ReconciledEntry {
  readonly id: string
  readonly account: string
  readonly at: number
  readonly amountNano: Nano
}

export interface ReconciledTotal {
  /** Its first moment, in UTC. */
  readonly day: number
  readonly account: string
  readonly requests: number
  readonly chargeNano: Nano
  readonly writeoffNano: Nano
}

export interface ReconcileTable {
  /** From the beginning of what is asked for. */
  read(asked: ReconcilePeriod): Promise<ReconcilePiece>
}
