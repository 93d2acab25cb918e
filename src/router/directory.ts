// Which channels serve a model to a group: built once from the configuration, then looked up.

import { undated } from '../catalog/dated.ts'
import { lanesOf } from '../config/channel-keys.ts'
import type { ChannelConfig, GroupSettings } from '../config/types.ts'
import { parseUnits } from '../money.ts'
import type { ClientDialectId, VendorDialectId } from '../wire/formats.ts'
import type { Candidate } from './route.ts'

interface DirectoryOptions {
  readonly channels: readonly ChannelConfig[]
  readonly groups: Readonly<Record<string, GroupSettings>>
  /** Dialects a vendor speaks, best first; empty for a vendor nobody knows. */
  readonly speaks: (vendorId: string) => readonly VendorDialectId[]
  /** Names in the vendor's catalogue; one with a trailing `*` is a pattern. */
  readonly vendorModels: (vendorId: string) => readonly string[]
  /** What a vendor calls a model of its catalogue, where that is another name. */
  readonly vendorsName?: (vendorId: string, name: string) => string
  /** What a pattern is shown as where its vendor has no catalogue: the names that are known of others. */
  readonly knownModels?: readonly string[]
  /** A name without the settings that a vendor lets follow it (`sandbox/chat+first=5`); null: it has none. */
  readonly withoutSettings?: (vendorId: string, name: string) => string | null
}

/** Whether a request in `from` can be translated to `to`. */
type Hubbed = (from: ClientDialectId, to: VendorDialectId) => boolean

export interface Directory {
  /** Channels that serve `model` to `group`; empty where the group, or the model in it, is not known. `hubbed` is the same function on every call. */
  candidates(
    group: string,
    model: string,
    dialect: ClientDialectId,
    hubbed: Hubbed,
  ): readonly Candidate[]
  /**
   * The name by which `candidates` finds a model: itself where a channel names it, else without a vendor's settings or
   * the date of a snapshot. null where nothing is found.
   */
  nameOf(group: string, model: string): string | null
  /** Every concrete name the group may ask for, sorted; for `/v1/models`. */
  models(group: string): readonly string[]
}

/** Names, and patterns with one trailing `*`; the exact name wins, then the longest pattern. */
class Names<T> {
  readonly exact = new Map<string, T>()
  readonly #patterns: { prefix: string; value: T }[] = []

  constructor(entries: Iterable<readonly [name: string, value: T]>) {
    for (const [name, value] of entries)
      if (name.endsWith('*')) this.#patterns.push({ prefix: name.slice(0, -1), value })
      else this.exact.set(name, value)
    this.#patterns.sort((a, b) => b.prefix.length - a.prefix.length)
  }

  find(name: string): T | undefined {
    return this.match(name)?.value
  }

  /** `rest` is what the star stood for; null where the name stands as it is. */
  match(name: string): { readonly value: T; readonly rest: string | null } | undefined {
    const exact = this.exact.get(name)
    if (exact !== undefined) return { value: exact, rest: null }
    const pattern = this.#patterns.find(({ prefix }) => name.startsWith(prefix))
    return pattern && { value: pattern.value, rest: name.slice(pattern.prefix.length) }
  }
}

interface Served {
  readonly channel: ChannelConfig
  readonly speaks: readonly VendorDialectId[]
  /** Public name or pattern to the vendor's; one with a trailing `*` stands for the name asked for. */
  readonly names: Names<string>
  /** Concrete public names. */
  readonly listed: readonly string[]
  readonly withoutSettings: (name: string) => string | null
  readonly vendorsName: (name: string) => string
}

interface Group {
  readonly allowed: Names<true>
  readonly channels: readonly Served[]
  readonly models: readonly string[]
  readonly found: Map<string, Map<ClientDialectId, readonly Candidate[]>>
}

/** Models whose answers are remembered by group; past it all are forgotten (a pattern admits any name). */
const foundKept = 10_000
const none: readonly never[] = Object.freeze([])

export function createDirectory(options: DirectoryOptions): Directory {
  const served = options.channels
    .filter((channel) => !channel.disabled && lanesOf(channel).length > 0)
    .map((channel) => serve(channel, options))
  const groups = new Map(
    Object.values(options.groups).map((settings) => [settings.id, group(settings, served)]),
  )
  return {
    candidates(id, model, dialect, hubbed) {
      const group = groups.get(id)
      if (group === undefined) return none
      const ofModel = group.found.get(model)
      const known = ofModel?.get(dialect)
      if (known !== undefined) return known
      const found = find(group, model, dialect, hubbed)
      // What is not served is not remembered: anybody can make such names up.
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
    models: (id) => groups.get(id)?.models ?? none,
  }
}

/** Where the vendor's name is a pattern too, its star stands for what the public one's did. */
function ownName(own: string, rest: string): string {
  return own.endsWith('*') ? own.slice(0, -1) + rest : own
}

function serve(channel: ChannelConfig, options: DirectoryOptions): Served {
  const { vendor, dialect, models } = channel
  const catalogue = options.vendorModels(vendor)
  const entries =
    models === null ? catalogue.map((name) => [name, name] as const) : Object.entries(models)
  const names = new Names(entries)
  const speaks = options.speaks(vendor)
  // A pattern is shown as what it matches of the vendor's catalogue, or of all that is known where there is none.
  const known = catalogue.length > 0 ? catalogue : (options.knownModels ?? [])
  const matched = known.filter((name) => !name.endsWith('*') && names.find(name) !== undefined)
  return {
    channel,
    speaks: dialect === null ? speaks : speaks.filter((each) => each === dialect),
    names,
    listed: [...names.exact.keys(), ...matched],
    withoutSettings: (name) => options.withoutSettings?.(vendor, name) ?? null,
    vendorsName: (name) => options.vendorsName?.(vendor, name) ?? name,
  }
}

function group(settings: GroupSettings, served: readonly Served[]): Group {
  const allowed = new Names(settings.models.map((name) => [name, true] as const))
  const channels = served.filter(
    ({ channel }) => channel.groups === null || channel.groups.includes(settings.id),
  )
  const speaking = channels.filter(({ speaks }) => speaks.length > 0)
  const listed = new Set(speaking.flatMap(({ listed }) => listed))
  const models = [...listed].filter((name) => allowed.find(name) !== undefined).sort()
  return { allowed, channels: speaking, models, found: new Map() }
}

/** How a name is found: by itself, or by the name before its settings or its date. */
interface Found {
  readonly name: string
  /** The vendor's own name for it; undefined where the channel does not serve it. */
  target(served: Served): string | undefined
}

function foundBy({ allowed, channels }: Group, model: string): Found | null {
  const isFound = (found: Found) => channels.some((each) => found.target(each) !== undefined)
  if (allowed.find(model) !== undefined) {
    const itself = { name: model, target: ({ names }: Served) => targetOf(names, model) }
    if (isFound(itself)) return itself
  }
  const base = undated(model)
  if (base !== null && allowed.find(base) !== undefined) {
    const dated = { name: base, target: ({ names }: Served) => names.exact.get(base) }
    if (isFound(dated)) return dated
  }
  return foundWithSettings({ allowed, channels }, model)
}

function foundWithSettings(
  { allowed, channels }: Pick<Group, 'allowed' | 'channels'>,
  model: string,
): Found | null {
  for (const { withoutSettings } of channels) {
    const name = withoutSettings(model)
    if (name === null || allowed.find(name) === undefined) continue
    const target = (served: Served) => {
      const own = served.withoutSettings(model) === name ? targetOf(served.names, name) : undefined
      return own === undefined ? undefined : own + model.slice(name.length)
    }
    if (channels.some((each) => target(each) !== undefined)) return { name, target }
  }
  return null
}

function targetOf(names: Names<string>, model: string): string | undefined {
  const target = names.match(model)
  return target && ownName(target.value, target.rest ?? model)
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
  for (const each of group.channels) {
    const { channel, speaks } = each
    const target = by.target(each)
    if (target === undefined) continue
    const same = speaks.find((known) => known === dialect)
    const spoken = same ?? speaks.find((known) => hubbed(dialect, known))
    if (spoken === undefined) continue
    const lanes = lanesOf(channel)
    const { costMultiplier, limits, parameters } = channel
    const costNano = costMultiplier === undefined ? null : parseUnits(costMultiplier)
    for (const { lane } of lanes) {
      found.push({
        channelId: channel.id,
        ...(lane !== channel.id && { lane }),
        model: each.vendorsName(target),
        dialect: spoken,
        identity: same !== undefined,
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
