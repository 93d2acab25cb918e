// Builds what is offered from one configuration: which channels serve which names, what is known of them, who may ask.

import { createCatalog } from '../catalog/catalog.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
import type { PriceBook } from '../meter/meter.ts'
import { createDirectory } from '../router/directory.ts'
import { vendors } from '../vendors/registry.ts'
import { createModelAccess, type ModelAccess } from './model-access.ts'

/** `channels` are those that serve: of the file, of the environment or built in. */
export function buildModelAccess(
  config: Config,
  channels: readonly ChannelConfig[],
  prices: () => PriceBook,
): ModelAccess {
  const catalog = createCatalog(config.models, (name) => {
    const channel = channels.find(({ models }) => models !== null && Object.hasOwn(models, name))
    return channel === undefined ? null : (vendors[channel.vendor]?.ownedBy ?? null)
  })
  const directory = createDirectory({
    channels,
    groups: config.groups,
    speaks: (vendor) => vendors[vendor]?.speaks ?? [],
    vendorModels: (vendor) => catalog.ofVendor(vendor).map((model) => model.id),
    vendorsName: catalog.vendorsName,
    knownModels: catalog.known,
    withoutSettings: (vendor, name) => vendors[vendor]?.quirks.withoutSettings?.(name) ?? null,
  })
  return createModelAccess({ config, catalog, directory, prices })
}
