// A worker's side of the supervisor: its slot, its report that it serves, and requests to stop.

import { isHolder } from '../store/lock.ts'
import { oncePerPress } from './signals.ts'
import { StartError } from './start-error.ts'
import type { FirstModel } from './welcome.ts'

/** The variable that makes a process a worker; its value is the slot, counted from 0. */
export const slotVariable = 'TOLLGATE_WORKER'

/** What a worker reports once it serves. */
export interface Ready {
  readonly url: string
  readonly port: number
  /** The secret of a key made at this start; null: there was a key before. */
  readonly secret: string | null
  readonly signInLink: string | null
  /** The model for a first call, and the conditions the operator should fix. */
  readonly model: FirstModel | null
  readonly warnings: readonly string[]
}

/** The supervisor's message: how many times it was asked to stop. */
export interface Stop {
  readonly stops: number
}

export interface Worker {
  readonly slot: number
  ready(ready: Ready): void
  /**
   * Calls `stop` once for each request to stop: a signal to this process, or one to the supervisor. A terminal sends
   * Ctrl-C to both, which counts once.
   */
  onStop(stop: () => void): void
}

/** Requests to stop, kept until there is something to stop. */
export class Stops {
  private asked = 0
  private stop: (() => void) | null = null

  readonly request = (): void => {
    this.asked++
    this.stop?.()
  }

  reach(stop: () => void): void {
    this.stop = stop
    for (let each = 0; each < this.asked; each++) stop()
  }
}

/**
 * null: this process is no worker. Throws StartError where its parent is no supervisor: two processes on one slot would
 * spend the same lease.
 */
export function readWorker(slotText: string | undefined, dataDir: string): Worker | null {
  if (slotText === undefined || slotText === '') return null
  const slot = Number(slotText)
  if (
    !Number.isSafeInteger(slot) ||
    slot < 0 ||
    process.send === undefined ||
    !isHolder(dataDir, process.ppid)
  )
    throw new StartError(
      `${slotVariable} is set by Tollgate itself, for the processes that --workers starts. Unset it.`,
    )
  return { slot, ready, onStop }
}

function ready(report: Ready): void {
  process.send?.(report)
}

function onStop(stop: () => void): void {
  let signals = 0
  let stopped = 0
  const reach = (stops: number) => {
    while (stopped < stops) {
      stopped++
      stop()
    }
  }
  const signalled = oncePerPress(() => reach(++signals))
  process.on('SIGTERM', signalled)
  process.on('SIGINT', signalled)
  process.on('message', ({ stops }: Stop) => reach(stops))
}
