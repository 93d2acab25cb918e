// What the serving thread and the ledger's worker say to each other.

import type { LedgerSettings } from '../config/types.ts'
import type { Nano } from '../money.ts'
import type { KeyUse } from '../store/keys.ts'
import type {
  Grant,
  GrantSize,
  IdempotencyDone,
  IdempotencyFound,
  IdempotencyTable,
  NodeRef,
  OutboxPlace,
} from '../store/ledger.ts'
import type { StoreSettings } from '../store/open.ts'
import type { ResponseChange } from '../store/responses.ts'
import type { NewVideo, VideoChange, VideoChanged } from '../store/video-table.ts'
import type { LogFields } from '../telemetry/log.ts'

/** What a worker starts with. */
export interface WorkerStart {
  readonly store: StoreSettings
  readonly dataDir: string
  readonly slot: number
  readonly node: string
  /** Of the outbox. */
  readonly epoch: number
  /** How far the last run says it wrote the outbox; null where it does not, or that is noted. */
  readonly left: OutboxPlace | null
  readonly buffer: SharedArrayBuffer
  /** The serving thread's clock as it starts the worker. */
  readonly nowMs: number
  readonly settings: LedgerSettings
  /** Say when something was settled: for replies that wait for it. */
  readonly announce: boolean
  /** Up to here the outbox is of a process that ended: what its streams had used is due. 0: it is all this one's. */
  readonly leftUntil: number
}

export type IdempotencyEntry = Omit<Parameters<IdempotencyTable['begin']>[0], 'by'>

/** A video begins with money of the asker's own lease. */
type VideoRequest =
  | Exclude<VideoChange, { readonly kind: 'begin' }>
  | Omit<Extract<VideoChange, { readonly kind: 'begin' }>, 'from'>

/** What is set aside for it is what its request holds. */
export interface VideoBeginning {
  readonly row: Omit<NewVideo, 'heldNano'>
  readonly idempotency: IdempotencyDone | null
}

/** Requests of a key that began in [since, until), Unix milliseconds; null: all since. */
export interface SpentRange {
  readonly keyId: string
  readonly account: string
  readonly sinceMs: number
  readonly untilMs: number | null
}

export interface Spent {
  readonly nano: readonly Nano[]
  /** The records of this process up to this number are in it. */
  readonly reached: number
}

export interface Pruning {
  readonly what: 'all' | 'refusals'
  readonly before: number
  readonly limit: number
}

/** Questions are answered once; `epoch` is the one the asker lives in. */
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
  /** What keys have spent; one amount for each range. */
  | { readonly ask: 'spent'; readonly ranges: readonly SpentRange[] }
  | { readonly ask: 'used'; readonly uses: readonly KeyUse[] }
  /** Remove the oldest usage rows of requests that began before then, or of those that were refused. */
  | ({ readonly ask: 'prune' } & Pruning)
  /** Settle what is there, close the node, the store and the files. */
  | { readonly ask: 'stop' }

export interface Answers {
  readonly grant: Grant
  readonly begin: IdempotencyFound
  readonly forget: null
  readonly keep: readonly number[]
  readonly video: VideoChanged
  readonly spent: Spent
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
  | { readonly kind: 'forget'; readonly epoch: number; readonly account: string }
  | { readonly kind: 'held'; readonly epoch: number; readonly held: ReadonlyMap<string, Nano> }
  /** The outbox has something that a reply waits for. */
  | { readonly kind: 'wake' }

export type FromWorker =
  | { readonly kind: 'opened'; readonly ref: NodeRef }
  /** The epoch is dead: another node closed it. */
  | { readonly kind: 'fenced'; readonly count: number }
  | { readonly kind: 'recalled'; readonly accounts: readonly string[] }
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
