// The serving thread's side of message history: a bounded queue in front of the thread that writes.

import { Worker } from 'node:worker_threads'
import type { HistorySettings } from '../config/types.ts'
import { moduleAt } from '../installation.ts'
import type { StoreSettings } from '../store/open.ts'
import type { Exchange } from './document.ts'
import type { FromWriter, ToWriter, WriterStart } from './messages.ts'

interface RecorderOptions {
  readonly store: StoreSettings
  /** Called each time, because a reload replaces the settings. */
  readonly settings: () => HistorySettings
  /** Whether anything was ever stored, which may have to be deleted. */
  readonly anyKept: () => Promise<boolean>
  /** Called when exchanges were lost, or could not be deleted in time; for the log. */
  readonly onFailure: (reason: string, lost: number) => void
  /** The thread's entry module; tests pass another. */
  readonly script?: URL | string
}

interface RecorderReading {
  /** Bytes in the queue, including space reserved for running requests. */
  readonly queueBytes: number
  /** Number of exchanges that were not stored, because the queue was full or the store failed. */
  readonly dropped: number
  /** Size of all that is stored, as this process last counted it. */
  readonly diskBytes: number
}

export interface Recorder {
  /** Reserves space in the queue; false if it is full. */
  take(bytes: number): boolean
  /** Frees reserved space. */
  give(bytes: number): void
  /** Queues an exchange, with the space it was reserved. */
  add(exchange: Exchange, bytes: number): void
  /** Counts an exchange for which there was no space. */
  drop(): void
  readonly reading: RecorderReading
  /** Resolves when everything added is written, or lost. */
  idle(): Promise<void>
  close(): Promise<void>
}

const cleanEveryMs = 60_000
/** The most exchanges in one message to the thread. */
const mostAtOnce = 64

interface Waiting {
  readonly exchange: Exchange
  readonly bytes: number
}

/** What was sent to the thread and not answered yet. */
interface Given {
  readonly count: number
  readonly bytes: number
}

/** Starts the thread only when there is something to store or to delete. */
export function createRecorder(options: RecorderOptions): Recorder {
  return new ThreadRecorder(options)
}

class ThreadRecorder implements Recorder {
  readonly #options: RecorderOptions
  #worker: Worker | null = null
  #given: Given | null = null
  #waiting: Waiting[] = []
  #queueBytes = 0
  #dropped = 0
  #diskBytes = 0
  #scheduled = false
  #idle: (() => void)[] = []
  readonly #timer: ReturnType<typeof setInterval>

  constructor(options: RecorderOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#clean(), cleanEveryMs).unref()
    void this.#clean()
  }

  get reading(): RecorderReading {
    return { queueBytes: this.#queueBytes, dropped: this.#dropped, diskBytes: this.#diskBytes }
  }

  take(bytes: number): boolean {
    if (this.#queueBytes + bytes > this.#options.settings().queueBytes) return false
    this.#queueBytes += bytes
    return true
  }

  give(bytes: number): void {
    this.#queueBytes -= bytes
  }

  drop(): void {
    this.#dropped++
  }

  add(exchange: Exchange, bytes: number): void {
    this.#waiting.push({ exchange, bytes })
    this.#next()
  }

  idle(): Promise<void> {
    if (this.#given === null && this.#waiting.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }

  /** Exchanges that arrive while the thread works are sent together, because messages have a cost of their own. */
  #next(): void {
    if (this.#given !== null || this.#waiting.length === 0 || this.#scheduled) return
    this.#scheduled = true
    // After the replies that are being sent now.
    setImmediate(() => {
      this.#scheduled = false
      if (this.#given === null) this.#post(this.#waiting.splice(0, mostAtOnce))
    })
  }

  /** Makes the thread delete what has expired. */
  async #clean(): Promise<void> {
    try {
      if ((await this.#options.anyKept()) && this.#given === null) this.#post([])
    } catch (error) {
      this.#options.onFailure(error instanceof Error ? error.message : String(error), 0)
    }
  }

  #post(waiting: readonly Waiting[]): void {
    const bytes = waiting.reduce((sum, each) => sum + each.bytes, 0)
    this.#given = { count: waiting.length, bytes }
    const { diskBudget } = this.#options.settings()
    const owned = waiting.map(({ exchange }) => ownedBy(exchange))
    const message: ToWriter = { exchanges: owned.map(({ exchange }) => exchange), diskBudget }
    this.#started().postMessage(
      message,
      owned.flatMap(({ buffers }) => buffers),
    )
  }

  #started(): Worker {
    if (this.#worker !== null) return this.#worker
    const { store, script = moduleAt(new URL('./writer-main.ts', import.meta.url)) } = this.#options
    const workerData: WriterStart = { store }
    const worker = new Worker(script, { workerData })
    worker.unref()
    this.#worker = worker
    let reason = 'the thread that writes history has ended'
    worker.on('message', (message: FromWriter) => this.#answered(message))
    worker.on('error', (error) => {
      reason = error instanceof Error ? error.message : String(error)
    })
    worker.on('exit', () => this.#ended(worker, reason))
    return worker
  }

  #answered({ lost, failure, diskBytes }: FromWriter): void {
    this.#queueBytes -= this.#given?.bytes ?? 0
    this.#given = null
    this.#dropped += lost
    this.#diskBytes = diskBytes ?? this.#diskBytes
    if (failure !== null) this.#options.onFailure(failure, lost)
    this.#goOn()
  }

  /** The exchanges sent to it are lost; the next one starts another thread. */
  #ended(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return
    this.#worker = null
    const { count: lost, bytes } = this.#given ?? { count: 0, bytes: 0 }
    this.#queueBytes -= bytes
    this.#given = null
    this.#dropped += lost
    this.#options.onFailure(reason, lost)
    this.#goOn()
  }

  #goOn(): void {
    this.#next()
    if (this.#waiting.length === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}

/** Copies its bytes into separate buffers, which are transferred to the thread without another copy. */
function ownedBy(exchange: Exchange): { exchange: Exchange; buffers: ArrayBuffer[] } {
  const buffers: ArrayBuffer[] = []
  const own = (bytes: Uint8Array): Uint8Array => {
    const copy = new Uint8Array(bytes)
    buffers.push(copy.buffer)
    return copy
  }
  const { request, reply, files, sent } = exchange
  const owned = {
    ...exchange,
    request: own(request),
    reply: own(reply),
    files: files.map((file) => ({ ...file, content: own(file.content) })),
    sent: sent.map((each) => ({ ...each, body: own(each.body) })),
  }
  return { exchange: owned, buffers }
}
