// Shows an operator the configuration in force, without secrets; and tells which changes need a restart.

import type {
  BucketSettings,
  ChannelConfig,
  Config,
  ExportSettings,
  KeyConfig,
  PaymentSettings,
} from './types.ts'

const mask = '***'
/** Names of vendor options whose values are secrets. */
export const secretName = /key|secret|token|password|credential/i

/** Names of channel headers whose values are secrets. */
export const secretHeader = /auth|key|secret|token|signature|password|credential|cookie/i

/** The configuration in force as plain data; secrets, and passwords in addresses, are masked. */
export function describeConfig(config: Config): Record<string, unknown> {
  const { server, leftOut, ...others } = config
  return {
    ...others,
    ...(leftOut.length > 0 && { leftOut }),
    server: {
      ...server,
      metricsToken: masked(server.metricsToken),
      publicUrl: maskedAddress(server.publicUrl),
    },
    databaseUrl: maskedAddress(config.databaseUrl),
    valkeyUrl: maskedAddress(config.valkeyUrl),
    encryptionKey: masked(config.encryptionKey),
    media: { ...config.media, s3: describeBucket(config.media.s3) },
    usage: { ...config.usage, export: describeExport(config.usage.export) },
    smtp: config.smtp && { ...config.smtp, password: masked(config.smtp.password) },
    telemetry: {
      otlp: {
        ...config.telemetry.otlp,
        endpoint: maskedAddress(config.telemetry.otlp.endpoint),
        headers: maskedBy(/^/, config.telemetry.otlp.headers),
      },
    },
    webhooks: config.webhooks.map((each) => ({
      ...each,
      url: receiverOf(each.url),
      secret: mask,
    })),
    payments: describePayments(config.payments),
    channels: config.channels.map(describeChannel),
    keys: config.keys.map(describeKey),
    identity: {
      ...config.identity,
      providers: config.identity.providers.map((each) => ({ ...each, clientSecret: mask })),
    },
  }
}

/** Changed settings that only a restart applies: `server.port`, `dataDir`. Empty: a reload is enough. */
export function needsRestart(before: Config, after: Config): readonly string[] {
  const general = ['dataDir', 'databaseUrl', 'valkeyUrl', 'currency', 'nodes', 'logLevel'] as const
  const changed = general.filter((name) => before[name] !== after[name])
  const isTracedAlike = JSON.stringify(before.telemetry) === JSON.stringify(after.telemetry)
  return [
    ...changed,
    ...(isTracedAlike ? [] : ['telemetry']),
    ...changes('server', before.server, after.server, [
      'host',
      'port',
      'workers',
      'console',
      'healthPort',
      'maxHeaderBytes',
    ]),
    ...changes('realtime', before.realtime, after.realtime, ['maxMessageBytes']),
    ...changes('billing', before.billing, after.billing, [
      'durability',
      'maxHeldPerKey',
      'maxHeldPerAccount',
    ]),
    ...changes('ledger', before.ledger, after.ledger, Object.keys(before.ledger)),
  ]
}

function changes(
  section: string,
  before: object,
  after: object,
  names: readonly string[],
): string[] {
  const now = new Map(Object.entries(after))
  return Object.entries(before)
    .filter(([name, value]) => names.includes(name) && now.get(name) !== value)
    .map(([name]) => `${section}.${name}`)
}

function describeChannel(channel: ChannelConfig): Record<string, unknown> {
  return {
    ...channel,
    baseUrl: maskedAddress(channel.baseUrl),
    key: masked(channel.key),
    ...(channel.keys && { keys: channel.keys.map((each) => ({ ...each, key: mask })) }),
    ...(channel.proxy && { proxy: maskedProxy(channel.proxy) }),
    ...(channel.headers && { headers: maskedBy(secretHeader, channel.headers) }),
    options: maskedBy(secretName, channel.options),
  }
}

function maskedBy(names: RegExp, values: Readonly<Record<string, string>>): object {
  const shown = Object.entries(values).map(([name, value]) => [
    name,
    names.test(name) ? mask : value,
  ])
  return Object.fromEntries(shown)
}

function describePayments(payments: PaymentSettings): Record<string, unknown> {
  const { alipay, wechatpay, stripe } = payments
  return {
    ...payments,
    alipay: alipay && { ...alipay, gateway: maskedAddress(alipay.gateway), privateKey: mask },
    wechatpay: wechatpay && {
      ...wechatpay,
      baseUrl: maskedAddress(wechatpay.baseUrl),
      privateKey: mask,
      apiV3Key: mask,
      mp: wechatpay.mp && { ...wechatpay.mp, secret: mask },
    },
    stripe: stripe && {
      ...stripe,
      baseUrl: maskedAddress(stripe.baseUrl),
      secretKey: mask,
      webhookSecret: mask,
    },
  }
}

function describeExport(settings: ExportSettings): Record<string, unknown> {
  const { clickhouse, s3 } = settings
  return {
    ...settings,
    clickhouse: clickhouse && { ...clickhouse, password: mask },
    s3: describeBucket(s3),
  }
}

function describeBucket(bucket: BucketSettings | null): Record<string, unknown> | null {
  if (bucket === null) return null
  return {
    ...bucket,
    endpoint: maskedAddress(bucket.endpoint),
    accessKeyId: mask,
    secretAccessKey: mask,
  }
}

function describeKey(key: KeyConfig): Record<string, unknown> {
  return {
    ...key,
    secret: mask,
    expiresAt: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
  }
}

function masked(secret: string | null): string | null {
  return secret === null ? null : mask
}

/** Hides all but the host: a path, such as that of a chat's webhook, may be all that its sender needs. */
export function receiverOf(address: string): string {
  const { origin, pathname } = new URL(address)
  return pathname === '/' ? origin : `${origin}/${mask}`
}

/** Hides user, password and the values of a query. */
export function maskedAddress(address: string | null): string | null {
  if (address === null) return null
  const url = new URL(address)
  if (url.username === '' && url.password === '' && url.search === '') return address
  if (url.password !== '') url.password = mask
  else if (url.username !== '') url.username = mask
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, mask)
  return url.href
}

/** Hides the password, or the user where there is none. */
export function maskedProxy(proxy: string): string {
  return (maskedAddress(proxy) ?? '').replace(/\/$/, '')
}
