// All channels of a configuration: those configured, else those of keys in the environment, else the built-in sandbox.

import { ConfigError } from '../config/problems.ts'
import { baseUrlExpected, isBaseUrl } from '../config/rules.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
import type { Vendor } from './vendor.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Vendors = Readonly<Record<string, Vendor>>

const shared = {
  models: null,
  groups: null,
  priority: 0,
  weight: 1,
  disabled: false,
  dialect: null,
  timeouts: {},
  options: {},
}

/**
 * Channels of the file and the store exclude all others; only without them do keys in the environment make channels.
 */
export function channelConfigs(
  config: Pick<Config, 'channels' | 'leftOut'>,
  env: Environment,
  vendors: Vendors,
): readonly ChannelConfig[] {
  const { channels, leftOut } = config
  if (channels.length > 0 || leftOut.some(({ kind }) => kind === 'channel')) return channels
  const found = Object.values(vendors).flatMap((vendor) => fromEnvironment(vendor, env))
  return found.length > 0 ? found : [sandbox]
}

const sandbox: ChannelConfig = {
  ...shared,
  id: 'sandbox',
  vendor: 'sandbox',
  baseUrl: null,
  key: null,
  // A model's name may have settings behind a plus sign; the pattern serves all such names.
  models: {
    'sandbox/chat': 'sandbox/chat',
    'sandbox/reasoning': 'sandbox/reasoning',
    'sandbox/completion': 'sandbox/completion',
    'sandbox/embedding': 'sandbox/embedding',
    'sandbox/*': 'sandbox/*',
  },
  origin: 'built-in',
}

function fromEnvironment(vendor: Vendor, env: Environment): ChannelConfig[] {
  const own =
    vendor.environmentBaseUrl === undefined ? null : env[vendor.environmentBaseUrl] || null
  const places = [
    ...(vendor.environment === undefined ? [] : [{ variable: vendor.environment, baseUrl: own }]),
    ...Object.entries(vendor.environmentElsewhere ?? {}).map(([variable, baseUrl]) => ({
      variable,
      baseUrl,
    })),
  ]
  return places.flatMap(({ variable, baseUrl }, at) => {
    const key = env[variable] ?? ''
    if (key === '' || (vendor.baseUrl === null && (baseUrl === null || baseUrl === ''))) return []
    if (baseUrl !== null && baseUrl !== '' && !isBaseUrl(baseUrl)) {
      const path = vendor.environmentBaseUrl ?? variable
      throw new ConfigError([{ path, message: baseUrlExpected }], null)
    }
    const id = at === 0 ? vendor.id : `${vendor.id}-${at + 1}`
    return [{ ...shared, id, vendor: vendor.id, baseUrl, key, origin: 'environment' as const }]
  })
}
