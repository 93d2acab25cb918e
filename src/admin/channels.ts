// The channels that serve, a small call to one of them, and the models of its vendor.

import { maskedAddress } from '../config/describe.ts'
import { suggestion } from '../config/problems.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
import { channelConfigs } from '../vendors/channel-configs.ts'
import { vendors } from '../vendors/registry.ts'
import { pageOf } from './page.ts'
import { type Probe, testChannel as probe } from './probe.ts'
import type { Input } from './schema.ts'
import { AdminError } from './use-case.ts'
import { vendorModels } from './vendor-models.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The configuration with the channels the server would serve: its own, the environment's or the sandbox. */
export function withChannels(config: Config, env: Environment): Config {
  return { ...config, channels: channelConfigs(config, env, vendors) }
}

const stateNames = ['ok', 'degraded', 'open', 'disabled'] as const

/** By name; `stateOf` as of `Health.state`. Nothing secret is in it. */
export function listChannels(
  config: Config,
  stateOf: (id: string) => 0 | 1 | 2 | 3,
  page: Input<'listChannels'>,
) {
  const views = config.channels.map((channel) => ({
    id: channel.id,
    vendor: channel.vendor,
    baseUrl: maskedAddress(channel.baseUrl),
    dialect: channel.dialect,
    /** Public name to the vendor's own; null: those the catalogue ships of the vendor. */
    models: channel.models,
    /** null: every group. */
    groups: channel.groups,
    priority: channel.priority,
    weight: channel.weight,
    origin: channel.origin,
    state: channel.disabled ? 'disabled' : stateNames[stateOf(channel.id)],
  }))
  return pageOf(views, ({ id }) => id, page)
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
