// Runs several serving processes on one port and data directory, and restarts those that end.

import { type ChildProcess, spawn } from 'node:child_process'
import { endsWithParent } from '../installation.ts'
import type { Log } from '../telemetry/log.ts'
import { type Ready, type Stop, slotVariable } from './worker.ts'

interface WorkersOptions {
  readonly count: number
  /** The runtime's arguments that start a worker, once its port is known. */
  readonly command: (port: number) => readonly string[]
  /** 0: the first worker finds a free port. */
  readonly port: number
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Pick<Log, 'info' | 'error'>
  /** Why a worker may not be started again now; null: it may. */
  readonly whyNot: () => Promise<string | null>
  /** Called when all workers serve for the first time, and again when a worker made a key. */
  readonly onReady: (ready: Ready) => void
  /** Called when the last worker has ended: with 0 where all ended well after a stop, else 1. */
  readonly onEnd: (code: number) => void
}

interface Workers {
  /** The first call drains all workers, the second ends their streams at once. */
  stop(): void
  /** Makes all workers read the configuration again. */
  reload(): void
}

/** A worker that twice in a row served for less than this is restarted after a delay. */
const quickMs = 1_000
const firstDelayMs = 200
const maxDelayMs = 10_000

/**
 * Starts the first worker alone, since it makes tables, accounts and the first key; then the others. A worker that ends
 * before all have served ends them all; later it is started again.
 */
export function startWorkers(options: WorkersOptions): Workers {
  const supervisor = new Supervisor(options)
  supervisor.start()
  return supervisor
}

interface Slot {
  readonly slot: number
  child: ChildProcess | null
  /** On the monotonic clock; null while the worker does not serve. */
  readyMs: number | null
  /** How often in a row the worker ended soon after its start. */
  quickEnds: number
  /** A reload came before the worker could receive the signal. */
  reload: boolean
  again: ReturnType<typeof setTimeout> | null
}

class Supervisor implements Workers {
  readonly #options: WorkersOptions
  readonly #slots: Slot[]
  #port: number
  /** What the first worker reported at the start. */
  #first: Ready | null = null
  /** Whether all workers have served at the same time. */
  #served = false
  #stops = 0
  #failed = false

  constructor(options: WorkersOptions) {
    this.#options = options
    this.#port = options.port
    this.#slots = Array.from({ length: options.count }, (_, slot) => ({
      slot,
      child: null,
      readyMs: null,
      quickEnds: 0,
      reload: false,
      again: null,
    }))
  }

  start(): void {
    const [first] = this.#slots
    if (first !== undefined) this.#spawn(first)
  }

  stop(): void {
    this.#stops++
    for (const slot of this.#slots) {
      if (slot.again !== null) clearTimeout(slot.again)
      slot.again = null
      if (slot.readyMs === null) slot.child?.kill('SIGTERM')
      else this.#tell(slot, { stops: this.#stops })
    }
    this.#endWhenEmpty()
  }

  reload(): void {
    for (const slot of this.#slots) {
      // A worker that is still starting has no handler for the signal and would end.
      if (slot.readyMs === null) slot.reload = true
      else slot.child?.kill('SIGHUP')
    }
  }

  #spawn(slot: Slot): void {
    const { command, env } = this.#options
    const child = spawn(process.execPath, command(this.#port), {
      env: { ...env, ...endsWithParent, [slotVariable]: String(slot.slot) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    slot.child = child
    slot.readyMs = null
    slot.reload = false
    child.on('message', (ready: Ready) => {
      if (slot.child === child) this.#ready(slot, ready)
    })
    child.on('exit', (code, signal) => {
      if (slot.child === child) this.#ended(slot, code, signal)
    })
    child.on('error', (error) => {
      this.#options.log.error({ err: error, worker: slot.slot }, 'a worker cannot be reached')
      if (slot.child === child && child.pid === undefined) this.#ended(slot, null, null)
    })
  }

  #ready(slot: Slot, ready: Ready): void {
    slot.readyMs = performance.now()
    if (this.#stops > 0) {
      this.#tell(slot, { stops: this.#stops })
      return
    }
    if (slot.reload) slot.child?.kill('SIGHUP')
    if (!this.#served) {
      this.#startUp(slot, ready)
      return
    }
    this.#options.log.info({ worker: slot.slot, pid: slot.child?.pid }, 'a worker serves again')
    if (ready.secret !== null) this.#options.onReady(ready)
  }

  #startUp(slot: Slot, ready: Ready): void {
    if (this.#first === null) {
      this.#first = ready
      this.#port = ready.port
      for (const other of this.#slots) if (other !== slot) this.#spawn(other)
    }
    if (this.#slots.some(({ readyMs }) => readyMs === null)) return
    this.#served = true
    this.#options.onReady(this.#first)
  }

  #ended(slot: Slot, code: number | null, signal: NodeJS.Signals | null): void {
    const { readyMs } = slot
    const pid = slot.child?.pid
    slot.child = null
    slot.readyMs = null
    const fields = { worker: slot.slot, pid, code, signal }
    if (this.#stops > 0) {
      if (readyMs !== null && code !== 0) {
        this.#failed = true
        this.#options.log.error(fields, 'a worker did not stop in good order')
      }
      this.#endWhenEmpty()
      return
    }
    if (!this.#served) {
      this.#options.log.error(fields, 'a worker ended before all served')
      this.#failed = true
      this.stop()
      return
    }
    const quick = readyMs === null || performance.now() - readyMs < quickMs
    slot.quickEnds = quick ? slot.quickEnds + 1 : 0
    const delayMs =
      slot.quickEnds < 2 ? 0 : Math.min(maxDelayMs, firstDelayMs * 2 ** (slot.quickEnds - 2))
    this.#options.log.error({ ...fields, delayMs }, 'a worker ended; it is started again')
    this.#startAgain(slot, delayMs)
  }

  #startAgain(slot: Slot, delayMs: number): void {
    slot.again = setTimeout(async () => {
      const reason = await this.#options.whyNot()
      if (this.#stops > 0) return
      slot.again = null
      if (reason === null) {
        this.#spawn(slot)
        return
      }
      this.#options.log.error({ worker: slot.slot, reason }, 'a worker cannot be started again')
      this.#startAgain(slot, maxDelayMs)
    }, delayMs)
  }

  #tell(slot: Slot, stop: Stop): void {
    // A worker that is ending no longer listens.
    if (slot.child?.connected === true) slot.child.send(stop, () => undefined)
  }

  #endWhenEmpty(): void {
    if (this.#slots.some(({ child }) => child !== null)) return
    this.#options.onEnd(this.#failed ? 1 : 0)
  }
}
