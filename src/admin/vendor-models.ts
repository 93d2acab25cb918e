// The models of a channel's vendor: the names that callers would use for them, and whether they would be served.

import { aliasPrices } from '../catalog/alias-prices.ts'
import { createCatalog } from '../catalog/catalog.ts'
import { shippedPrices } from '../catalog/shipped-prices.ts'
import { isPattern } from '../config/beginnings.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
import { firstPrices } from '../meter/ensure-prices.ts'
import { createPriceBook } from '../meter/price-book.ts'
import { anyoneOf } from '../operations/model-access.ts'
import { buildModelAccess } from '../operations/offering.ts'
import { listModels } from './model-list.ts'

/**
 * Uses the prices of the file and the shipped ones. Throws VendorAskError, without secrets, where the vendor's list
 * cannot be had.
 */
export async function vendorModels(config: Config, channel: ChannelConfig) {
  const shipped = shippedPrices(config.currency)
  const cards = [...shipped, ...aliasPrices([channel], shipped)]
  const book = createPriceBook(firstPrices(config.models, cards))
  const group = { id: 'any', multiplier: '1', models: ['*'], limits: {} }
  const open = { ...channel, groups: null, disabled: false }
  const modelAccess = buildModelAccess({ ...config, groups: { any: group } }, [open], () => book)
  const catalog = createCatalog(config.models)
  const anyone = anyoneOf('any')
  return (await listModels(channel)).map((model) => {
    const name = publicName(channel, model, catalog.ofVendor(channel.vendor))
    const known =
      catalog.find(name ?? model) ?? catalog.find(model) ?? catalog.assume(model, 'custom')
    const { kind, context } = known
    return { model, name, kind, context, problem: modelAccess.whyNot(anyone, name ?? model) }
  })
}

/** The public name of a vendor's model: by an exact mapping, else by the longest pattern. */
function publicName(
  { models }: ChannelConfig,
  model: string,
  catalogue: readonly { readonly id: string }[],
): string | null {
  if (models === null) return catalogue.some(({ id }) => id === model) ? model : null
  const entries = Object.entries(models)
  const [exact] = entries.find(([name, own]) => own === model && !isPattern(name)) ?? []
  if (exact !== undefined) return exact
  const patterns = entries.flatMap(([name, own]) => {
    if (!isPattern(name) || !isPattern(own)) return []
    const rest = model.startsWith(own.slice(0, -1)) ? model.slice(own.length - 1) : null
    return rest === null ? [] : [name.slice(0, -1) + rest]
  })
  return patterns.sort((a, b) => b.length - a.length)[0] ?? null
}
