// The shape of the configuration once read, checked and frozen: what every room is built from.

export const modelKinds = [
  'chat',
  'completion',
  'embedding',
  'image',
  'transcription',
  'translation',
  'speech',
  'video',
  'moderation',
  'rerank',
  'realtime',
] as const
export type ModelKind = (typeof modelKinds)[number]

/** Ceilings for one key or one group; an absent one does not limit. */
export interface LimitSettings {
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  readonly concurrentRequests?: number
}

/** Reply timers of one attempt, in milliseconds; each may be set for all, per channel, per model. */
export interface TimeoutSettings {
  /** Name look-up, connection and TLS. */
  readonly connectMs: number
  /** No byte of the request taken by the vendor for this long. */
  readonly sendIdleMs: number
  /** Stream: from sending to the first semantic event. */
  readonly firstEventMs: number
  /** Whole reply: from sending to the last byte. */
  readonly replyMs: number
  /** Stream: between bytes, and between semantic events. */
  readonly idleMs: number
  readonly semanticIdleMs: number
  /** The request as a whole, all attempts included. */
  readonly totalMs: number
}

export interface ServerSettings {
  readonly host: string
  readonly port: number
  /** Serving processes; each is a node of the ledger. */
  readonly workers: number
  readonly publicUrl: string | null
  readonly maxBodyBytes: number
  readonly maxHeaderBytes: number
  /** Requests under way at once, and request bytes held at once; past them 503 before a body is read. */
  readonly maxInFlight: number
  readonly maxBufferedBytes: number
  /** A quiet committed stream gets a comment this often. */
  readonly heartbeatMs: number
  /** A stream the vendor accepted but has not begun is committed with a heartbeat after this. */
  readonly commitAfterMs: number
  /** A client that takes nothing for this long is disconnected. */
  readonly writeStallMs: number
  readonly bodyTimeoutMs: number
  /** Readiness is refused for this long before the server stops listening; null: what is usual. */
  readonly drainDelayMs: number | null
  readonly drainMs: number
  /** Reads /metrics from elsewhere than loopback with this bearer token. */
  readonly metricsToken: string | null
  /** Worker N alone answers the health paths at this port + N; null: nowhere but at `port`. */
  readonly healthPort: number | null
  /** Allowed origins of browsers; ['*'] for all. */
  readonly corsOrigins: readonly string[]
  /** Addresses, or ranges of them, whose word on their client's address is taken. */
  readonly trustedProxies: readonly string[]
  /** Where they say it. */
  readonly forwardedHeader: 'x-forwarded-for' | 'forwarded'
}

/** Files that clients send in forms, and what of requests under way lies on disk. */
export interface UploadSettings {
  /** Each image, each sound, and a form in all; past them 413. */
  readonly maxImageBytes: number
  readonly maxAudioBytes: number
  readonly maxFormBytes: number
  /** Of all requests of one serving process; past it 503. */
  readonly maxSpoolBytes: number
}

export interface RetrySettings {
  readonly maxAttempts: number
  /** Fail over although the vendor may have done the work (text only). */
  readonly retryUncertain: boolean
}

/** What a request costs its account when it does not end as it should, and what may be held at once. */
export interface BillingSettings {
  /** `stop`: the vendor's request is aborted; `drain`: it is read to its end for the usage it reports. */
  readonly clientLeaves: 'stop' | 'drain'
  /** A vendor fails after content: what was `delivered` is charged, or nothing. */
  readonly vendorFails: 'delivered' | 'free'
  /** A reply that ends well without content, tool call or reasoning. */
  readonly emptyAnswers: 'free' | 'charged'
  /** `strict`: a reply ends only when the ledger has committed it. */
  readonly durability: 'normal' | 'strict'
  /** Decimals of the currency; null does not limit. */
  readonly maxHeldPerKey: string | null
  readonly maxHeldPerAccount: string | null
  readonly idempotencyHours: number
}

/** How a node leases credit and settles what it spent; `renewMs` < `fenceMs` < `leaseMs`. */
export interface LedgerSettings {
  readonly leaseMs: number
  readonly renewMs: number
  /** A node that has not renewed for this long admits nothing and ends its streams. */
  readonly fenceMs: number
  readonly settleMs: number
  /** Past either, no request is admitted until settlement has caught up. */
  readonly maxLagMs: number
  readonly maxUnsettled: number
}

/** Replies of the Responses format that are kept for their account. */
export interface ResponseSettings {
  /** 0: none is kept. */
  readonly keepDays: number
}

/** Sessions over WebSocket. */
export interface RealtimeSettings {
  readonly maxSessionMs: number
  /** Nothing was said on either side. */
  readonly idleMs: number
  /** Of either side. */
  readonly maxMessageBytes: number
}

/** Videos, which are made as jobs. */
export interface VideoSettings {
  /** One that has not ended by then has failed. */
  readonly maxHours: number
  /** How long its account finds it. */
  readonly keepDays: number
}

/** What vendors make beside text, kept here for clients that want an address. */
export interface MediaSettings {
  /** How long a hosted result is served. */
  readonly urlHours: number
  /** Largest result that is fetched from where a vendor keeps it. */
  readonly maxResultBytes: number
  /** Of hosted results on this machine's disk, in all. */
  readonly maxStoredBytes: number
  /** null: hosted results lie on disk. */
  readonly s3: BucketSettings | null
}

/** A store that speaks S3. */
export interface BucketSettings {
  /** null: Amazon's, by region. */
  readonly endpoint: string | null
  readonly bucket: string
  readonly region: string | null
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Stands before the names of all that is kept there; ends in `/`. */
  readonly prefix: string
}

export interface GroupSettings {
  readonly id: string
  readonly multiplier: string
  /** Names, or patterns with one trailing `*`. */
  readonly models: readonly string[]
  readonly limits: LimitSettings
}

export interface ChannelConfig {
  readonly id: string
  readonly vendor: string
  readonly baseUrl: string | null
  readonly key: string | null
  /**
   * Public name (or pattern with one trailing `*`) to the vendor's own name; null: the vendor's
   * catalogue. Where both end in `*`, what the first stood for takes the place of the second.
   */
  readonly models: Readonly<Record<string, string>> | null
  /** null: every group. */
  readonly groups: readonly string[] | null
  readonly priority: number
  readonly weight: number
  readonly disabled: boolean
  /** The vendor is sent the trace that a request is part of. */
  readonly passTrace?: boolean
  /** A dialect's name: only that format is spoken to the channel. */
  readonly dialect: string | null
  readonly timeouts: Partial<TimeoutSettings>
  readonly options: Readonly<Record<string, string>>
  /** Where it came from: the file, an environment variable, or the product itself. */
  readonly origin: 'file' | 'environment' | 'built-in'
}

/** What the file says of a model; null: not said there, so the shipped catalogue decides. */
export interface ModelConfig {
  /** Not said and not shipped: `chat`. */
  readonly kind: ModelKind | null
  readonly context: number | null
  readonly maxOutput: number | null
  /** Not said and not shipped: false. */
  readonly vision: boolean | null
  readonly ownedBy: string | null
  /** Decimal strings per million units, by kind of unit. */
  readonly prices: Readonly<Record<string, string>> | null
  readonly timeouts: Partial<TimeoutSettings>
}

export interface KeyConfig {
  readonly name: string
  readonly account: string
  readonly group: string
  readonly secret: string
  /** Unix milliseconds. */
  readonly expiresAt: number | null
  readonly models: readonly string[] | null
  readonly disabled: boolean
  /** Its replies carry what they cost. */
  readonly showCost: boolean
  readonly limits: LimitSettings
}

/** Deeply frozen; its records have no prototype, so any name may be looked up in them. */
export interface Config {
  readonly server: ServerSettings
  readonly uploads: UploadSettings
  /** Absolute. */
  readonly dataDir: string
  readonly databaseUrl: string | null
  /** What the deployment signs with; null: a key kept in the data folder. */
  readonly encryptionKey: string | null
  readonly valkeyUrl: string | null
  /** How many nodes share the limits while Valkey is away and none was counted. */
  readonly nodes: number
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly currency: string
  /** Above every revision seen before: the prices of this file count for all nodes. */
  readonly priceRevision: number
  readonly timeouts: TimeoutSettings
  readonly retry: RetrySettings
  readonly billing: BillingSettings
  readonly ledger: LedgerSettings
  readonly responses: ResponseSettings
  readonly realtime: RealtimeSettings
  readonly videos: VideoSettings
  readonly media: MediaSettings
  readonly groups: Readonly<Record<string, GroupSettings>>
  readonly channels: readonly ChannelConfig[]
  /** A name that ends in `*` speaks for every name of that beginning that is neither here nor shipped. */
  readonly models: Readonly<Record<string, ModelConfig>>
  readonly accounts: Readonly<Record<string, { readonly credit: string | null }>>
  readonly keys: readonly KeyConfig[]
  /** The file read, absolute; null when there was none. */
  readonly file: string | null
  /** Every file it was read from: that one, and those its values stand in. */
  readonly sources: readonly string[]
}
