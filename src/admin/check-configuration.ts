// What a configuration promises and would not answer: models without a price or a way, patterns that match no model.

import { aliasPrices } from '../catalog/alias-prices.ts'
import type { Catalog } from '../catalog/model.ts'
import { shippedPrices } from '../catalog/shipped-prices.ts'
import { Beginnings, isPattern } from '../config/beginnings.ts'
import { defaultGroup } from '../config/defaults.ts'
import { type Problem, pathText } from '../config/problems.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
import { firstPrices } from '../meter/ensure-prices.ts'
import { type PriceConflict, priceConflicts } from '../meter/file-prices.ts'
import type { PriceBook } from '../meter/meter.ts'
import { createPriceBook } from '../meter/price-book.ts'
import { anyoneOf } from '../operations/model-access.ts'
import { buildModelAccess, catalogOf } from '../operations/offering.ts'
import { byGroup } from '../router/reach.ts'
import type { PriceRow } from '../store/ledger.ts'

export interface Checked {
  /** What of it would not be answered. */
  readonly problems: readonly Problem[]
  /** Prices that differ from those written down; null where no store was asked. */
  readonly prices: readonly PriceConflict[] | null
}

/** `config` has the channels that serve; `stored` every price of its store, or null. */
export function checkConfiguration(config: Config, stored: readonly PriceRow[] | null): Checked {
  return {
    problems: unanswered(config, config.channels, bookOf(config, stored)),
    prices: stored === null ? null : priceConflicts(stored, config.models),
  }
}

/** What would be charged: by the store, and by what this configuration would add to it. */
function bookOf(config: Config, stored: readonly PriceRow[] | null): PriceBook {
  const shipped = shippedPrices(config.currency)
  const cards = [...shipped, ...aliasPrices(config.channels, shipped)]
  const rows = [...firstPrices(config.models, cards), ...(stored ?? [])]
  return createPriceBook(rows.map((row, index) => ({ ...row, version: index + 1 })))
}

/** Every problem there is. `channels` are those that serve; names that only a pattern would serve are not judged. */
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
    // The group that is always there may be nobody's.
    if (id === defaultGroup && own.length + reaching.open.length === 0) return []
    const path = ['groups', id, 'models']
    // Most groups have the same models of the same channels as others.
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

/** Each channel is judged by itself: another one may serve the same name in another way. */
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
    const path = channel.origin === 'file' ? ['channels', index, 'models'] : [channel.id]
    return Object.keys(channel.models ?? {}).flatMap((name) => {
      if (isPattern(name)) return []
      const why = modelAccess.whyNot(anyoneOf('any'), name)
      return why === null ? [] : [{ path: pathText([...path, name]), message: why }]
    })
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

/** Names and patterns, asked whether some name fits one of them and another pattern. */
class NameSet {
  readonly #names: ReadonlySet<string>
  readonly #beginnings: Beginnings<true>
  /** Names, and what patterns begin with. */
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
    // What begins with it, if anything does, stands where it would stand itself.
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
