// The data and changes of videos that are being made or were made.

import type { Nano } from '../money.ts'
import type { IdempotencyDone, NodeRef, SettleResult } from './ledger.ts'
import type { UsageRow } from './usage-row.ts'

/** Times are Unix milliseconds. `video`, `work` and `bill` are JSON, interpreted by the code that writes them. */
export interface VideoRow {
  readonly account: string
  readonly id: string
  readonly requestId: string
  readonly state: 'running' | 'completed' | 'failed'
  /** The video object that clients see. */
  readonly video: string
  /** Where the vendor makes it, and how far it has come. */
  readonly work: string
  /** What it will cost. */
  readonly bill: string
  /** Set aside while it runs; then 0n. */
  readonly heldNano: Nano
  /** How often its vendor was asked about it. */
  readonly polls: number
  readonly pollAt: number
  readonly polledAt: number | null
  readonly createdAt: number
  /** When it is deleted, if it has ended by then. */
  readonly expiresAt: number
}

export type NewVideo = Omit<VideoRow, 'state' | 'polls' | 'polledAt'>

export interface VideoBegin {
  readonly kind: 'begin'
  readonly row: NewVideo
  /** The node whose lease pays as far as it can; the rest comes from the wallet's free money. */
  readonly from: NodeRef
  readonly idempotency: IdempotencyDone | null
}

export interface VideoClaim {
  readonly kind: 'claim'
  readonly nowMs: number
  /** No other node claims these videos before this time, while the claiming node is open. */
  readonly untilMs: number
  readonly limit: number
  /** Claims only this video, though it may not be due, if it was not polled since `polledBeforeMs`. */
  readonly only?: { readonly account: string; readonly id: string; readonly polledBeforeMs: number }
}

interface VideoNote {
  readonly kind: 'note'
  readonly account: string
  readonly id: string
  readonly video: string
  readonly work: string
  readonly nowMs: number
  readonly pollAt: number
}

/** `row` has the whole charge, as in any settlement; its id is that of the request that began the video. */
export interface VideoEnd {
  readonly kind: 'end'
  readonly account: string
  readonly id: string
  /** `removed`: the row is deleted with this change. */
  readonly state: 'completed' | 'failed' | 'removed'
  readonly video: string
  readonly work: string
  readonly nowMs: number
  readonly row: UsageRow
  readonly capNano: Nano | null
}

export type VideoChange =
  | VideoBegin
  | VideoClaim
  | VideoNote
  | VideoEnd
  /** Deletes a video that has ended. */
  | { readonly kind: 'remove'; readonly account: string; readonly id: string }

export interface VideoChanged {
  /** `insufficient`: the money was not available, and nothing was changed. */
  readonly state: 'changed' | 'unchanged' | 'insufficient'
  /** The claimed videos; empty for other changes. */
  readonly rows: readonly VideoRow[]
  /** What an `end` charged. */
  readonly settled: SettleResult
}

interface VideoPage {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** The last video of the previous page. */
  readonly after: Pick<VideoRow, 'id' | 'createdAt'> | null
}

export interface VideoTable {
  /**
   * Applies a change in one transaction. A repeated `begin`, and a `note` or `end` of a video that no longer runs,
   * change nothing. `end` frees the money set aside and settles in the same commit.
   */
  apply(change: VideoChange, by: NodeRef | null): Promise<VideoChanged>
  find(account: string, id: string): Promise<VideoRow | null>
  list(account: string, page: VideoPage): Promise<readonly VideoRow[]>
  /** When the next running video that nobody has claimed may be polled; null if there is none. */
  nextPollAt(nowMs: number): Promise<number | null>
  /** Whether any video is being made, including claimed ones. */
  isAnyRunning(): Promise<boolean>
  /** Deletes ended videos that have expired. */
  clean(nowMs: number): Promise<void>
}
