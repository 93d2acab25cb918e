// Shuts a server down in order: report not ready, stop listening, end requests, close.

import { setTimeout as delay } from 'node:timers/promises'
import type { Listener } from '../http/server.ts'
import type { Log } from '../telemetry/log.ts'
import { isInForeground } from './signals.ts'
import type { State } from './state.ts'

interface DrainOptions {
  readonly state: State
  readonly listener: Listener
  readonly log: Log
  /** Closes what must be closed last. */
  readonly close: () => Promise<void>
}

export interface Drain {
  /** Reports not ready to load balancers, stops listening, lets requests under way end, and exits. */
  begin(): void
  /** Ends requests under way at once, and exits. */
  now(): void
}

/** Long enough for two or three checks of a usual load balancer, and half of the time Docker gives a container. */
const usualDelayMs = 5_000
/** A readiness check within this time means that a load balancer watches: they check more often. */
const askedWithinMs = 60_000

export function createDrain(options: DrainOptions): Drain {
  const { state, listener, log } = options
  const hurry = Promise.withResolvers<void>()
  let finishing = false
  const finish = (): void => {
    hurry.resolve()
    if (finishing) return
    finishing = true
    void finishAll(options)
  }
  const drain = async (): Promise<void> => {
    const delayMs = delayOf(options, performance.now())
    log.info({ inFlight: state.load.inFlight, delayMs }, 'draining')
    state.load.leaving = true
    listener.leave()
    const delayed = setTimeout(hurry.resolve, delayMs)
    if (delayMs > 0) await hurry.promise
    clearTimeout(delayed)
    await listener.close()
    const timer = setTimeout(finish, state.current.config.server.drainMs)
    await state.load.drain()
    clearTimeout(timer)
    finish()
  }
  return { begin: () => void drain(), now: finish }
}

function delayOf({ state, listener }: DrainOptions, nowMs: number): number {
  const { drainDelayMs } = state.current.config.server
  if (drainDelayMs !== null) return drainDelayMs
  const { askedReadyMs } = listener
  const watched = askedReadyMs !== null && nowMs - askedReadyMs < askedWithinMs
  return watched && !isAttended() ? usualDelayMs : 0
}

/** Whoever started the server from a terminal or by `npm start` waits for it to end. */
function isAttended(): boolean {
  return isInForeground() || process.env['npm_lifecycle_event'] === 'start'
}

/** Longest wait for what may be lost, or is done again elsewhere: history, traces, questions about running videos. */
const longestMs = 5_000

async function closeHistory({ history: { recorder } }: State): Promise<void> {
  await withinBound(recorder.idle())
  await recorder.close()
}

async function withinBound(work: Promise<void>): Promise<void> {
  await Promise.race([work, delay(longestMs, undefined, { ref: false })])
}

async function finishAll({ state, listener, log, close }: DrainOptions): Promise<void> {
  let code = 0
  try {
    state.deadlines.shutDown()
    await listener.stop()
    await withinBound(state.videoJobs.stop())
    await state.kept.background.idle()
    await state.kept.keeper.idle()
    await state.keyUses.flush()
    await closeHistory(state)
    if (state.traces !== null) await withinBound(state.traces.flush())
    await state.ledger.drain()
    await state.limiter.close()
    await state.dialer.close()
    await close()
  } catch (error) {
    log.error({ err: error }, 'the server did not stop in good order')
    code = 1
  }
  log.output.flush()
  process.exit(code)
}
