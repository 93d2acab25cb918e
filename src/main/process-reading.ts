// The present state of this process: for the operators' overview page, where every process reports its own.

import { randomUUID } from 'node:crypto'
import type { ProcessReading } from '../store/running.ts'
import { alikeOf } from './alike.ts'
import type { State } from './state.ts'

/** Identifies this process in the store. */
export const processId: string = randomUUID()

export function readProcess(state: State): ProcessReading {
  const { ledger, load, metrics, prices } = state
  const { unsettled, oldestUnsettledMs, missing } = ledger.stats()
  const spent = (phase: 'auth' | 'route' | 'settle') => [...metrics.overhead.with(phase).counts]
  return {
    process: processId,
    startedAt: Math.round(performance.timeOrigin),
    running: load.inFlight,
    unsettled,
    oldestUnsettledMs,
    missing,
    closed: ledger.closed,
    overhead: { auth: spent('auth'), route: spent('route'), settle: spent('settle') },
    channels: state.current.channelIds.map((id) => channelReading(state, id)),
    warnings: prices.warnings(),
    alike: alikeOf(state.version, state.current.config),
  }
}

function channelReading({ health }: State, id: string): ProcessReading['channels'][number] {
  const nowMs = performance.now()
  const trouble = health.trouble(id, nowMs)
  return {
    id,
    state: health.state(id, nowMs),
    trouble: trouble && {
      reason: trouble.reason,
      fault: trouble.fault,
      sinceAt: Math.round(performance.timeOrigin + trouble.sinceMs),
    },
  }
}
