// Channels: the list, a small test call to one, and the models of its vendor.

import { lanesOf } from '../config/channel-keys.ts'
import { suggestion } from '../config/problems.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
import { channelConfigs } from '../vendors/channel-configs.ts'
import { vendors } from '../vendors/registry.ts'
import { type ChannelRooms, type ChannelView, viewableChannels } from './channel-view.ts'
import { type Page, pageOf } from './page.ts'
import { type Probe, probeChannel } from './probe.ts'
import type { Input } from './schema.ts'
import { draftChannel } from './stored-items.ts'
import { type AdminContext, AdminError } from './use-case.ts'
import { VendorAskError } from './vendor-ask.ts'
import { vendorModels } from './vendor-models.ts'
import type { StoredRooms } from './with-stored.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The configuration with the channels that a server would use: its own, the environment's or the sandbox. */
export function withChannels(config: Config, env: Environment): Config {
  return { ...config, channels: channelConfigs(config, env, vendors) }
}

/** The vendors that a channel may have, with what the channel editor needs to know. */
export function listVendors() {
  const items = Object.values(vendors).map(({ id, baseUrl, keyless, local, speaks }) => ({
    id,
    baseUrl,
    needsKey: keyless !== true && local === undefined,
    dialects: speaks,
  }))
  return { items, next: null }
}

/** Sorted by name. Contains no secrets. */
export async function listChannels(
  context: AdminContext,
  rooms: ChannelRooms,
  page: Input<'listChannels'>,
): Promise<Page<ChannelView>> {
  const { all, view } = await viewableChannels(context, rooms)
  const shown = pageOf(all, ({ id }) => id, page)
  return { ...shown, items: await view(shown.items) }
}

export async function showChannel(
  context: AdminContext,
  rooms: ChannelRooms,
  { id }: Input<'channel'>,
): Promise<ChannelView> {
  const { all, view } = await viewableChannels(context, rooms)
  const [found] = await view(all.filter((each) => each.id === id))
  if (found !== undefined) return found
  throw new AdminError('not_found', 'id', `there is no channel ${JSON.stringify(id)}`)
}

/** Throws AdminError, which suggests the nearest name. */
function findChannel({ channels }: Config, id: string): ChannelConfig {
  const found = channels.find((channel) => channel.id === id)
  if (found !== undefined) return found
  const near = suggestion(
    id,
    channels.map((channel) => channel.id),
  )
  throw new AdminError('not_found', 'id', `there is no channel ${JSON.stringify(id)}${near}`)
}

/** Makes one small call to the channel. */
export async function testChannel(
  config: Config,
  { id, model }: Input<'testChannel'>,
): Promise<Probe> {
  return probeChannel(findChannel(config, id), config.models, model)
}

/** Makes one small call to a channel that is not stored, or not with these settings. */
export async function testDraft(
  context: AdminContext,
  rooms: StoredRooms,
  { channel, model }: Input<'testDraft'>,
): Promise<Probe> {
  const draft = await draftChannel(context, rooms, channel)
  return probeChannel(draft, rooms.declared.models, model)
}

/** The model list of the channel's vendor. Throws AdminError `conflict` where it cannot be had. */
export async function listVendorModels(config: Config, { id }: Input<'channel'>) {
  return vendorList(config, findChannel(config, id))
}

/** The vendor's model list for a channel that is not stored yet. */
export async function listDraftModels(
  context: AdminContext,
  rooms: StoredRooms,
  { channel }: Input<'draftChannel'>,
) {
  return vendorList(rooms.declared, await draftChannel(context, rooms, channel))
}

async function vendorList(config: Config, channel: ChannelConfig) {
  const [lane] = lanesOf(channel)
  const asked = { ...channel, key: lane?.key ?? null }
  try {
    const models = await vendorModels(config, asked)
    return { channel: channel.id, vendor: channel.vendor, models }
  } catch (error) {
    if (!(error instanceof VendorAskError)) throw error
    throw new AdminError('conflict', 'id', error.message)
  }
}
