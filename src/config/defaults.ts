// Every default of the configuration, as plain data: a start without a file needs nothing else.

import type {
  BillingSettings,
  GroupSettings,
  LedgerSettings,
  MediaSettings,
  RealtimeSettings,
  ResponseSettings,
  RetrySettings,
  ServerSettings,
  TimeoutSettings,
  UploadSettings,
  VideoSettings,
} from './types.ts'

export const serverDefaults: ServerSettings = {
  host: '127.0.0.1',
  port: 8787,
  workers: 1,
  publicUrl: null,
  maxBodyBytes: 64 * 1024 * 1024,
  maxHeaderBytes: 16 * 1024,
  maxInFlight: 10_000,
  maxBufferedBytes: 256 * 1024 * 1024,
  heartbeatMs: 15_000,
  commitAfterMs: 15_000,
  writeStallMs: 60_000,
  bodyTimeoutMs: 60_000,
  drainDelayMs: null,
  drainMs: 300_000,
  metricsToken: null,
  healthPort: null,
  corsOrigins: ['*'],
  trustedProxies: [],
  forwardedHeader: 'x-forwarded-for',
}

export const uploadDefaults: UploadSettings = {
  maxImageBytes: 50 * 1024 * 1024,
  maxAudioBytes: 25 * 1024 * 1024,
  maxFormBytes: 512 * 1024 * 1024,
  maxSpoolBytes: 4 * 1024 * 1024 * 1024,
}

export const timeoutDefaults: TimeoutSettings = {
  connectMs: 5_000,
  sendIdleMs: 30_000,
  firstEventMs: 60_000,
  replyMs: 600_000,
  idleMs: 90_000,
  semanticIdleMs: 300_000,
  totalMs: 1_800_000,
}

export const retryDefaults: RetrySettings = { maxAttempts: 3, retryUncertain: true }

export const billingDefaults: BillingSettings = {
  clientLeaves: 'stop',
  vendorFails: 'delivered',
  emptyAnswers: 'charged',
  durability: 'normal',
  maxHeldPerKey: null,
  maxHeldPerAccount: null,
  idempotencyHours: 24,
}

export const ledgerDefaults: LedgerSettings = {
  leaseMs: 60_000,
  renewMs: 15_000,
  fenceMs: 40_000,
  settleMs: 100,
  maxLagMs: 5_000,
  maxUnsettled: 50_000,
}

export const videoDefaults: VideoSettings = { maxHours: 24, keepDays: 30 }

export const responseDefaults: ResponseSettings = { keepDays: 30 }

export const realtimeDefaults: RealtimeSettings = {
  maxSessionMs: 3_600_000,
  idleMs: 900_000,
  maxMessageBytes: 16 * 1024 * 1024,
}

export const mediaDefaults: Omit<MediaSettings, 's3'> = {
  urlHours: 24,
  maxResultBytes: 1024 * 1024 * 1024,
  maxStoredBytes: 10 * 1024 * 1024 * 1024,
}

/** Where hosted results stand in a bucket. */
export const bucketPrefix = 'tollgate/'

export const groupDefaults: Omit<GroupSettings, 'id'> = {
  multiplier: '1',
  models: ['*'],
  limits: {},
}

/** The group and the account of a key that names none. */
export const defaultGroup = 'default'
export const defaultAccount = 'default'

export const generalDefaults = {
  dataDir: './data',
  nodes: 1,
  logLevel: 'info',
  currency: 'USD',
  priceRevision: 0,
} as const
