// Asks a channel's vendor for its models, for an operator who writes them into the configuration.

import type { ChannelConfig } from '../config/types.ts'
import { modelListOf } from '../vendors/model-lists.ts'
import { vendors } from '../vendors/registry.ts'
import { sandboxModels } from '../vendors/sandbox/settings.ts'
import { askVendor, VendorAskError } from './vendor-ask.ts'

/** The vendor's model names, sorted. Throws VendorAskError, without secrets, where the list cannot be had. */
export async function listModels(config: ChannelConfig): Promise<readonly string[]> {
  const vendor = vendors[config.vendor]
  if (vendor === undefined) throw new Error(`unknown vendor ${config.vendor}`)
  if (vendor.local !== undefined) return sandboxModels
  const list = modelListOf(vendor.id)
  if (list === null) {
    throw new VendorAskError(`${vendor.id} has no list of models that a channel's key may read`)
  }
  const names = list.read(await askVendor(config, vendor, list.address))
  if (names === null)
    throw new VendorAskError(`${config.id}: what the vendor answered is no list of models`)
  return [...new Set(names)].sort()
}
