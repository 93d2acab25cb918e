// The channels that serve a group, found by the names they serve: however many there are, a request looks at its own.

import { Beginnings, isPattern } from '../config/beginnings.ts'
import type { ChannelConfig } from '../config/types.ts'
import type { VendorDialectId } from '../wire/formats.ts'

/** Names, and patterns with one trailing `*`; the exact name wins, then the longest pattern. */
export class Names<Value> {
  readonly exact: ReadonlyMap<string, Value>
  readonly beginnings: Beginnings<Value>

  constructor(entries: readonly (readonly [name: string, value: Value])[]) {
    this.exact = new Map(entries.filter(([name]) => !isPattern(name)))
    this.beginnings = new Beginnings(
      entries.flatMap(([name, value]) =>
        isPattern(name) ? [[name.slice(0, -1), value] as const] : [],
      ),
    )
  }

  has(name: string): boolean {
    return this.match(name) !== undefined
  }

  /** `rest` is what the star stood for; null where the name stands as it is. */
  match(name: string): { readonly value: Value; readonly rest: string | null } | undefined {
    const exact = this.exact.get(name)
    if (exact !== undefined) return { value: exact, rest: null }
    const found = this.beginnings.find(name)
    return found && { value: found.value, rest: name.slice(found.beginning.length) }
  }
}

/** What a channel that serves these names calls a model to its vendor; null: it does not serve it. */
export function ownNameOf(names: Names<string>, model: string): string | null {
  const found = names.match(model)
  if (found === undefined) return null
  // Where the vendor's name is a pattern too, its star stands for what the public one's did.
  return isPattern(found.value) ? found.value.slice(0, -1) + (found.rest ?? model) : found.value
}

/** What one channel serves, or several of one vendor that name no models. */
export interface Offer {
  /** Public name or pattern to the vendor's; one with a trailing `*` stands for the name asked for. */
  readonly names: Names<string>
  /** Concrete public names, worked out when they are asked for. */
  listed(): readonly string[]
}

export interface Served {
  /** Its place among all channels. */
  readonly at: number
  readonly channel: ChannelConfig
  readonly speaks: readonly VendorDialectId[]
  readonly offer: Offer
  readonly withoutSettings: (name: string) => string | null
  readonly vendorsName: (name: string) => string
}

/** Some channels by the names they serve. */
export class Index {
  /** The first channel of each vendor. */
  readonly firsts: readonly Served[]
  readonly #channels: ReadonlyMap<Offer, readonly Served[]>
  readonly #exact: ReadonlyMap<string, readonly Offer[]>
  readonly #beginnings: Beginnings<readonly Offer[]>
  #listed: ReadonlySet<string> | null = null

  constructor(served: readonly Served[]) {
    this.#channels = Map.groupBy(served, ({ offer }) => offer)
    this.firsts = firstsOf(served)
    const exact = new Map<string, Offer[]>()
    const beginnings = new Map<string, Offer[]>()
    for (const offer of this.#channels.keys()) {
      for (const name of offer.names.exact.keys()) push(exact, name, offer)
      for (const beginning of offer.names.beginnings.keys()) push(beginnings, beginning, offer)
    }
    this.#exact = exact
    this.#beginnings = new Beginnings(beginnings)
  }

  names(name: string): boolean {
    return this.#exact.has(name)
  }

  serves(name: string): boolean {
    return this.names(name) || this.#beginnings.find(name) !== undefined
  }

  naming(name: string): Served[] {
    return (this.#exact.get(name) ?? []).flatMap((offer) => this.#channels.get(offer) ?? [])
  }

  serving(name: string): Served[] {
    const offers = new Set(this.#exact.get(name))
    for (const { value } of this.#beginnings.all(name)) for (const each of value) offers.add(each)
    return [...offers].flatMap((offer) => this.#channels.get(offer) ?? [])
  }

  get listed(): ReadonlySet<string> {
    this.#listed ??= new Set([...this.#channels.keys()].flatMap((offer) => offer.listed()))
    return this.#listed
  }
}

/** The first of each vendor. */
function firstsOf(served: readonly Served[]): readonly Served[] {
  const firsts = new Map<string, Served>()
  for (const each of served)
    if (!firsts.has(each.channel.vendor)) firsts.set(each.channel.vendor, each)
  return [...firsts.values()]
}

/** What is of every group, and what names its groups, by group. */
export function byGroup<Item>(
  items: readonly Item[],
  groupsOf: (item: Item) => readonly string[] | null,
): { readonly open: readonly Item[]; of(group: string): readonly Item[] } {
  const open: Item[] = []
  const closed = new Map<string, Item[]>()
  for (const item of items) {
    const groups = groupsOf(item)
    if (groups === null) open.push(item)
    for (const group of new Set(groups)) push(closed, group, item)
  }
  return { open, of: (group) => closed.get(group) ?? [] }
}

function push<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const known = lists.get(key)
  if (known === undefined) lists.set(key, [item])
  else known.push(item)
}

/** The channels of a group: those of all groups, and those that name it. */
export class Reach {
  /** A channel of each vendor. */
  readonly firsts: readonly Served[]
  readonly #indexes: readonly Index[]

  constructor(indexes: readonly Index[]) {
    this.#indexes = indexes
    this.firsts = firstsOf(inOrder(indexes.flatMap((index) => index.firsts)))
  }

  /** Whether a channel serves it by its very name. */
  names(name: string): boolean {
    return this.#indexes.some((index) => index.names(name))
  }

  /** Whether a channel serves it, by its name or by a pattern. */
  serves(name: string): boolean {
    return this.#indexes.some((index) => index.serves(name))
  }

  /** In the order of the configuration. */
  naming(name: string): readonly Served[] {
    return inOrder(this.#indexes.flatMap((index) => index.naming(name)))
  }

  /** In the order of the configuration. */
  serving(name: string): readonly Served[] {
    return inOrder(this.#indexes.flatMap((index) => index.serving(name)))
  }

  /** Concrete names among those that are allowed, sorted. */
  listed(allowed: Names<true>): readonly string[] {
    const lists = this.#indexes.map((index) => index.listed)
    const names = allowed.beginnings.isEmpty
      ? [...allowed.exact.keys()].filter((name) => lists.some((list) => list.has(name)))
      : lists.flatMap((list) => [...list].filter((name) => allowed.has(name)))
    return [...new Set(names)].sort()
  }
}

function inOrder(served: Served[]): readonly Served[] {
  return served.sort((one, other) => one.at - other.at)
}
