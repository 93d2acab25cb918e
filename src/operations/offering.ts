// Builds the model access of one configuration: which channels serve which names, and what is known of them.

import { createCatalog } from '../catalog/catalog.ts'
import { undated } from '../catalog/dated.ts'
import type { Catalog } from '../catalog/model.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
import type { PriceBook } from '../meter/meter.ts'
import { createDirectory } from '../router/directory.ts'
import { vendors } from '../vendors/registry.ts'
import { createModelAccess, type ModelAccess } from './model-access.ts'

/** `channels`: those in use, from the file, the environment or built in. */
export function buildModelAccess(
  config: Config,
  channels: readonly ChannelConfig[],
  prices: () => PriceBook,
  catalog: Catalog = catalogOf(config, channels),
): ModelAccess {
  const directory = createDirectory({
    channels,
    groups: config.groups,
    speaks: (vendor) => vendors[vendor]?.speaks ?? [],
    speaksFor: ({ vendor, baseUrl, options }, asked, model) =>
      vendors[vendor]?.speaksFor?.({ model, asked, baseUrl, options }) ?? null,
    vendorModels: (vendor) => catalog.ofVendor(vendor).map((model) => model.id),
    vendorsName: catalog.vendorsName,
    maxOutput: (vendor, name, own) =>
      config.models[name]?.maxOutput ??
      shippedMaxOutput(catalog, vendor, own) ??
      shippedMaxOutput(catalog, vendor, name) ??
      catalog.assume(name, '').maxOutput,
    knownModels: catalog.known,
    withoutSettings: (vendor, name) => vendors[vendor]?.quirks.withoutSettings?.(name) ?? null,
  })
  return createModelAccess({ config, catalog, directory, prices })
}

/** What is known of the vendor's own model of this name, or of the one that it is a snapshot of. */
function shippedMaxOutput(catalog: Catalog, vendor: string, name: string): number | null {
  const shipped = catalog.ofVendor(vendor)
  const base = undated(name)
  const found = shipped.find(({ id }) => id === name) ?? shipped.find(({ id }) => id === base)
  return found?.maxOutput ?? null
}

/** The catalogue of one configuration, to be shared: it holds all configured and all shipped models. */
export function catalogOf(
  { models }: Pick<Config, 'models'>,
  channels: readonly ChannelConfig[],
): Catalog {
  const owners = new Map<string, string | null>()
  for (const { vendor, models: served } of channels) {
    const ownedBy = vendors[vendor]?.ownedBy ?? null
    for (const name of Object.keys(served ?? {})) if (!owners.has(name)) owners.set(name, ownedBy)
  }
  return createCatalog(models, (name) => owners.get(name) ?? null)
}
