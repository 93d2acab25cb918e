// Makes the configuration out of defaults, the file and what stands above it.

import { dirname, resolve } from 'node:path'
import {
  billingDefaults,
  bucketPrefix,
  defaultAccount,
  defaultGroup,
  generalDefaults,
  groupDefaults,
  ledgerDefaults,
  mediaDefaults,
  realtimeDefaults,
  responseDefaults,
  retryDefaults,
  serverDefaults,
  timeoutDefaults,
  uploadDefaults,
  videoDefaults,
} from './defaults.ts'
import { deepFreeze, recordOf } from './freeze.ts'
import { withoutTrailingSlash } from './rules.ts'
import type { FileInput } from './schema.ts'
import type { Override } from './settings.ts'
import type {
  BucketSettings,
  ChannelConfig,
  Config,
  GroupSettings,
  KeyConfig,
  MediaSettings,
  ModelConfig,
  ServerSettings,
} from './types.ts'

type Item<List> = NonNullable<List> extends readonly (infer Entry)[] ? Entry : never
type Bucket = NonNullable<NonNullable<NonNullable<FileInput['media']>['store']>['s3']>
type Value<Map> = NonNullable<Map> extends Record<string, infer Entry> ? Entry : never

/** `file` is absolute; a relative `data` in it starts at its folder, any other at the working folder. */
export function buildConfig(
  input: FileInput,
  override: Override,
  file: string | null,
  sources: readonly string[] = [],
): Config {
  const models = Object.entries(input.models ?? {})
  const accounts = Object.entries(input.accounts ?? {})
  return deepFreeze({
    server: serverSettings(input.server ?? {}, override),
    uploads: { ...uploadDefaults, ...given(input.uploads) },
    dataDir: dataDir(input, override, file),
    databaseUrl: override.databaseUrl ?? input.databaseUrl ?? null,
    encryptionKey: override.encryptionKey ?? null,
    valkeyUrl: override.valkeyUrl ?? input.valkeyUrl ?? null,
    nodes: input.nodes ?? generalDefaults.nodes,
    logLevel: override.logLevel ?? input.logLevel ?? generalDefaults.logLevel,
    currency: input.currency ?? generalDefaults.currency,
    priceRevision: input.priceRevision ?? generalDefaults.priceRevision,
    timeouts: { ...timeoutDefaults, ...given(input.timeouts) },
    retry: { ...retryDefaults, ...given(input.retry) },
    billing: { ...billingDefaults, ...given(input.billing) },
    ledger: { ...ledgerDefaults, ...given(input.ledger) },
    responses: { ...responseDefaults, ...given(input.responses) },
    realtime: { ...realtimeDefaults, ...given(input.realtime) },
    videos: { ...videoDefaults, ...given(input.videos) },
    media: media(input.media ?? {}),
    groups: groups(input),
    channels: (input.channels ?? []).map(channel),
    models: recordOf(models.map(([name, model]) => [name, modelConfig(model)])),
    accounts: recordOf(accounts.map(([name, { credit }]) => [name, { credit: credit ?? null }])),
    keys: (input.keys ?? []).map(apiKey),
    file,
    sources,
  })
}

/** The members that were said: neither left out nor left empty. */
type Given<Section> = { [Name in keyof Section]?: NonNullable<Section[Name]> }

function given<Section extends object>(section: Section | null | undefined): Given<Section> {
  const said: Given<Section> = {}
  for (const name in section) {
    const value = section[name]
    if (value !== undefined && value !== null) said[name] = value
  }
  return said
}

function serverSettings(
  input: NonNullable<FileInput['server']>,
  override: Override,
): ServerSettings {
  const { host, port, workers, publicUrl } = override
  const above = given({ host, port, workers, publicUrl })
  const settings = { ...serverDefaults, ...given(input), ...above }
  const address = settings.publicUrl
  return { ...settings, publicUrl: address === null ? null : withoutTrailingSlash(address) }
}

function dataDir(input: FileInput, override: Override, file: string | null): string {
  if (override.dataDir !== undefined) return resolve(override.dataDir)
  if (file !== null && input.data != null) return resolve(dirname(file), input.data)
  return resolve(generalDefaults.dataDir)
}

function media({ store, ...input }: NonNullable<FileInput['media']>): MediaSettings {
  return { ...mediaDefaults, ...given(input), s3: store?.s3 == null ? null : bucket(store.s3) }
}

function bucket(input: Bucket): BucketSettings {
  const { bucket, accessKeyId, secretAccessKey } = input
  const prefix = (input.prefix ?? bucketPrefix).replace(/^\/+|\/+$/g, '')
  return {
    endpoint: input.endpoint == null ? null : withoutTrailingSlash(input.endpoint),
    bucket,
    region: input.region ?? null,
    accessKeyId,
    secretAccessKey,
    prefix: `${prefix}/`,
  }
}

function groups(input: FileInput): Record<string, GroupSettings> {
  const entries = Object.entries({ [defaultGroup]: {}, ...input.groups })
  return recordOf(
    entries.map(([id, group]: [string, Value<FileInput['groups']>]) => [
      id,
      { ...groupDefaults, ...given(group), limits: given(group.limits), id },
    ]),
  )
}

function channel(input: Item<FileInput['channels']>): ChannelConfig {
  return {
    id: input.id,
    vendor: input.vendor,
    baseUrl: input.baseUrl == null ? null : withoutTrailingSlash(input.baseUrl),
    key: input.key ?? null,
    models: channelModels(input.models),
    groups: input.groups ?? null,
    priority: input.priority ?? 0,
    weight: input.weight ?? 1,
    disabled: input.disabled ?? false,
    ...(input.passTrace === true && { passTrace: true }),
    dialect: input.dialect ?? null,
    timeouts: given(input.timeouts),
    options: recordOf(Object.entries(input.options ?? {})),
    origin: 'file',
  }
}

function channelModels(models: Item<FileInput['channels']>['models']): ChannelConfig['models'] {
  if (models == null) return null
  return recordOf(
    Array.isArray(models) ? models.map((name) => [name, name]) : Object.entries(models),
  )
}

function modelConfig(input: Value<FileInput['models']>): ModelConfig {
  return {
    kind: input.kind ?? null,
    context: input.context ?? null,
    maxOutput: input.maxOutput ?? null,
    vision: input.vision ?? null,
    ownedBy: input.ownedBy ?? null,
    prices: input.prices == null ? null : recordOf(Object.entries(input.prices)),
    timeouts: given(input.timeouts),
  }
}

function apiKey(input: Item<FileInput['keys']>): KeyConfig {
  return {
    name: input.name,
    account: input.account ?? defaultAccount,
    group: input.group ?? defaultGroup,
    secret: input.secret,
    expiresAt: input.expiresAt == null ? null : Date.parse(input.expiresAt),
    models: input.models ?? null,
    disabled: input.disabled ?? false,
    showCost: input.showCost ?? false,
    limits: given(input.limits),
  }
}
