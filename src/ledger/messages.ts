// The messages between the serving thread and the ledger's worker.

import type { LedgerSettings } from '../config/types.ts'
import type { Nano } from '../money.ts'
import type { KeyUse } from '../store/keys.ts'
import type {
  Grant,
  GrantSize,
  IdempotencyDone,
  IdempotencyFound,
  IdempotencyTable,
  KeyClaim,
  NodeRef,
  OutboxPlace,
  SpentRange,
} from '../store/ledger.ts'
import type { StoreSettings } from '../store/open.ts'
import type { ResponseChange } from '../store/responses.ts'
import type { NewVideo, VideoChange, VideoChanged } from '../store/video-table.ts'
import type { LogFields } from '../telemetry/log.ts'

/** What a worker is started with. */
export interface WorkerStart {
  readonly store: StoreSettings
  readonly dataDir: string
  readonly slot: number
  readonly node: string
  /** The epoch of the outbox. */
  readonly epoch: number
  /** How far the last run recorded that it wrote the outbox; null if it recorded nothing, or that is settled. */
  readonly left: OutboxPlace | null
  readonly buffer: SharedArrayBuffer
  /** The serving thread's monotonic clock as it starts the worker. */
  readonly nowMs: number
  readonly settings: LedgerSettings
  /** Whether to send `settled` after each settlement, for replies that wait for it. */
  readonly announce: boolean
  /** Rows up to here are of a process that ended: usage of its streams is due. 0: all rows are this process's own. */
  readonly leftUntil: number
  /** No worker of this process has opened the node before: whatever the ledger has of it is of a process that ended. */
  readonly isFirst: boolean
}

export type IdempotencyEntry = Omit<Parameters<IdempotencyTable['begin']>[0], 'by'>

/** The beginning of a video names no node here: the money comes from the asker's own lease. */
type VideoRequest =
  | Exclude<VideoChange, { readonly kind: 'begin' }>
  | Omit<Extract<VideoChange, { readonly kind: 'begin' }>, 'from'>

/** The amount set aside for the video is what its request holds, so it is left out here. */
export interface VideoBeginning {
  readonly row: Omit<NewVideo, 'heldNano'>
  readonly idempotency: IdempotencyDone | null
}

export interface Spent {
  readonly nano: readonly Nano[]
  /** The sums include the records of this process up to this number. */
  readonly reached: number
}

/** How much of a key's spend limit this node leases from now on. */
export interface Claimed extends Spent {
  readonly roomNano: Nano
}

export interface Pruning {
  readonly what: 'all' | 'refusals'
  readonly before: number
  readonly limit: number
}

/** Each question is answered once; `epoch` is the node's epoch as the asker knows it. */
export type Question =
  | {
      readonly ask: 'grant'
      readonly epoch: number
      readonly account: string
      readonly size: GrantSize
    }
  | { readonly ask: 'begin'; readonly entry: IdempotencyEntry }
  | {
      readonly ask: 'forget'
      readonly account: string
      readonly key: string
      readonly requestId: string
    }
  /** Responses to keep: this thread owns the connection that writes. */
  | { readonly ask: 'keep'; readonly changes: readonly ResponseChange[] }
  /** A change of a video; money set aside is taken from the lease of the asker's epoch. */
  | { readonly ask: 'video'; readonly epoch: number; readonly change: VideoRequest }
  /** What keys have spent; the answer has one amount for each range. */
  | { readonly ask: 'spent'; readonly ranges: readonly SpentRange[] }
  /** Lease more or less of a key's spend limit. Refused if the asker's epoch is over. */
  | { readonly ask: 'claim'; readonly epoch: number; readonly claim: KeyClaim }
  /** End the leases of keys that have nothing left on this node. Refused as `claim` is. */
  | { readonly ask: 'giveBackKeys'; readonly epoch: number; readonly keyIds: readonly string[] }
  | { readonly ask: 'used'; readonly uses: readonly KeyUse[] }
  /** Delete the oldest usage rows of requests that began before `before`: of all, or of refused requests only. */
  | ({ readonly ask: 'prune' } & Pruning)
  /** Settle what the outbox has, then close the node, the store and the files. */
  | { readonly ask: 'stop' }

export interface Answers {
  readonly grant: Grant
  readonly begin: IdempotencyFound
  readonly forget: null
  readonly keep: readonly number[]
  readonly video: VideoChanged
  readonly spent: Spent
  readonly claim: Claimed
  readonly giveBackKeys: null
  readonly used: null
  readonly prune: number
  readonly stop: null
}

export type ToWorker =
  | { readonly kind: 'question'; readonly id: number; readonly question: Question }
  | {
      readonly kind: 'giveBack'
      readonly epoch: number
      readonly account: string
      readonly amountNano: Nano
    }
  | { readonly kind: 'recall'; readonly epoch: number; readonly account: string }
  /** Nothing of the account is held or free any more. */
  | { readonly kind: 'forget'; readonly account: string }
  /** What this thread has held and free of unclear accounts; all requests that have ended are in the outbox. */
  | {
      readonly kind: 'counted'
      readonly epoch: number
      readonly leasedNano: ReadonlyMap<string, Nano>
    }
  | { readonly kind: 'held'; readonly epoch: number; readonly held: ReadonlyMap<string, Nano> }
  /** The outbox has a record that a reply waits for, or has new records while the worker sleeps. */
  | { readonly kind: 'wake' }

export type FromWorker =
  | { readonly kind: 'opened'; readonly ref: NodeRef }
  /** The epoch is over: another node closed it. */
  | { readonly kind: 'fenced'; readonly count: number }
  | {
      readonly kind: 'recalled'
      readonly accounts: readonly string[]
      readonly keys: readonly string[]
    }
  /** A change of these leases failed, and may have been made nevertheless: how much is counted on is to be sent. */
  | { readonly kind: 'unclear'; readonly epoch: number; readonly accounts: readonly string[] }
  | { readonly kind: 'settled' }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answers[keyof Answers] }
  | { readonly kind: 'refusal'; readonly id: number; readonly reason: string }
  | {
      readonly kind: 'log'
      readonly level: 'info' | 'warn' | 'error'
      readonly fields: LogFields
      readonly message: string
    }
  /** The disk cannot be trusted any more: the process must end. */
  | { readonly kind: 'fatal'; readonly reason: string }
