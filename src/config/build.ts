// Makes the configuration out of what the file says, with its defaults, and what stands above it.

import { dirname, resolve } from 'node:path'
import { defaultData } from './defaults.ts'
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

/** `file` is absolute; a relative `data` in it starts at its folder, any other at the working folder. */
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
    media: { ...results, s3: store.s3 === null ? null : bucket(store.s3) },
    groups: groups(settings.groups),
    channels: settings.channels.map(channel),
    models: recordOf(
      Object.entries(settings.models).map(([name, model]) => [name, modelConfig(model)]),
    ),
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

function bucket(settings: BucketSettings): BucketSettings {
  return { ...settings, prefix: `${settings.prefix.replace(/^\/+|\/+$/g, '')}/` }
}

function groups(settings: FileSettings['groups']): Record<string, GroupSettings> {
  const entries = Object.entries(settings)
  return recordOf(entries.map(([id, group]) => [id, { ...group, id }]))
}

function channel({ passTrace, ...plain }: FileSettings['channels'][number]): ChannelConfig {
  return {
    ...plain,
    models: channelModels(plain.models),
    ...(passTrace && { passTrace }),
    options: recordOf(Object.entries(plain.options ?? {})),
    origin: 'file',
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

function modelConfig(model: FileSettings['models'][string]): ModelConfig {
  const { prices } = model
  return { ...model, prices: prices === null ? null : recordOf(Object.entries(prices)) }
}
