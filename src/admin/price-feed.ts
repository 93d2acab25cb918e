// Recent price changes of a group as feeds that readers subscribe to: JSON Feed 1.1 and RSS 2.0.

import { formatUnits } from '../money.ts'
import { anyoneOf } from '../operations/model-access.ts'
import type { PriceRow } from '../store/ledger.ts'
import { groupFor, type Offer, type Viewer } from './offer.ts'
import { type CardChange, cardChanges, changeView, type PriceChange } from './price-history.ts'
import { type FeedPlace, rss } from './rss.ts'
import type { Input } from './schema.ts'

const mostItems = 100

interface PriceFeed {
  readonly group: string
  readonly currency: string
  /** Latest announcement first. */
  readonly items: readonly PriceChange[]
}

/** Covers the group's present models. Prices that the deployment began with are no changes. */
export function priceFeed(offer: Offer, viewer: Viewer, input: Input<'priceFeed'>): PriceFeed {
  const group = groupFor(viewer, input.group)
  const { config, modelAccess, rows } = offer
  const beginning = rows[0]?.createdAt ?? 0
  const changes = modelAccess.models(anyoneOf(group)).flatMap(({ id }) => {
    const all = changesOf(rows, modelAccess.pricedAs(anyoneOf(group), id))
    return all.filter(({ atMs }) => atMs > beginning).map((change) => ({ id, all, change }))
  })
  const latest = changes
    .sort(
      (one, other) =>
        other.change.announcedMs - one.change.announcedMs || (one.id < other.id ? -1 : 1),
    )
    .slice(0, mostItems)
  return {
    group,
    currency: config.currency,
    items: latest.map(({ id, all, change }) =>
      changeView(change, { id, group, changes: all, offer }),
    ),
  }
}

/** By the rows, which are others once a price has changed: anybody may read the feeds, as often as they like. */
const found = new WeakMap<readonly PriceRow[], Map<string, readonly CardChange[]>>()

function changesOf(rows: readonly PriceRow[], model: string): readonly CardChange[] {
  const known = found.get(rows) ?? new Map<string, readonly CardChange[]>()
  found.set(rows, known)
  const changes = known.get(model) ?? cardChanges(rows, model)
  known.set(model, changes)
  return changes
}

/** JSON Feed 1.1 (jsonfeed.org/version/1.1). */
export function jsonFeed(feed: PriceFeed, { address, own }: FeedPlace): string {
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: titleOf(feed),
    home_page_url: address,
    feed_url: address + own,
    language: 'en',
    items: feed.items.map((change) => ({
      id: idOf(change, feed),
      url: modelAddress(change, feed, address),
      title: headline(change),
      content_text: textOf(change, feed),
      date_published: change.announcedAt,
      tags: [change.model],
      _tollgate: change,
    })),
  })
}

/** RSS 2.0. */
export function rssFeed(feed: PriceFeed, place: FeedPlace): string {
  const items = feed.items.map((change) => ({
    title: headline(change),
    link: modelAddress(change, feed, place.address),
    id: idOf(change, feed),
    at: change.announcedAt,
    text: textOf(change, feed),
  }))
  return rss(titleOf(feed), items, place)
}

function titleOf({ group, currency }: PriceFeed): string {
  return `Changes of prices: group ${group}, in ${currency} for a million`
}

/** An id that stays the same as long as the change does. */
function idOf({ model, version, from }: PriceChange, { group }: PriceFeed): string {
  return `price:${group}:${model}:${version}:${from}`
}

function modelAddress({ model }: PriceChange, { group }: PriceFeed, address: string): string {
  return `${address}/api/models/${encodeURIComponent(model.toWellFormed())}?group=${encodeURIComponent(group)}`
}

function headline({ model, lines, steps }: PriceChange): string {
  if (lines.length === 0) return `${model}: no price any more`
  return `${model}: ${steps.map(stepText).join(', ')}`
}

function stepText({ name, beforeNano, afterNano, percent }: PriceChange['steps'][number]): string {
  const amount = (nano: string | null) => (nano === null ? '-' : formatUnits(BigInt(nano)))
  const change = percent === null ? '' : ` (${percent} %)`
  return beforeNano === null
    ? `${name} ${amount(afterNano)}`
    : `${name} ${amount(beforeNano)} → ${amount(afterNano)}${change}`
}

function textOf(change: PriceChange, { currency }: PriceFeed): string {
  const { from, announcedAt, lines } = change
  const when = from === announcedAt ? `Since ${from}` : `Announced ${announcedAt}, from ${from} on`
  const all = lines.map(({ name, priceNano }) => `${name} ${formatUnits(BigInt(priceNano))}`)
  const prices =
    lines.length === 0 ? '' : ` Prices in ${currency} for a million: ${all.join(', ')}.`
  return `${when}: ${headline(change)}.${prices}`
}
