// The serving thread's end of message history: a bounded queue in front of the thread that writes.

import { Worker } from 'node:worker_threads'
import type { HistorySettings } from '../config/types.ts'
import { moduleAt } from '../installation.ts'
import type { StoreSettings } from '../store/open.ts'
import type { Exchange } from './document.ts'
import type { FromWriter, ToWriter, WriterStart } from './messages.ts'

interface RecorderOptions {
  readonly store: StoreSettings
  /** Asked each time: a reload replaces them. */
  readonly settings: () => HistorySettings
  /** Whether anything was ever kept, which may be due to go. */
  readonly anyKept: () => Promise<boolean>
  /** Something was lost, or could not be deleted in time: for the log. */
  readonly onFailure: (reason: string, lost: number) => void
  /** The thread's first file, unless a test has another. */
  readonly script?: URL | string
}

interface RecorderReading {
  /** Bytes that wait, those of running requests included. */
  readonly queueBytes: number
  /** Exchanges that were not kept: no room, or no store. */
  readonly dropped: number
  /** All that is kept, as this process last counted it. */
  readonly diskBytes: number
}

export interface Recorder {
  /** Sets room aside in the queue; false where it is full. */
  take(bytes: number): boolean
  /** Gives room back. */
  give(bytes: number): void
  /** Hands an exchange over, with the room it takes. */
  add(exchange: Exchange, bytes: number): void
  /** Tells that one had no room. */
  drop(): void
  readonly reading: RecorderReading
  /** Resolves when all that was added is written, or lost. */
  idle(): Promise<void>
  close(): Promise<void>
}

const cleanEveryMs = 60_000
/** Handed over at once at most. */
const mostAtOnce = 64

interface Waiting {
  readonly exchange: Exchange
  readonly bytes: number
}

/** What the thread has been given and has not answered yet. */
interface Given {
  readonly count: number
  readonly bytes: number
}

/** Starts no thread until there is something to keep, or to delete when its time has come. */
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

  /** What comes while the thread is at work waits, and goes together: a message costs as much as what is in it. */
  #next(): void {
    if (this.#given !== null || this.#waiting.length === 0 || this.#scheduled) return
    this.#scheduled = true
    // Behind the replies that are on their way out now.
    setImmediate(() => {
      this.#scheduled = false
      if (this.#given === null) this.#post(this.#waiting.splice(0, mostAtOnce))
    })
  }

  /** Has the thread delete what is due. */
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

  /** What it had is lost; the next exchange starts another. */
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

/** With its bytes in buffers of their own, which the thread is given without another copy. */
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
