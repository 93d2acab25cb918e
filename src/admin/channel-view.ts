// Channels as operators see them: what each says, where it is from, how it is doing, and what it did of late.

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

/** How channels are, as the process that answers sees it. */
export interface ChannelWatch {
  /** By lane; its time is Unix milliseconds. `model`: of this one of its vendor alone. */
  condition(lane: string, model?: string): Condition
  /** What is in use of a channel's limits. */
  limitState(channel: Pick<ChannelConfig, 'id' | 'limits'>): LimitState | Promise<LimitState>
}

export interface ChannelRooms extends StoredRooms {
  /** With the channels that serve: of the file, the store, the environment or built in. */
  readonly config: Config
  readonly watch: ChannelWatch
}

/** Of a minute; null: nothing limits it. */
interface InUse {
  readonly used: number
  readonly most: number
}

interface KeyView {
  readonly name: string
  /** The last four characters, of a key that is long enough. */
  readonly hint: string
  readonly state: 'in use' | 'cooling' | 'refused' | 'disabled'
  readonly since: string | null
}

interface Figures {
  readonly requests: number
  /** null where there was none. */
  readonly successPercent: number | null
  readonly p95Ms: number | null
  readonly chargeNano: string
  readonly vendorCostNano: string
}

interface Quarter {
  readonly since: string
  readonly requests: number
  /** null where there was none. */
  readonly successPercent: number | null
}

export interface ChannelView {
  readonly id: string
  readonly vendor: string
  readonly baseUrl: string | null
  readonly dialect: string | null
  /** Public name to the vendor's own; null: those the catalogue ships of the vendor. */
  readonly models: Readonly<Record<string, string>> | null
  /** null: every group. */
  readonly groups: readonly string[] | null
  readonly priority: number
  readonly weight: number
  readonly origin: ChannelConfig['origin']
  /** The configuration file's path; null: another origin. */
  readonly declaredIn: string | null
  readonly state: (typeof stateNames)[number] | 'draining'
  /** As the file would have it, with every default; secrets are `***`. */
  readonly document: Document
  readonly keys: readonly KeyView[]
  readonly tags: readonly string[]
  /** Why it, or a model of it, is not asked at the moment. */
  readonly reason: Condition['reason']
  readonly since: string | null
  readonly inFlight: number
  readonly requestsPerMinute: InUse | null
  readonly tokensPerMinute: InUse | null
  /** The file says a channel of this name too: that one counts. */
  readonly overridden: boolean
  /** Why what the store has of it does not count. */
  readonly problem: string | null
  /** Of what the store has; 0: nothing. */
  readonly revision: number
  readonly changedAt: string | null
  readonly actor: string | null
  /** The newest of the last seven days. */
  readonly lastTest: LastTest | null
  /** Its vendor tells what is left of its money. */
  readonly offersBalance: boolean
  /** What it told last, within the last seven days. */
  readonly balance: ChannelBalance | null
  readonly currency: string
  readonly hour: Figures
  readonly day: Figures
  /** Of an hour that are in `hour`, the oldest first. */
  readonly quarters: readonly Quarter[]
}

/** A channel that may be viewed. */
interface Viewable {
  readonly id: string
  readonly channel: ChannelConfig
  readonly item: StoredItem | undefined
  /** Why it does not count; null: it does. */
  readonly problem: string | null
}

interface ViewableChannels {
  /** Every one: those in force, and those of the store that do not fit. */
  readonly all: readonly Viewable[]
  /** Of some of them: there may be very many. */
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
  // What the store has now, where a process has not taken it over yet.
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
  // As well as the best of its keys.
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

/** As the file has it, every default said. */
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

/** What can be said of one that does not count. */
function unfitChannel({ id, document }: StoredItem, { box }: Stored): ChannelConfig {
  const said = { ...emptyChannel, ...plainOf('channel', document, box), id }
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

/** Of the last hour and day, by the quarters of an hour that they touch. */
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
