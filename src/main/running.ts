// What the control API asks of this process: the models it offers and the settings in force.

import type { ChannelWatch } from '../admin/channel-view.ts'
import { withChannels } from '../admin/channels.ts'
import { type Live, readLive } from '../admin/model-live.ts'
import type { Running } from '../http/control/running.ts'
import { unlimited } from '../limits/book.ts'
import { channelScope } from '../relay/channel-room.ts'
import type { Store } from '../store/store.ts'
import { auditApart } from './audit-apart.ts'
import { readProcess } from './process-reading.ts'
import type { State } from './state.ts'

export function runningOf(state: State, store: Pick<Store, 'rollups'>): Running {
  const live = keptFor(60_000, () => readLive(store.rollups, Date.now()))
  return {
    settings: state.runTime.current,
    config: () => offerOf(state).config,
    reading: () => readProcess(state),
    stored: {
      get declared() {
        return state.stored.declared
      },
      box: state.stored.box,
    },
    channels: channelWatch(state),
    arrivals: () => state.doctor.list(),
    audit: (signal) => auditApart(state.current.config, signal),
    offer: async () => ({ ...offerOf(state), live: await live() }),
  }
}

/** The models and prices offered at present, without performance figures. */
export function offerOf({ current, prices }: Pick<State, 'current' | 'prices'>) {
  const { modelAccess } = current.front.services
  const { book, rows } = prices
  return { config: withChannels(current.config, process.env), modelAccess, book, rows }
}

function channelWatch({ health, limiter }: Pick<State, 'health' | 'limiter'>): ChannelWatch {
  return {
    condition(lane, model) {
      const nowMs = performance.now()
      const trouble = health.trouble(lane, nowMs)
      return {
        state: health.state(lane, nowMs),
        reason:
          model === undefined ? (trouble?.reason ?? null) : health.blocked(lane, model, nowMs),
        sinceMs: trouble === null ? null : Date.now() - nowMs + trouble.sinceMs,
        inFlight: health.inFlight(lane),
      }
    },
    limitState: ({ id, limits = {} }) =>
      Object.keys(limits).length === 0
        ? unlimited
        : limiter.state({ id: channelScope(id), limits }, performance.now()),
  }
}

/** Keeps the figures for a while: anyone may ask for them, and they sum a day of all requests. */
function keptFor(ms: number, read: () => Promise<ReadonlyMap<string, Live>>) {
  let reading: ReturnType<typeof read> | null = null
  let atMs = 0
  return () => {
    const nowMs = performance.now()
    if (reading !== null && nowMs - atMs < ms) return reading
    atMs = nowMs
    reading = read()
    reading.catch(() => {
      reading = null
    })
    return reading
  }
}
