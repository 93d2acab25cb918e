// Finds configured models that could not be served: without a price or a channel, and patterns that match no model.

import { aliasPrices } from '../catalog/alias-prices.ts'
import type { Catalog } from '../catalog/model.ts'
import { shippedPrices } from '../catalog/shipped-prices.ts'
import { Beginnings, isPattern } from '../config/beginnings.ts'
import { defaultGroup } from '../config/defaults.ts'
import { type Problem, pathText, suggestion } from '../config/problems.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
import { firstPrices, type ShippedCard } from '../meter/ensure-prices.ts'
import { type PriceConflict, priceConflicts } from '../meter/file-prices.ts'
import type { PriceBook } from '../meter/meter.ts'
import { createPriceBook } from '../meter/price-book.ts'
import { anyoneOf } from '../operations/model-access.ts'
import { buildModelAccess, catalogOf } from '../operations/offering.ts'
import { byGroup } from '../router/reach.ts'
import type { PriceRow } from '../store/ledger.ts'
import { vendors } from '../vendors/registry.ts'

export interface Checked {
  /** Models that could not be served. */
  readonly problems: readonly Problem[]
  /** Prices that differ from the store's; null where no store was read. */
  readonly prices: readonly PriceConflict[] | null
}

/** `config` includes the channels in use; `stored`: every price row of the store, or null. */
export function checkConfiguration(config: Config, stored: readonly PriceRow[] | null): Checked {
  const shipped = shippedPrices(config.currency)
  const aliases = aliasPrices(config.channels, shipped)
  const book = bookOf(config, [...shipped, ...aliases], stored)
  return {
    problems: unanswered(config, config.channels, book),
    prices: stored === null ? null : priceConflicts(stored, config.models, aliases),
  }
}

/** The prices that would be charged: the store's, and those this configuration would add. */
function bookOf(
  config: Config,
  cards: readonly ShippedCard[],
  stored: readonly PriceRow[] | null,
): PriceBook {
  const rows = [...firstPrices(config.models, cards), ...(stored ?? [])]
  return createPriceBook(rows.map((row, index) => ({ ...row, version: index + 1 })))
}

/** All problems. `channels`: those in use. Names that only a pattern would serve are not checked. */
function unanswered(
  config: Config,
  channels: readonly ChannelConfig[],
  book: PriceBook,
): readonly Problem[] {
  const catalog = catalogOf(config, channels)
  return [
    ...channelProblems(config, channels, { book, catalog }),
    ...groupProblems(config, channels, { book, catalog }),
    ...keyProblems(config),
  ]
}

interface Offered {
  readonly book: PriceBook
  readonly catalog: Catalog
}

function groupProblems(
  config: Config,
  channels: readonly ChannelConfig[],
  { book, catalog }: Offered,
): Problem[] {
  const modelAccess = buildModelAccess(config, channels, () => book, catalog)
  const reaching = byGroup(
    channels.filter(({ disabled }) => !disabled),
    ({ groups }) => groups,
  )
  const known = new Map<string, NameSet>()
  return Object.values(config.groups).flatMap(({ id, models }) => {
    const own = reaching.of(id)
    // The default group always exists and may be unused.
    if (id === defaultGroup && own.length + reaching.open.length === 0) return []
    const path = ['groups', id, 'models']
    // Groups with the same models and channels share the result.
    const alike = JSON.stringify([models, own.map((channel) => channel.id)])
    const served =
      known.get(alike) ??
      new NameSet([
        ...modelAccess.models(anyoneOf(id)).map((model) => model.id),
        ...[...reaching.open, ...own].flatMap((channel) => Object.keys(channel.models ?? {})),
      ])
    known.set(alike, served)
    return patternProblems(path, models, served)
  })
}

/** Checks each channel apart: another channel may serve the same name differently. */
function channelProblems(
  config: Config,
  channels: readonly ChannelConfig[],
  { book, catalog }: Offered,
): Problem[] {
  const open = {
    ...config,
    groups: { any: { id: 'any', multiplier: '1', models: ['*'], limits: {} } },
  }
  return channels.flatMap((channel, index) => {
    if (channel.disabled) return []
    const alone = [{ ...channel, groups: null }]
    const modelAccess = buildModelAccess(open, alone, () => book, catalog)
    const place = channel.origin === 'file' ? ['channels', index] : [channel.id]
    if (lacksKey(channel)) {
      const message = `is missing: ${channel.vendor} needs one`
      return [{ path: pathText([...place, 'key']), message }]
    }
    const path = channel.origin === 'file' ? [...place, 'models'] : place
    const unserved = Object.keys(channel.models ?? {}).flatMap((name) => {
      if (isPattern(name)) return []
      const why = modelAccess.whyNot(anyoneOf('any'), name)
      return why === null ? [] : [{ path: pathText([...path, name]), message: why }]
    })
    return [...optionProblems(channel, [...place, 'options']), ...unserved]
  })
}

/** A service of the operator's own, at another address or with headers, may need none. */
function lacksKey({ vendor, baseUrl, key, keys, headers, options }: ChannelConfig): boolean {
  const { keyless = false, local } = vendors[vendor] ?? {}
  const hasKey = Boolean(key?.trim()) || (keys ?? []).length > 0
  const isElsewhere = baseUrl !== null || Object.keys(headers ?? {}).length > 0
  return !(hasKey || keyless || local || isElsewhere || options.secretAccessKey)
}

const vendorOptions: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    openai: ['responsesFirst'],
    'azure-openai': ['apiVersion', 'responsesFirst'],
    bedrock: ['region', 'accessKeyId', 'secretAccessKey', 'sessionToken', 'imageBuckets'],
    vertex: ['region', 'project', 'fileBuckets', 'resources'],
  }),
)

/** Not refused at a start: an option that the vendor does not have is ignored. */
function optionProblems(
  { vendor, options }: ChannelConfig,
  path: readonly PropertyKey[],
): readonly Problem[] {
  const known = vendorOptions.get(vendor) ?? []
  const other = known.length === 0 ? '' : `; known are ${known.join(', ')}`
  return Object.keys(options).flatMap((name) => {
    if (known.includes(name)) return []
    const message = `is no option of ${vendor}, and is ignored${suggestion(name, known) || other}`
    return [{ path: pathText([...path, name]), message }]
  })
}

function keyProblems({ keys, groups }: Config): Problem[] {
  const known = new Map<string, NameSet>()
  return keys.flatMap(({ models, group }, index) => {
    const allowed = known.get(group) ?? new NameSet(groups[group]?.models ?? [])
    known.set(group, allowed)
    return patternProblems(['keys', index, 'models'], models ?? ['*'], allowed)
  })
}

function patternProblems(
  path: readonly PropertyKey[],
  patterns: readonly string[],
  served: NameSet,
): Problem[] {
  if (patterns.length === 0) return [{ path: pathText(path), message: 'names no model' }]
  return patterns.flatMap((pattern, at) =>
    served.overlaps(pattern)
      ? []
      : [{ path: pathText([...path, at]), message: `${pattern} matches no model that is served` }],
  )
}

/** A set of names and patterns that tells whether a further pattern overlaps with any of them. */
class NameSet {
  readonly #names: ReadonlySet<string>
  readonly #beginnings: Beginnings<true>
  /** The names, and the beginnings of the patterns. */
  readonly #sorted: readonly string[]

  constructor(names: readonly string[]) {
    const beginnings = names.filter(isPattern).map((name) => name.slice(0, -1))
    const exact = names.filter((name) => !isPattern(name))
    this.#names = new Set(exact)
    this.#beginnings = new Beginnings(beginnings.map((each) => [each, true]))
    this.#sorted = [...exact, ...beginnings].sort()
  }

  overlaps(pattern: string): boolean {
    if (!isPattern(pattern))
      return this.#names.has(pattern) || this.#beginnings.find(pattern) !== undefined
    const beginning = pattern.slice(0, -1)
    if (this.#beginnings.find(beginning) !== undefined) return true
    // In the sorted list, texts that begin with it stand at its own place.
    return this.#sorted[this.#placeOf(beginning)]?.startsWith(beginning) === true
  }

  #placeOf(text: string): number {
    let [from, to] = [0, this.#sorted.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#sorted[middle] ?? '') < text) from = middle + 1
      else to = middle
    }
    return from
  }
}
