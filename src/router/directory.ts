// Finds the channels that serve a model to a group; indexes are built once from the configuration.

import { undated } from '../catalog/dated.ts'
import { isPattern } from '../config/beginnings.ts'
import { lanesOf } from '../config/channel-keys.ts'
import type { ChannelConfig, GroupSettings } from '../config/types.ts'
import { parseUnits } from '../money.ts'
import type { ClientDialectId, VendorDialectId } from '../wire/formats.ts'
import { byGroup, Index, Names, type Offer, ownNameOf, Reach, type Served } from './reach.ts'
import type { Candidate } from './route.ts'

interface DirectoryOptions {
  readonly channels: readonly ChannelConfig[]
  readonly groups: Readonly<Record<string, GroupSettings>>
  /** Dialects a vendor speaks, best first; empty for an unknown vendor. */
  readonly speaks: (vendorId: string) => readonly VendorDialectId[]
  /** The same for one of its models at one channel, where that differs; null: it does not. */
  readonly speaksFor?: (
    channel: ChannelConfig,
    name: string,
    vendorsName: string,
  ) => readonly VendorDialectId[] | null
  /** Model names in the vendor's catalogue; one with a trailing `*` is a pattern. */
  readonly vendorModels: (vendorId: string) => readonly string[]
  /** The vendor's own name for a model of its catalogue, where it differs. */
  readonly vendorsName?: (vendorId: string, name: string) => string
  /** The most tokens that a vendor's model can write, by the client's and the vendor's name; null: not known. */
  readonly maxOutput?: (vendorId: string, name: string, vendorsName: string) => number | null
  /** Names listed for a pattern whose vendor has no catalogue: the models known of other vendors. */
  readonly knownModels?: readonly string[]
  /** A name without the settings that a vendor allows behind it (`sandbox/chat+first=5`); null: it has none. */
  readonly withoutSettings?: (vendorId: string, name: string) => string | null
}

/** Whether a request in `from` can be translated to `to`. */
type Hubbed = (from: ClientDialectId, to: VendorDialectId) => boolean

export interface Directory {
  /**
   * Channels that serve `model` to `group`; empty where either is unknown. Cached: `hubbed` must always be the same.
   */
  candidates(
    group: string,
    model: string,
    dialect: ClientDialectId,
    hubbed: Hubbed,
  ): readonly Candidate[]
  /**
   * The name by which `candidates` finds a model: the name itself where a channel serves it, else without the vendor's
   * settings or the date of a snapshot. Null where nothing is found.
   */
  nameOf(group: string, model: string): string | null
  /** Every concrete name that the group may use, sorted; for `/v1/models`. */
  models(group: string): readonly string[]
}

interface Group {
  readonly allowed: Names<true>
  readonly reach: Reach
  /** Concrete names, computed when first asked for. */
  models(): readonly string[]
  readonly found: Map<string, Map<ClientDialectId, readonly Candidate[]>>
}

/** The most models cached for a group; beyond it the cache is cleared (a pattern admits any name). */
const foundKept = 10_000
const none: readonly never[] = Object.freeze([])

export function createDirectory(options: DirectoryOptions): Directory {
  const groups = new Groups(options)
  return {
    candidates(id, model, dialect, hubbed) {
      const group = groups.get(id)
      if (group === undefined) return none
      const ofModel = group.found.get(model)
      const known = ofModel?.get(dialect)
      if (known !== undefined) return known
      const found = find(group, model, dialect, hubbed)
      // A miss is not cached: anybody can invent such names.
      if (found.length === 0) return found
      if (ofModel !== undefined) ofModel.set(dialect, found)
      else {
        if (group.found.size >= foundKept) group.found.clear()
        group.found.set(model, new Map([[dialect, found]]))
      }
      return found
    },
    nameOf(id, model) {
      const group = groups.get(id)
      return group === undefined ? null : (foundBy(group, model)?.name ?? null)
    },
    models: (id) => groups.get(id)?.models() ?? none,
  }
}

/** Groups are built when first asked for; groups with the same models and channels share one object. */
class Groups {
  readonly #settings: ReadonlyMap<string, GroupSettings>
  /** Channels open to every group. */
  readonly #open: Index
  /** Channels restricted to some groups. */
  readonly #closed: (group: string) => readonly Served[]
  readonly #byId = new Map<string, Group>()
  readonly #alike = new Map<string, Group>()
  readonly #reaches = new Map<string, Reach>()

  constructor(options: DirectoryOptions) {
    this.#settings = new Map(Object.values(options.groups).map((each) => [each.id, each]))
    const { open, of } = byGroup(servedOf(options), ({ channel }) => channel.groups)
    this.#open = new Index(open)
    this.#closed = of
  }

  get(id: string): Group | undefined {
    const known = this.#byId.get(id)
    if (known !== undefined) return known
    const settings = this.#settings.get(id)
    if (settings === undefined) return undefined
    const own = this.#closed(id)
    const channels = own.map(({ at }) => at).join()
    const key = `${channels} ${JSON.stringify(settings.models)}`
    const group = this.#alike.get(key) ?? groupOf(settings, this.#reachOf(channels, own))
    this.#alike.set(key, group)
    this.#byId.set(id, group)
    return group
  }

  #reachOf(key: string, own: readonly Served[]): Reach {
    const reach = this.#reaches.get(key) ?? new Reach([this.#open, new Index(own)])
    this.#reaches.set(key, reach)
    return reach
  }
}

function groupOf(settings: GroupSettings, reach: Reach): Group {
  const allowed = new Names(settings.models.map((name) => [name, true] as const))
  return { allowed, reach, models: once(() => reach.listed(allowed)), found: new Map() }
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Enabled channels with at least one lane and one known dialect. */
function servedOf(options: DirectoryOptions): readonly Served[] {
  const ofVendors = new Map<string, Offer>()
  const offerOf = ({ vendor, models }: ChannelConfig): Offer => {
    if (models !== null) return offer(Object.entries(models), vendor, options)
    const entries = () => options.vendorModels(vendor).map((name) => [name, name] as const)
    const known = ofVendors.get(vendor) ?? offer(entries(), vendor, options)
    ofVendors.set(vendor, known)
    return known
  }
  return options.channels.flatMap((channel, at) => {
    const { vendor, dialect } = channel
    const known = options.speaks(vendor)
    const speaks = dialect === null ? known : known.filter((each) => each === dialect)
    if (channel.disabled || speaks.length === 0 || lanesOf(channel).length === 0) return []
    return {
      at,
      channel,
      speaks,
      speaksFor: (name, own) =>
        dialect === null ? (options.speaksFor?.(channel, name, own) ?? null) : null,
      offer: offerOf(channel),
      withoutSettings: (name) => options.withoutSettings?.(vendor, name) ?? null,
      maxOutput: (name, own) => options.maxOutput?.(vendor, name, own) ?? null,
      vendorsName: (name) => options.vendorsName?.(vendor, name) ?? name,
    }
  })
}

function offer(
  entries: readonly (readonly [name: string, own: string])[],
  vendor: string,
  options: DirectoryOptions,
): Offer {
  const names = new Names(entries)
  return {
    names,
    listed() {
      if (names.beginnings.isEmpty) return [...names.exact.keys()]
      // A pattern is listed as the names of the vendor's catalogue it matches; of all known names where it has none.
      const catalogue = options.vendorModels(vendor)
      const known = catalogue.length > 0 ? catalogue : (options.knownModels ?? [])
      const matched = known.filter((name) => !isPattern(name) && names.has(name))
      return [...names.exact.keys(), ...matched]
    },
  }
}

/** A model found by its own name, or by the name without its settings or date. */
interface Found {
  readonly name: string
  /** The channels that serve it, with the vendor's own name for it. */
  targets(): readonly (readonly [served: Served, own: string])[]
}

function foundBy({ allowed, reach }: Group, model: string): Found | null {
  if (allowed.has(model) && reach.serves(model))
    return { name: model, targets: () => targetsOf(reach.serving(model), model) }
  const base = undated(model)
  if (base !== null && allowed.has(base) && reach.names(base))
    return { name: base, targets: () => targetsOf(reach.naming(base), base) }
  for (const { withoutSettings } of reach.firsts) {
    const name = withoutSettings(model)
    if (name === null || !allowed.has(name)) continue
    const served = reach.serving(name).filter((each) => each.withoutSettings(model) === name)
    if (served.length === 0) continue
    const settings = model.slice(name.length)
    const targets = () =>
      targetsOf(served, name).map(([each, own]) => [each, own + settings] as const)
    return { name, targets }
  }
  return null
}

function targetsOf(served: readonly Served[], model: string) {
  return served.flatMap((each) => {
    const own = ownNameOf(each.offer.names, model)
    return own === null ? [] : [[each, own] as const]
  })
}

function find(
  group: Group,
  model: string,
  dialect: ClientDialectId,
  hubbed: Hubbed,
): readonly Candidate[] {
  const by = foundBy(group, model)
  if (by === null) return none
  const found: Candidate[] = []
  for (const [served, target] of by.targets()) {
    const { channel, vendorsName, maxOutput } = served
    const own = vendorsName(target)
    const spoken = spokenIn(served, served.speaksFor(by.name, own), dialect, hubbed)
    if (spoken === null) continue
    const lanes = lanesOf(channel)
    const { costMultiplier, limits, parameters } = channel
    const costNano = costMultiplier === undefined ? null : parseUnits(costMultiplier)
    const most = maxOutput(by.name, own)
    for (const { lane } of lanes) {
      found.push({
        channelId: channel.id,
        ...(lane !== channel.id && { lane }),
        model: own,
        ...(most !== null && { maxOutput: most }),
        ...spoken,
        priority: channel.priority,
        weight: channel.weight / lanes.length,
        ...(costNano !== null && { costPpm: Number(costNano / 1_000n) }),
        ...(limits && { limits }),
        ...(parameters && { parameters }),
      })
    }
  }
  return Object.freeze(found)
}

/** The dialect in which a request is asked: the client's own before any to which it is translated. */
function spokenIn(
  { speaks }: Served,
  ofModel: readonly VendorDialectId[] | null,
  dialect: ClientDialectId,
  hubbed: Hubbed,
): Pick<Candidate, 'dialect' | 'instead' | 'identity'> | null {
  const known = ofModel ?? speaks
  const same = known.find((each) => each === dialect)
  if (same !== undefined && ofModel === null) return { dialect: same, identity: true }
  const first = known.find((each) => each === dialect || hubbed(dialect, each))
  if (first === undefined) return null
  if (same === undefined) return { dialect: first, identity: false }
  return { dialect: same, ...(first !== same && { instead: first }), identity: true }
}
