// The configuration as the rooms see it, once read, checked and frozen. What a setting is, and what it is where nothing is
// said, stands in the schema; here is what it becomes where that differs.

import type { FileSettings } from './schema.ts'

type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value

type File = Frozen<FileSettings>
type Channel = File['channels'][number]
type Model = File['models'][string]

export type ServerSettings = File['server']
export type UploadSettings = File['uploads']
export type TimeoutSettings = File['timeouts']
export type RetrySettings = File['retry']
export type BillingSettings = File['billing']
export type LedgerSettings = File['ledger']
export type SmtpSettings = NonNullable<File['smtp']>
export type PaymentSettings = File['payments']
export type WebhookSettings = File['webhooks'][number]
export type RealtimeSettings = File['realtime']
export type ExportSettings = File['usage']['export']
export type ClickHouseSettings = NonNullable<ExportSettings['clickhouse']>
export type HistorySettings = File['history']
export type HistoryMode = HistorySettings['maxMode']
/** Ceilings for one key or one group; an absent one does not limit. */
export type LimitSettings = File['groups'][string]['limits']
export type ModelKind = NonNullable<Model['kind']>
/** A store that speaks S3; its prefix ends in `/`. */
export type BucketSettings = NonNullable<File['media']['store']['s3']>

interface MediaSettings extends Omit<File['media'], 'store'> {
  /** null: hosted results lie on disk. */
  readonly s3: BucketSettings | null
}

/** How requests to a channel differ from what clients sent; names are paths with dots between. */
export type ParameterSettings = NonNullable<Channel['parameters']>

export type GroupSettings = Omit<File['groups'][string], 'modelMultipliers'> & {
  /** By name or pattern of a model; absent: `multiplier` for all. */
  readonly modelMultipliers?: File['groups'][string]['modelMultipliers']
  readonly id: string
  /** Left out: the file. */
  readonly origin?: 'built-in' | 'stored'
}

/** What a channel may say beside what every one has; an absent one is said to be nothing special. */
interface ChannelExtras {
  /** In place of `key`, one or more. */
  readonly keys: Channel['keys']
  /** Where it is not said by `disabled` alone. */
  readonly state: Channel['state']
  readonly concurrency: number
  readonly limits: Channel['limits']
  readonly costMultiplier: string
  readonly tags: readonly string[]
  readonly note: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly proxy: string
  readonly parameters: ParameterSettings
  readonly retryStatuses: NonNullable<Channel['retryStatuses']>
}

export interface ChannelConfig
  extends Omit<Channel, 'models' | 'options' | 'passTrace' | keyof ChannelExtras>,
    Partial<ChannelExtras> {
  /**
   * Public name (or pattern with one trailing `*`) to the vendor's own name; null: the vendor's
   * catalogue. Where both end in `*`, what the first stood for takes the place of the second.
   */
  readonly models: Readonly<Record<string, string>> | null
  /** The vendor is told the trace that a request is part of. */
  readonly passTrace?: boolean
  readonly options: Readonly<Record<string, string>>
  /** Where it came from: the file, an environment variable, the product itself, or the store. */
  readonly origin: 'file' | 'environment' | 'built-in' | 'stored'
}

/** What the file says of a model; null: not said there, so the shipped catalogue decides. */
export type ModelConfig = Model & { readonly origin?: 'stored' }
/** `expiresAt` in Unix milliseconds. */
export type KeyConfig = File['keys'][number]

/** What may be made at run time. */
export type StoredKind = 'channel' | 'group' | 'model'

/** What the store has and does not fit: it does not count. */
export interface LeftOut {
  readonly kind: StoredKind
  readonly id: string
  readonly problem: string
}

/** Deeply frozen; its records have no prototype, so any name may be looked up in them. */
export interface Config
  extends Omit<
    File,
    'environmentFile' | 'data' | 'publicUrl' | 'media' | 'groups' | 'channels' | 'models'
  > {
  /** Absolute. */
  readonly dataDir: string
  /** What the deployment signs with; null: a key kept in the data folder. */
  readonly encryptionKey: string | null
  readonly media: MediaSettings
  readonly groups: Readonly<Record<string, GroupSettings>>
  readonly channels: readonly ChannelConfig[]
  readonly models: Readonly<Record<string, ModelConfig>>
  readonly leftOut: readonly LeftOut[]
  /** The file read, absolute; null when there was none. */
  readonly file: string | null
  /** Every file it was read from: that one, and those its values stand in. */
  readonly sources: readonly string[]
}
