// The configuration as the rest of the code sees it, once read, checked and frozen. The schema defines the settings and
// their defaults; these types say where the result differs.

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
/** Limits of one key or one group; an absent member sets no limit. */
export type LimitSettings = File['groups'][string]['limits']
export type ModelKind = NonNullable<Model['kind']>
/** An S3-compatible store; its prefix ends in `/`. */
export type BucketSettings = NonNullable<File['media']['store']['s3']>

interface MediaSettings extends Omit<File['media'], 'store'> {
  /** null: hosted results are stored on disk. */
  readonly s3: BucketSettings | null
}

/** How requests to a channel differ from the clients'; names are dotted paths. */
export type ParameterSettings = NonNullable<Channel['parameters']>

export type GroupSettings = Omit<File['groups'][string], 'modelMultipliers'> & {
  /** Factors by the name or pattern of a model; absent: `multiplier` applies to all. */
  readonly modelMultipliers?: File['groups'][string]['modelMultipliers']
  readonly id: string
  /** Left out: the file. */
  readonly origin?: 'built-in' | 'stored'
}

/** Optional settings of a channel; an absent one has its default. */
interface ChannelExtras {
  /** One or more keys, in place of `key`. */
  readonly keys: Channel['keys']
  /** Present where `disabled` alone does not tell the state. */
  readonly state: Channel['state']
  readonly concurrency: number
  readonly limits: Channel['limits']
  readonly costMultiplier: string
  readonly tags: readonly string[]
  readonly note: string
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly proxy: string
  readonly parameters: ParameterSettings
  readonly retryStatuses: NonNullable<Channel['retryStatuses']>
}

export interface ChannelConfig
  extends Omit<Channel, 'models' | 'options' | 'passTrace' | keyof ChannelExtras>,
    Partial<ChannelExtras> {
  /**
   * Public name (or pattern with one trailing `*`) to the vendor's own name; null: the vendor's catalogue. Where both
   * end in `*`, the text that the first star stood for replaces the second star.
   */
  readonly models: Readonly<Record<string, string>> | null
  /** Whether the vendor gets the trace context of the request. */
  readonly passTrace?: boolean
  readonly options: Readonly<Record<string, string>>
  /** The channel's origin: the file, an environment variable, built in, or the store. */
  readonly origin: 'file' | 'environment' | 'built-in' | 'stored'
}

/** A model's settings in the file; null: not set there, so the shipped catalogue decides. */
export type ModelConfig = Model & { readonly origin?: 'stored' }
/** `expiresAt` in Unix milliseconds. */
export type KeyConfig = File['keys'][number]

/** The kinds of items that can be made at run time. */
export type StoredKind = 'channel' | 'group' | 'model'

/** A stored item that does not fit the configuration and is not in force. */
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
  /** The key for the deployment's signatures and encryption; null: one kept in the data directory. */
  readonly encryptionKey: string | null
  readonly media: MediaSettings
  readonly groups: Readonly<Record<string, GroupSettings>>
  readonly channels: readonly ChannelConfig[]
  readonly models: Readonly<Record<string, ModelConfig>>
  readonly leftOut: readonly LeftOut[]
  /** The file read, absolute; null when there was none. */
  readonly file: string | null
  /** Every file it was read from: the file itself, and those that its values are in. */
  readonly sources: readonly string[]
}
