// Channels as operators see them: settings, origin, health, and recent usage.

import { channelConfig, emptyChannel } from '../config/build.ts'
import { lanesOf } from '../config/channel-keys.ts'
import { maskedAddress } from '../config/describe.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
import type { LimitGauge, LimitState } from '../limits/limiter.ts'
import type { Condition } from '../router/route.ts'
import type { StoredItem } from '../store/configuration.ts'
import { quarterMs } from '../store/rollup-table.ts'
import { type ChannelBalance, lastBalances, offersBalance } from './channel-balances.ts'
import { hideSecrets, onlyKey } from './channel-secrets.ts'
import { type LastTest, lastTests } from './channel-tests.ts'
import { Added, readRows } from './statistics-fold.ts'
import { metrics, type Sums } from './statistics-metrics.ts'
import { type Document, plainOf, readStored } from './stored-items.ts'
import { timeText } from './time.ts'
import type { AdminContext } from './use-case.ts'
import { type Stored, type StoredRooms, withStored } from './with-stored.ts'

const stateNames = ['ok', 'degraded', 'open', 'disabled'] as const

/** The state of channels, as the answering process sees it. */
export interface ChannelWatch {
  /** The condition of a lane, with its time in Unix milliseconds. `model`: of this vendor model only. */
  condition(lane: string, model?: string): Condition
  /** How much of a channel's limits is used. */
  limitState(channel: Pick<ChannelConfig, 'id' | 'limits'>): LimitState | Promise<LimitState>
}

export interface ChannelRooms extends StoredRooms {
  /** Includes the channels in use, whether from the file, the store, the environment or built in. */
  readonly config: Config
  readonly watch: ChannelWatch
}

/** Use of a per-minute limit; null where there is none. */
interface InUse {
  readonly used: number
  readonly most: number
}

interface KeyView {
  readonly name: string
  /** The key's last four characters, where the key is long enough. */
  readonly hint: string
  readonly state: 'in use' | 'cooling' | 'refused' | 'disabled'
  readonly since: string | null
}

interface Figures {
  readonly requests: number
  /** null where there was no request. */
  readonly successPercent: number | null
  readonly p95Ms: number | null
  readonly chargeNano: string
  readonly vendorCostNano: string
}

interface Quarter {
  readonly since: string
  readonly requests: number
  /** null where there was no request. */
  readonly successPercent: number | null
}

export interface ChannelView {
  readonly id: string
  readonly vendor: string
  readonly baseUrl: string | null
  readonly dialect: string | null
  /** The vendor's model name by public name; null: the catalogue's models of the vendor. */
  readonly models: Readonly<Record<string, string>> | null
  /** null: every group. */
  readonly groups: readonly string[] | null
  readonly priority: number
  readonly weight: number
  readonly origin: ChannelConfig['origin']
  /** Path of the configuration file; null where the channel has another origin. */
  readonly declaredIn: string | null
  readonly state: (typeof stateNames)[number] | 'draining'
  /** The channel as the file would write it, defaults included; secrets are `***`. */
  readonly document: Document
  readonly keys: readonly KeyView[]
  readonly tags: readonly string[]
  /** Why the channel, or a model of it, gets no requests at present. */
  readonly reason: Condition['reason']
  readonly since: string | null
  readonly inFlight: number
  readonly requestsPerMinute: InUse | null
  readonly tokensPerMinute: InUse | null
  /** The configuration file has a channel of this name, which takes precedence over the stored one. */
  readonly overridden: boolean
  /** Why the stored channel is not in use. */
  readonly problem: string | null
  /** Revision of the stored channel; 0: it is not stored. */
  readonly revision: number
  readonly changedAt: string | null
  readonly actor: string | null
  /** The latest test of the last seven days. */
  readonly lastTest: LastTest | null
  /** Whether its vendor tells the balance. */
  readonly offersBalance: boolean
  /** The latest balance of the last seven days. */
  readonly balance: ChannelBalance | null
  readonly currency: string
  readonly hour: Figures
  readonly day: Figures
  /** The quarters of the hour that `hour` sums up, oldest first. */
  readonly quarters: readonly Quarter[]
}

/** A channel that operators may view. */
interface Viewable {
  readonly id: string
  readonly channel: ChannelConfig
  readonly item: StoredItem | undefined
  /** Why it is not in use; null: it is. */
  readonly problem: string | null
}

interface ViewableChannels {
  /** All channels: those in force, and stored ones that do not fit the configuration. */
  readonly all: readonly Viewable[]
  /** Builds the views of some channels only, since there may be very many. */
  view(some: readonly Viewable[]): Promise<readonly ChannelView[]>
}

export async function viewableChannels(
  context: AdminContext,
  rooms: ChannelRooms,
): Promise<ViewableChannels> {
  const stored = await readStored(context, rooms)
  const items = new Map(
    stored.items.flatMap((item) => (item.kind === 'channel' ? [[item.id, item] as const] : [])),
  )
  // Read from the store: this process may not have applied the latest changes yet.
  const { channels, leftOut } = withStored(rooms.declared, stored.items, rooms.box)
  const serving = channels.length > 0 || leftOut.length > 0 ? channels : rooms.config.channels
  const unfit = leftOut.flatMap(({ kind, id, problem }) => {
    const item = items.get(id)
    if (kind !== 'channel' || item === undefined) return []
    return { id, item, problem, channel: unfitChannel(item, stored) }
  })
  const inForce = serving.map((channel) => {
    const { id } = channel
    return { id, channel, item: items.get(id), problem: null }
  })
  return { all: [...inForce, ...unfit], view: (some) => viewSome(context, rooms, some) }
}

async function viewSome(
  context: AdminContext,
  rooms: ChannelRooms,
  some: readonly Viewable[],
): Promise<readonly ChannelView[]> {
  const figures = await readFigures(context)
  const tests = await lastTests(context)
  const balances = await lastBalances(context)
  const currency = await context.currency()
  const beside = { rooms, figures, tests, balances, currency }
  return Promise.all(
    some.map(async ({ channel, item, problem }): Promise<ChannelView> => {
      const view = viewOf(channel, { item, ...beside })
      if (problem !== null) return { ...view, problem, state: 'disabled' }
      const { requests = null, tokens = null } = (await rooms.watch.limitState(channel)) ?? {}
      return { ...view, requestsPerMinute: inUse(requests), tokensPerMinute: inUse(tokens) }
    }),
  )
}

function inUse(gauge: LimitGauge | null): InUse | null {
  return gauge && { used: gauge.limit - gauge.remaining, most: gauge.limit }
}

interface Beside {
  readonly item: StoredItem | undefined
  readonly rooms: ChannelRooms
  readonly figures: (channel: string) => Pick<ChannelView, 'hour' | 'day' | 'quarters'>
  readonly tests: ReadonlyMap<string, LastTest>
  readonly balances: ReadonlyMap<string, ChannelBalance>
  readonly currency: string
}

function viewOf(channel: ChannelConfig, beside: Beside): ChannelView {
  const { item, rooms, figures, tests, balances, currency } = beside
  const lanes = lanesOf(channel).map(({ lane }) => rooms.watch.condition(lane))
  // A channel is as healthy as the best of its keys.
  const best = lanes.toSorted((one, other) => one.state - other.state)[0]
  const { state = channel.disabled ? 'disabled' : 'enabled', disabled } = channel
  return {
    id: channel.id,
    vendor: channel.vendor,
    baseUrl: maskedAddress(channel.baseUrl),
    dialect: channel.dialect,
    models: channel.models,
    groups: channel.groups,
    priority: channel.priority,
    weight: channel.weight,
    origin: channel.origin,
    declaredIn: channel.origin === 'file' ? rooms.declared.file : null,
    state: state === 'draining' ? state : disabled ? 'disabled' : stateNames[best?.state ?? 3],
    document: documentOf(channel),
    keys: keysOf(channel, rooms),
    tags: channel.tags ?? [],
    reason: best?.reason ?? null,
    since: timeText(best?.sinceMs ?? null),
    inFlight: lanes.reduce((sum, { inFlight }) => sum + inFlight, 0),
    requestsPerMinute: null,
    tokensPerMinute: null,
    overridden: item !== undefined && channel.origin !== 'stored',
    problem: null,
    revision: item?.revision ?? 0,
    changedAt: timeText(item?.changedAt ?? null),
    actor: item?.actor ?? null,
    lastTest: tests.get(channel.id) ?? null,
    offersBalance: offersBalance(channel.vendor),
    balance: balances.get(channel.id) ?? null,
    currency,
    ...figures(channel.id),
  }
}

/** The channel as the file would write it, with every default. */
function documentOf(channel: ChannelConfig): Document {
  const { origin: _, disabled, state = disabled ? 'disabled' : 'enabled', ...said } = channel
  const { disabled: __, ...empty } = emptyChannel
  const document = { ...empty, ...said, baseUrl: maskedAddress(channel.baseUrl), state }
  return hideSecrets(document)
}

function keysOf(channel: ChannelConfig, rooms: ChannelRooms): KeyView[] {
  const { key, keys = key === null ? [] : [{ name: onlyKey, key, disabled: false }] } = channel
  const lanes = new Map(lanesOf(channel).map(({ lane, name }) => [name ?? onlyKey, lane]))
  return keys.map((each) => {
    const lane = lanes.get(each.name)
    const hint = each.key.length < 12 ? '' : each.key.slice(-4)
    if (lane === undefined) return { name: each.name, hint, state: 'disabled', since: null }
    const { reason, sinceMs } = rooms.watch.condition(lane)
    const isCooling = reason === 'rate_limited' || reason === 'quota'
    const state = reason === 'credentials' ? 'refused' : isCooling ? 'cooling' : 'in use'
    return { name: each.name, hint, state, since: state === 'in use' ? null : timeText(sinceMs) }
  })
}

/** As much as can be shown of a stored channel that is not in use. */
function unfitChannel(item: StoredItem, { box }: Stored): ChannelConfig {
  const said = { ...emptyChannel, ...plainOf(item, box), id: item.id }
  return channelConfig(said as Parameters<typeof channelConfig>[0], 'stored')
}

const sums = [
  ...new Set([
    ...metrics.requests.sums,
    ...metrics.errorRate.sums,
    ...metrics.latencyP95.sums,
    'chargeNano' as const,
    'vendorCostNano' as const,
  ]),
]

const quartersShown = 4

interface AddedUp {
  readonly hour: Added
  readonly day: Added
  readonly quarters: readonly Added[]
}

function nothingAdded(): AddedUp {
  const quarters = Array.from({ length: quartersShown }, () => new Added(sums))
  return { hour: new Added(sums), day: new Added(sums), quarters }
}

/** Sums of the last hour and day, in whole quarters of an hour. */
async function readFigures(context: AdminContext): Promise<Beside['figures']> {
  const until = Math.ceil(context.nowMs / quarterMs) * quarterMs
  const starts = Array.from(
    { length: quartersShown },
    (_, at) => until - (quartersShown - at) * quarterMs,
  )
  const cuts = [until - 96 * quarterMs, ...starts]
  const range = { since: cuts[0] ?? 0, until, zone: { name: 'UTC', offsets: [] } }
  const rows = await readRows(context, { range, filter: {}, by: ['channel'], cuts, names: sums })
  const found = new Map<string, AddedUp>()
  for (const { span, by, sums: values } of rows) {
    const [channel = ''] = by
    const added = found.get(channel) ?? nothingAdded()
    found.set(channel, added)
    added.day.add(values)
    if (span === 0) continue
    added.hour.add(values)
    added.quarters[span - 1]?.add(values)
  }
  return (channel) => {
    const { hour, day, quarters } = found.get(channel) ?? nothingAdded()
    const shown = quarters.map((each, at) => {
      const { requests, successPercent } = figuresOf(each)
      return { since: timeText(starts[at] ?? 0), requests, successPercent }
    })
    return { hour: figuresOf(hour), day: figuresOf(day), quarters: shown }
  }
}

function figuresOf(sums: Sums): Figures {
  const failed = metrics.errorRate.of(sums)
  return {
    requests: metrics.requests.of(sums),
    successPercent: failed === null ? null : Math.round((1 - failed) * 10_000) / 100,
    p95Ms: metrics.latencyP95.of(sums),
    chargeNano: String(sums.get('chargeNano')),
    vendorCostNano: String(sums.get('vendorCostNano')),
  }
}
