// The health of each channel on this node: circuit breakers, cool-downs, disabled keys, retry budgets.

import type { Fault, FaultKind } from '../errors.ts'
import { faultTable } from '../errors.ts'
import type { Breaker } from './breaker.ts'
import {
  beginProbe,
  breakerWaitMs,
  createBreaker,
  fail,
  passOver,
  recent,
  succeed,
} from './breaker.ts'
import type { Block, Health, HealthControl, HealthReport, Outcome, Trouble } from './route.ts'

interface HealthOptions {
  /** Returns [0, 1); for the jitter of the breakers. */
  readonly random: () => number
  /** Called for a fault that only the operator can repair: a refused key, no credit, a model unknown to the vendor. */
  readonly onAlarm: (channelId: string, fault: Fault) => void
}

interface ModelHealth {
  readonly breaker: Breaker
  inFlight: number
  coolUntilMs: number
  coolKind: 'rate_limited' | 'quota'
}

interface ChannelHealth {
  readonly models: Map<string, ModelHealth>
  inFlight: number
  retries: number
  disabledUntilMs: number
  /** Attempts begun before the last reset and still running: their faults say nothing about the present channel. */
  outdated: number
  /** No further unknown model is reported before this time. */
  alarmedUntilMs: number
  /** The last fault, and the time of the first one since the channel was healthy. */
  trouble: { readonly fault: FaultKind; readonly sinceMs: number } | null
}

const coolDefaultMs = 5_000
const coolLongestMs = 30_000
const quotaMs = 60_000
/** A guess at when a full channel has a free place again: that cannot be known. */
const fullMs = 1_000
const disabledMs = 60_000
/** A pattern channel may be asked for any name: callers must not be able to flood the alarm. */
const alarmMs = 60_000
const retryShare = 0.2
const retryMinimum = 3
/** The most models remembered of one channel; a pattern channel may be asked for any name. */
const modelsKept = 1_000

/** Faults without a complete reply: five in a row open the breaker. */
const transport: ReadonlySet<FaultKind> = new Set([
  'unreachable',
  'proxy',
  'timeout',
  'reset',
  'cut',
])

export function createHealth(options: HealthOptions): Health & HealthControl & HealthReport {
  return new NodeHealth(options)
}

class NodeHealth implements Health, HealthControl, HealthReport {
  readonly #options: HealthOptions
  readonly #channels = new Map<string, ChannelHealth>()
  #limits: ReadonlyMap<string, number> = new Map()
  #latestMs = 0

  constructor(options: HealthOptions) {
    this.#options = options
  }

  usable(channelId: string, model: string, nowMs: number): boolean {
    return this.waitMs(channelId, model, nowMs) === 0
  }

  blocked(channelId: string, model: string, nowMs: number): Block | null {
    const now = this.#advance(nowMs)
    const channel = this.#channels.get(channelId)
    if (channel === undefined) return null
    if (channel.disabledUntilMs > now) return 'credentials'
    if (this.#isFull(channelId, channel)) return 'busy'
    const health = channel.models.get(model)
    if (health === undefined) return null
    if (health.coolUntilMs > now) return health.coolKind
    return breakerWaitMs(health.breaker, now) > 0 ? 'breaker' : null
  }

  mayRetry(channelId: string): boolean {
    const channel = this.#channels.get(channelId)
    if (channel === undefined) return true
    return channel.retries < Math.max(retryMinimum, channel.inFlight * retryShare)
  }

  begin(channelId: string, model: string, nowMs: number, retry = false): void {
    const now = this.#advance(nowMs)
    const channel = this.#channel(channelId)
    channel.inFlight += 1
    if (retry) channel.retries += 1
    const health = modelHealth(channel, model, now)
    health.inFlight += 1
    beginProbe(health.breaker, now)
  }

  report(channelId: string, model: string, outcome: Outcome, nowMs: number, retry = false): void {
    const now = this.#advance(nowMs)
    const channel = this.#channel(channelId)
    channel.inFlight = Math.max(0, channel.inFlight - 1)
    if (retry) channel.retries = Math.max(0, channel.retries - 1)
    const health = modelHealth(channel, model, now)
    health.inFlight = Math.max(0, health.inFlight - 1)
    // Attempts are not told apart; those begun first mostly end first, so the outdated ones are counted down.
    const isOutdated = channel.outdated > 0
    if (isOutdated) channel.outdated -= 1
    if (outcome.kind === 'none' || (isOutdated && outcome.kind === 'fault'))
      passOver(health.breaker)
    else if (outcome.kind === 'ok') succeed(health.breaker, now)
    else {
      const sinceMs = this.trouble(channelId, now)?.sinceMs ?? now
      channel.trouble = { fault: outcome.fault.kind, sinceMs }
      this.#fault(channelId, channel, health, outcome.fault, now)
    }
  }

  reset(channelId: string): void {
    const channel = this.#channels.get(channelId)
    if (channel === undefined) return
    channel.disabledUntilMs = 0
    channel.alarmedUntilMs = 0
    channel.trouble = null
    channel.outdated = channel.inFlight
    for (const [model, { inFlight }] of channel.models) {
      channel.models.set(model, { ...freshModel(), inFlight })
    }
  }

  limit(most: ReadonlyMap<string, number>): void {
    this.#limits = most
  }

  inFlight(channelId: string): number {
    return this.#channels.get(channelId)?.inFlight ?? 0
  }

  waitMs(channelId: string, model: string, nowMs: number): number {
    const now = this.#advance(nowMs)
    const channel = this.#channels.get(channelId)
    if (channel === undefined) return 0
    const full = this.#isFull(channelId, channel) ? fullMs : 0
    const disabled = Math.max(full, channel.disabledUntilMs - now)
    const health = channel.models.get(model)
    if (health === undefined) return disabled
    return Math.max(disabled, health.coolUntilMs - now, breakerWaitMs(health.breaker, now))
  }

  state(channelId: string, nowMs: number): 0 | 1 | 2 | 3 {
    const now = this.#advance(nowMs)
    const channel = this.#channels.get(channelId)
    if (channel === undefined) return 0
    if (channel.disabledUntilMs > now) return 3
    let blocked = 0
    let degraded = false
    for (const [model, { breaker }] of channel.models) {
      const block = this.blocked(channelId, model, now)
      // A full channel works.
      if (block !== null && block !== 'busy') blocked += 1
      else if (breaker.opened > 0 || recent(breaker, now).failed > 0) degraded = true
    }
    if (blocked > 0 && blocked === channel.models.size) return 2
    return blocked > 0 || degraded ? 1 : 0
  }

  trouble(channelId: string, nowMs: number): Trouble | null {
    const now = this.#advance(nowMs)
    const channel = this.#channels.get(channelId)
    if (channel === undefined || channel.trouble === null) return null
    if (this.state(channelId, now) === 0) return null
    for (const model of channel.models.keys()) {
      const reason = this.blocked(channelId, model, now)
      if (reason !== null) return { ...channel.trouble, reason }
    }
    return { ...channel.trouble, reason: 'failing' }
  }

  #fault(
    channelId: string,
    channel: ChannelHealth,
    health: ModelHealth,
    fault: Fault,
    now: number,
  ): void {
    const meaning = faultTable[fault.kind].health
    if (meaning === 'failure') {
      fail(health.breaker, transport.has(fault.kind), now, this.#options.random)
      return
    }
    if (meaning === 'none' || meaning === 'alarm') {
      // The channel works: the vendor answered, and refused this request.
      succeed(health.breaker, now)
      if (meaning === 'none' || channel.alarmedUntilMs > now) return
      channel.alarmedUntilMs = now + alarmMs
      this.#options.onAlarm(channelId, fault)
      return
    }
    passOver(health.breaker)
    health.breaker.consecutive = 0
    if (meaning === 'disable') {
      const already = channel.disabledUntilMs > now
      channel.disabledUntilMs = now + disabledMs
      if (!already) this.#options.onAlarm(channelId, fault)
      return
    }
    const alreadyQuota = health.coolUntilMs > now && health.coolKind === 'quota'
    cool(health, fault, now)
    if (fault.kind === 'quota' && !alreadyQuota) this.#options.onAlarm(channelId, fault)
  }

  #isFull(channelId: string, { inFlight }: ChannelHealth): boolean {
    if (this.#limits.size === 0) return false
    const most = this.#limits.get(channelId)
    return most !== undefined && inFlight >= most
  }

  #channel(channelId: string): ChannelHealth {
    const known = this.#channels.get(channelId)
    if (known !== undefined) return known
    const made = {
      models: new Map(),
      inFlight: 0,
      retries: 0,
      disabledUntilMs: 0,
      alarmedUntilMs: 0,
      outdated: 0,
      trouble: null,
    }
    this.#channels.set(channelId, made)
    return made
  }

  /** A clock that never goes backwards. */
  #advance(nowMs: number): number {
    if (nowMs > this.#latestMs) this.#latestMs = nowMs
    return this.#latestMs
  }
}

function cool(health: ModelHealth, fault: Fault, now: number): void {
  const asked = Math.min(Math.max(0, fault.retryAfterMs ?? coolDefaultMs), coolLongestMs)
  const until = now + (fault.kind === 'quota' ? quotaMs : asked)
  if (until <= health.coolUntilMs) return
  health.coolUntilMs = until
  health.coolKind = fault.kind === 'quota' ? 'quota' : 'rate_limited'
}

function modelHealth(channel: ChannelHealth, model: string, now: number): ModelHealth {
  const known = channel.models.get(model)
  if (known !== undefined) return known
  if (channel.models.size >= modelsKept) forget(channel, now)
  const made = freshModel()
  channel.models.set(model, made)
  return made
}

function freshModel(): ModelHealth {
  return { breaker: createBreaker(), inFlight: 0, coolUntilMs: 0, coolKind: 'rate_limited' }
}

/** Drops half of the models: first the healthy ones, then the oldest; none with attempts in flight. */
function forget(channel: ChannelHealth, now: number): void {
  const enough = modelsKept / 2
  for (const [model, health] of channel.models) {
    if (channel.models.size <= enough) return
    const well = health.breaker.opened === 0 && health.coolUntilMs <= now
    if (well && health.inFlight === 0) channel.models.delete(model)
  }
  for (const [model, health] of channel.models) {
    if (channel.models.size <= enough) return
    if (health.inFlight === 0) channel.models.delete(model)
  }
}
