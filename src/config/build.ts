// Builds the configuration from the file's settings with their defaults, and the flags and variables that override
// them.

import { dirname, resolve } from 'node:path'
import { defaultData, defaultGroup } from './defaults.ts'
import { deepFreeze, recordOf } from './freeze.ts'
import { withoutTrailingSlash } from './rules.ts'
import type { FileSettings } from './schema.ts'
import type { Override } from './settings.ts'
import type {
  BucketSettings,
  ChannelConfig,
  Config,
  GroupSettings,
  ModelConfig,
  ServerSettings,
} from './types.ts'

/**
 * `file` is absolute; a relative `data` in it starts at the file's folder, any other relative path at the working
 * folder.
 */
export function buildConfig(
  settings: FileSettings,
  override: Override,
  file: string | null,
  sources: readonly string[] = [],
): Config {
  const { environmentFile: _, data, media, publicUrl, ...plain } = settings
  const { store, ...results } = media
  return deepFreeze({
    ...plain,
    server: serverSettings(settings.server, override, publicUrl),
    dataDir: dataDir(data, override, file),
    databaseUrl: override.databaseUrl ?? plain.databaseUrl,
    encryptionKey: override.encryptionKey ?? null,
    valkeyUrl: override.valkeyUrl ?? plain.valkeyUrl,
    logLevel: override.logLevel ?? plain.logLevel,
    payments: paymentSettings(settings.payments),
    usage: usageSettings(settings.usage),
    media: { ...results, s3: store.s3 === null ? null : bucket(store.s3) },
    groups: groups(settings.groups),
    channels: settings.channels.map((each) => channelConfig(each, 'file')),
    models: recordOf(
      Object.entries(settings.models).map(([name, model]) => [name, modelConfig(model)]),
    ),
    leftOut: [],
    accounts: recordOf(Object.entries(settings.accounts)),
    file,
    sources,
  })
}

function serverSettings(
  server: ServerSettings,
  override: Override,
  said: string | null,
): ServerSettings {
  const publicUrl = override.publicUrl ?? said ?? server.publicUrl
  return {
    ...server,
    host: override.host ?? server.host,
    port: override.port ?? server.port,
    workers: override.workers ?? server.workers,
    console: override.console ?? server.console,
    publicUrl: publicUrl === null ? null : withoutTrailingSlash(publicUrl),
  }
}

function dataDir(data: string | null, override: Override, file: string | null): string {
  if (override.dataDir !== undefined) return resolve(override.dataDir)
  if (file !== null && data !== null) return resolve(dirname(file), data)
  return resolve(defaultData)
}

function withMp<Settings extends FileSettings['payments']['wechatpay']>(settings: Settings) {
  return settings && { ...settings, mp: settings.mp?.secret ? settings.mp : null }
}

/** Turns a provider off whose key or secret is empty in the environment; play money does not replace it either. */
function paymentSettings(settings: FileSettings['payments']): FileSettings['payments'] {
  const { alipay, wechatpay, stripe } = settings
  const isSet = (...secrets: readonly (string | undefined)[]) => secrets.every(Boolean)
  return {
    ...settings,
    simulator: settings.simulator && !(alipay ?? wechatpay ?? stripe),
    rates: settings.rates === null ? null : recordOf(Object.entries(settings.rates)),
    alipay: isSet(alipay?.privateKey, alipay?.alipayPublicKey) ? alipay : null,
    wechatpay: isSet(wechatpay?.privateKey, wechatpay?.apiV3Key) ? withMp(wechatpay) : null,
    stripe: isSet(stripe?.secretKey, stripe?.webhookSecret) ? stripe : null,
  }
}

function usageSettings(settings: FileSettings['usage']): FileSettings['usage'] {
  const { s3 } = settings.export
  return s3 === null ? settings : { ...settings, export: { ...settings.export, s3: bucket(s3) } }
}

function bucket(settings: BucketSettings): BucketSettings {
  return { ...settings, prefix: `${settings.prefix.replace(/^\/+|\/+$/g, '')}/` }
}

function groups(settings: FileSettings['groups']): Record<string, GroupSettings> {
  const entries = Object.entries(settings)
  const builtIn = { ...groupConfig(defaultGroup, emptyGroup), origin: 'built-in' } as const
  return recordOf([
    [defaultGroup, builtIn],
    ...entries.map(([id, group]) => [id, groupConfig(id, group)] as const),
  ])
}

export function groupConfig(
  id: string,
  { modelMultipliers, ...plain }: FileSettings['groups'][string],
): GroupSettings {
  const hasAny = Object.keys(modelMultipliers).length > 0
  return { ...plain, id, ...(hasAny && { modelMultipliers }) }
}

/** The settings of a channel, a group and a model that set nothing; `build.test.ts` checks them against the schema. */
export const emptyChannel: Omit<FileSettings['channels'][number], 'id' | 'vendor'> = {
  baseUrl: null,
  key: null,
  keys: [],
  models: null,
  groups: null,
  priority: 0,
  weight: 1,
  disabled: false,
  state: 'enabled',
  concurrency: null,
  limits: {},
  costMultiplier: '1',
  tags: [],
  note: null,
  passTrace: false,
  dialect: null,
  timeouts: {},
  headers: null,
  proxy: null,
  parameters: null,
  retryStatuses: null,
  options: null,
}
export const emptyGroup: FileSettings['groups'][string] = {
  multiplier: '1',
  modelMultipliers: {},
  models: ['*'],
  limits: {},
}
export const emptyModel: FileSettings['models'][string] = {
  kind: null,
  context: null,
  maxOutput: null,
  vision: null,
  ownedBy: null,
  prices: null,
  timeouts: {},
}

export function channelConfig(
  settings: FileSettings['channels'][number],
  origin: ChannelConfig['origin'],
): ChannelConfig {
  const { passTrace, keys, state, concurrency, costMultiplier, tags, note, ...others } = settings
  const { headers, proxy, parameters, retryStatuses, limits, ...plain } = others
  return {
    ...plain,
    disabled: plain.disabled || state !== 'enabled',
    models: channelModels(plain.models),
    options: recordOf(Object.entries(plain.options ?? {})),
    origin,
    ...(passTrace && { passTrace }),
    ...(keys.length > 0 && { keys }),
    ...(state !== 'enabled' && { state }),
    ...(concurrency !== null && { concurrency }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(costMultiplier !== '1' && { costMultiplier }),
    ...(tags.length > 0 && { tags }),
    ...(note !== null && { note }),
    ...(headers !== null && { headers: recordOf(Object.entries(headers)) }),
    ...(proxy !== null && { proxy }),
    ...(parameters !== null && { parameters }),
    ...(retryStatuses !== null && { retryStatuses }),
  }
}

function channelModels(
  models: FileSettings['channels'][number]['models'],
): ChannelConfig['models'] {
  if (models === null) return null
  return recordOf(
    Array.isArray(models) ? models.map((name) => [name, name]) : Object.entries(models),
  )
}

export function modelConfig(model: FileSettings['models'][string]): ModelConfig {
  const { prices } = model
  return { ...model, prices: prices === null ? null : recordOf(Object.entries(prices)) }
}
