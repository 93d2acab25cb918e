// The channels that serve, a small call to one of them, and the models of its vendor.

import { suggestion } from '../config/problems.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
import { channelConfigs } from '../vendors/channel-configs.ts'
import { vendors } from '../vendors/registry.ts'
import { type ChannelRooms, type ChannelView, viewChannels } from './channel-view.ts'
import { type Page, pageOf } from './page.ts'
import { type Probe, testChannel as probe } from './probe.ts'
import type { Input } from './schema.ts'
import { type AdminContext, AdminError } from './use-case.ts'
import { vendorModels } from './vendor-models.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The configuration with the channels the server would serve: its own, the environment's or the sandbox. */
export function withChannels(config: Config, env: Environment): Config {
  return { ...config, channels: channelConfigs(config, env, vendors) }
}

/** By name. Nothing secret is in it. */
export async function listChannels(
  context: AdminContext,
  rooms: ChannelRooms,
  page: Input<'listChannels'>,
): Promise<Page<ChannelView>> {
  return pageOf(await viewChannels(context, rooms), ({ id }) => id, page)
}

export async function showChannel(
  context: AdminContext,
  rooms: ChannelRooms,
  { id }: Input<'channel'>,
): Promise<ChannelView> {
  const found = (await viewChannels(context, rooms)).find((view) => view.id === id)
  if (found !== undefined) return found
  throw new AdminError('not_found', 'id', `there is no channel ${JSON.stringify(id)}`)
}

/** Throws AdminError, with the nearest name, where there is none. */
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
export async function testChannel(config: Config, { id }: Input<'channel'>): Promise<Probe> {
  findChannel(config, id)
  return probe(config, id)
}

/** The models of the channel's vendor, by the vendor's own list. */
export async function listVendorModels(config: Config, { id }: Input<'channel'>) {
  const channel = findChannel(config, id)
  return { channel: id, vendor: channel.vendor, models: await vendorModels(config, channel) }
}
