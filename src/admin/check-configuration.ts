// What a configuration promises and would not answer: models without a price or a way, patterns that match no model.

import { aliasPrices } from '../catalog/alias-prices.ts'
import { shippedPrices } from '../catalog/shipped-prices.ts'
import { defaultGroup } from '../config/defaults.ts'
import { type Problem, pathText } from '../config/problems.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
import { firstPrices } from '../meter/ensure-prices.ts'
import { type PriceConflict, priceConflicts } from '../meter/file-prices.ts'
import type { PriceBook } from '../meter/meter.ts'
import { createPriceBook } from '../meter/price-book.ts'
import { anyoneOf } from '../operations/model-access.ts'
import { buildModelAccess } from '../operations/offering.ts'
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
  const named = Object.values(config.groups).flatMap((group) => {
    const reachable = channels.filter(
      ({ disabled, groups }) => !disabled && (groups === null || groups.includes(group.id)),
    )
    // The group that is always there may be nobody's.
    if (group.id === defaultGroup && reachable.length === 0) return []
    const modelAccess = buildModelAccess(config, reachable, () => book)
    const names = modelAccess.models(anyoneOf(group.id)).map(({ id }) => id)
    const served = [...names, ...reachable.flatMap(({ models }) => Object.keys(models ?? {}))]
    return patternProblems(['groups', group.id, 'models'], group.models, served)
  })
  return [...channelProblems(config, channels, book), ...named, ...keyProblems(config)]
}

/** Each channel is judged by itself: another one may serve the same name in another way. */
function channelProblems(
  config: Config,
  channels: readonly ChannelConfig[],
  book: PriceBook,
): Problem[] {
  const open = {
    ...config,
    groups: { any: { id: 'any', multiplier: '1', models: ['*'], limits: {} } },
  }
  return channels.flatMap((channel, index) => {
    if (channel.disabled) return []
    const modelAccess = buildModelAccess(open, [{ ...channel, groups: null }], () => book)
    const path = channel.origin === 'file' ? ['channels', index, 'models'] : [channel.id]
    return Object.keys(channel.models ?? {}).flatMap((name) => {
      if (name.endsWith('*')) return []
      const why = modelAccess.whyNot(anyoneOf('any'), name)
      return why === null ? [] : [{ path: pathText([...path, name]), message: why }]
    })
  })
}

function keyProblems({ keys, groups }: Config): Problem[] {
  return keys.flatMap(({ models, group }, index) =>
    patternProblems(['keys', index, 'models'], models ?? ['*'], groups[group]?.models ?? []),
  )
}

function patternProblems(
  path: readonly PropertyKey[],
  patterns: readonly string[],
  served: readonly string[],
): Problem[] {
  if (patterns.length === 0) return [{ path: pathText(path), message: 'names no model' }]
  return patterns.flatMap((pattern, at) =>
    served.some((name) => overlap(pattern, name))
      ? []
      : [{ path: pathText([...path, at]), message: `${pattern} matches no model that is served` }],
  )
}

/** Whether some name fits both. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => (name.endsWith('*') ? name.slice(0, -1) : null))
  if (a !== null && b !== null && a !== undefined && b !== undefined)
    return a.startsWith(b) || b.startsWith(a)
  if (a != null) return other.startsWith(a)
  if (b != null) return one.startsWith(b)
  return one === other
}
