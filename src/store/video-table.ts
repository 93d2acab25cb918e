// What the store keeps of videos that are made, or were, and how each may change.

import type { Nano } from '../money.ts'
import type { IdempotencyDone, NodeRef, SettleResult } from './ledger.ts'
import type { UsageRow } from './usage-row.ts'

/** Times are Unix milliseconds. The three texts are JSON, and whoever wrote them reads them. */
export interface VideoRow {
  readonly account: string
  readonly id: string
  readonly requestId: string
  readonly state: 'running' | 'completed' | 'failed'
  /** What its account is shown. */
  readonly video: string
  /** Where it is made. */
  readonly work: string
  /** What it will cost. */
  readonly bill: string
  /** Set aside until it ends; then 0. */
  readonly heldNano: Nano
  /** How often its vendor was asked. */
  readonly polls: number
  readonly pollAt: number
  readonly polledAt: number | null
  readonly createdAt: number
  /** Past this it is removed, once it has ended. */
  readonly expiresAt: number
}

export type NewVideo = Omit<VideoRow, 'state' | 'polls' | 'polledAt'>

export interface VideoBegin {
  readonly kind: 'begin'
  readonly row: NewVideo
  /** Whose lease the money is taken from, as far as it has it; the rest is the wallet's free money. */
  readonly from: NodeRef
  readonly idempotency: IdempotencyDone | null
}

export interface VideoClaim {
  readonly kind: 'claim'
  readonly nowMs: number
  /** Nobody else asks for them before, while this node is open. */
  readonly untilMs: number
  readonly limit: number
  /** This one alone, where it was not asked for since `polledBeforeMs`, though it is not due. */
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

/** `row` holds the whole charge, as with any settlement; what it is called by is the request that began the video. */
export interface VideoEnd {
  readonly kind: 'end'
  readonly account: string
  readonly id: string
  /** `removed`: it is gone with this. */
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
  /** Removes one that has ended. */
  | { readonly kind: 'remove'; readonly account: string; readonly id: string }

export interface VideoChanged {
  /** `insufficient`: the money was not there, and nothing was changed. */
  readonly state: 'changed' | 'unchanged' | 'insufficient'
  /** Of a claim: what was claimed. */
  readonly rows: readonly VideoRow[]
  /** Of an end: what was charged. */
  readonly settled: SettleResult
}

interface VideoPage {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** The last one of the page before. */
  readonly after: Pick<VideoRow, 'id' | 'createdAt'> | null
}

export interface VideoTable {
  /**
   * Each in one transaction. A `begin` that was done before, and a `note` or `end` of one that runs no longer, changes
   * nothing. `end` frees what was set aside, and settles in the same commit.
   */
  apply(change: VideoChange, by: NodeRef | null): Promise<VideoChanged>
  find(account: string, id: string): Promise<VideoRow | null>
  list(account: string, page: VideoPage): Promise<readonly VideoRow[]>
  /** When the next one of those that run may be asked for; null: none runs that nobody is asking for. */
  nextPollAt(nowMs: number): Promise<number | null>
  /** Whether any video is being made, also one that somebody asks for at present. */
  isAnyRunning(): Promise<boolean>
  /** Removes those that have ended and are past their time. */
  clean(nowMs: number): Promise<void>
}
