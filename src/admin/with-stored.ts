// Adds the channels, groups and models of the store to the configuration; the file takes precedence over them.

import {
  channelConfig,
  emptyChannel,
  emptyGroup,
  emptyModel,
  groupConfig,
  modelConfig,
} from '../config/build.ts'
import { channelProblems } from '../config/cross-check.ts'
import { deepFreeze, recordOf } from '../config/freeze.ts'
import type { FileSettings } from '../config/schema.ts'
import type { ChannelConfig, Config, GroupSettings, LeftOut, ModelConfig } from '../config/types.ts'
import type { SecretBox } from '../identity/secret-box.ts'
import { createChannel } from '../relay/channel.ts'
import type { StoredItem } from '../store/configuration.ts'
import { vendors } from '../vendors/registry.ts'
import { decryptSecrets } from './channel-secrets.ts'
import { knownNames } from './configuration.ts'

/** The purpose of the key that encrypts these secrets. */
export const storedSecretsPurpose = 'stored configuration'

export interface StoredRooms {
  /** The configuration of the file, without the store. */
  readonly declared: Config
  /** Encrypts and decrypts the secrets of channels. */
  readonly box: SecretBox
}

/** The stored items at one moment. */
export interface Stored extends StoredRooms {
  readonly items: readonly StoredItem[]
  /** The table's revision, read before the items. */
  readonly readAt: number
}

/** Leaves out each item that does not fit. Loads no schema: items were checked by it when they were stored. */
export function withStored(declared: Config, items: readonly StoredItem[], box: SecretBox): Config {
  if (items.length === 0) return declared
  const ofFile = new Set(
    declared.channels.flatMap(({ id, origin }) => (origin === 'stored' ? [] : [id])),
  )
  const isSaid = (item: StoredItem) =>
    item.kind === 'channel' ? ofFile.has(item.id) : isDeclared(declared, item)
  const of = (kind: StoredItem['kind']) =>
    items.filter((item) => item.kind === kind && !isSaid(item))
  const groups = recordOf([
    ...Object.entries(declared.groups),
    ...of('group').map(({ id, document }) => [id, storedGroup(id, document)] as const),
  ])
  const models = recordOf([
    ...Object.entries(declared.models),
    ...of('model').map(({ id, document }) => [id, storedModel(document)] as const),
  ])
  const leftOut: LeftOut[] = []
  const groupNames = new Set(Object.keys(groups))
  const channels = of('channel').flatMap(({ id, document }) => {
    const judged = judgeChannel(id, { ...document, id }, groupNames, box)
    if (typeof judged !== 'string') return judged
    leftOut.push({ kind: 'channel', id, problem: judged })
    return []
  })
  return deepFreeze({
    ...declared,
    groups,
    models,
    channels: [...declared.channels, ...channels],
    leftOut,
  })
}

/** Whether the file defines the item, so that the stored one is not in force. */
export function isDeclared(
  declared: Config,
  { kind, id }: Pick<StoredItem, 'kind' | 'id'>,
): boolean {
  if (kind === 'channel') {
    return declared.channels.some((each) => each.id === id && each.origin !== 'stored')
  }
  const group = declared.groups[id]
  if (kind === 'group') return group !== undefined && group.origin === undefined
  const model = declared.models[id]
  return model !== undefined && model.origin === undefined
}

/** The channel, or why it does not fit, without secrets. */
function judgeChannel(
  id: string,
  document: StoredItem['document'],
  groups: ReadonlySet<string>,
  box: SecretBox,
): ChannelConfig | string {
  let settings: FileSettings['channels'][number]
  try {
    settings = { ...emptyChannel, ...decryptSecrets(id, document, box) } as typeof settings
  } catch {
    return 'its secrets were encrypted with another encryption key, or for another channel: enter them again'
  }
  const [problem] = channelProblems(settings, [], groups, knownNames)
  if (problem !== undefined) return `${problem.path}: ${problem.message}`
  const channel = channelConfig(settings, 'stored')
  const vendor = vendors[channel.vendor]
  try {
    if (vendor !== undefined) createChannel(channel, vendor)
    return channel
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function storedGroup(id: string, document: StoredItem['document']): GroupSettings {
  return { ...groupConfig(id, { ...emptyGroup, ...document }), origin: 'stored' }
}

function storedModel(document: StoredItem['document']): ModelConfig {
  return { ...modelConfig({ ...emptyModel, ...document }), origin: 'stored' }
}
