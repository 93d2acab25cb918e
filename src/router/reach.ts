// Indexes the channels of a group by the names they serve, so that a request looks at its own, however many there are.

import { Beginnings, isPattern } from '../config/beginnings.ts'
import type { ChannelConfig } from '../config/types.ts'
import type { VendorDialectId } from '../wire/formats.ts'

/** Values by name or by pattern with a trailing `*`; the exact name wins, then the longest pattern. */
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

  /** `rest` is the text the star matched; null for an exact name. */
  match(name: string): { readonly value: Value; readonly rest: string | null } | undefined {
    const exact = this.exact.get(name)
    if (exact !== undefined) return { value: exact, rest: null }
    const found = this.beginnings.find(name)
    return found && { value: found.value, rest: name.slice(found.beginning.length) }
  }
}

/** The name by which a channel that serves these names asks its vendor for a model; null: it does not serve it. */
export function ownNameOf(names: Names<string>, model: string): string | null {
  const found = names.match(model)
  if (found === undefined) return null
  // Where the vendor's name is a pattern too, its star is replaced by the text that the public one's matched.
  return isPattern(found.value) ? found.value.slice(0, -1) + (found.rest ?? model) : found.value
}

/** The models of one channel, or of several channels of one vendor that all serve its whole catalogue. */
export interface Offer {
  /** The vendor's name by public name or pattern; a trailing `*` in it is replaced by what the pattern matched. */
  readonly names: Names<string>
  /** Concrete public names, computed when asked for. */
  listed(): readonly string[]
}

export interface Served {
  /** Its index in the configured list of channels. */
  readonly at: number
  readonly channel: ChannelConfig
  readonly speaks: readonly VendorDialectId[]
  /** The same for a model, by the client's and the vendor's name, where that differs; null: it does not. */
  readonly speaksFor: (name: string, vendorsName: string) => readonly VendorDialectId[] | null
  readonly offer: Offer
  readonly withoutSettings: (name: string) => string | null
  readonly vendorsName: (name: string) => string
  /** The most tokens that its model can write, by the client's and the vendor's name; null: not known. */
  readonly maxOutput: (name: string, vendorsName: string) => number | null
}

/** An index of channels by the names they serve. */
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

/** The first channel of each vendor. */
function firstsOf(served: readonly Served[]): readonly Served[] {
  const firsts = new Map<string, Served>()
  for (const each of served)
    if (!firsts.has(each.channel.vendor)) firsts.set(each.channel.vendor, each)
  return [...firsts.values()]
}

/** Splits items into those open to every group (`null`) and those of some groups, by group. */
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

/** The channels a group may use: those open to all groups, and those that name it. */
export class Reach {
  /** One channel of each vendor, the first. */
  readonly firsts: readonly Served[]
  readonly #indexes: readonly Index[]

  constructor(indexes: readonly Index[]) {
    this.#indexes = indexes
    this.firsts = firstsOf(inOrder(indexes.flatMap((index) => index.firsts)))
  }

  /** Whether a channel serves the name exactly, not by a pattern. */
  names(name: string): boolean {
    return this.#indexes.some((index) => index.names(name))
  }

  /** Whether a channel serves the name, exactly or by a pattern. */
  serves(name: string): boolean {
    return this.#indexes.some((index) => index.serves(name))
  }

  /** Channels that serve the name exactly, in the order of the configuration. */
  naming(name: string): readonly Served[] {
    return inOrder(this.#indexes.flatMap((index) => index.naming(name)))
  }

  /** Channels that serve the name, also by a pattern, in the order of the configuration. */
  serving(name: string): readonly Served[] {
    return inOrder(this.#indexes.flatMap((index) => index.serving(name)))
  }

  /** The allowed concrete names that the channels serve, sorted. */
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
