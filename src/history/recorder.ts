// Writes usage behind the requests: rows wait in memory for a moment and go to the store in batches.

import { RowRefused, type UsageRow, type UsageTable } from '../store/store.ts'

export interface RecorderOptions {
  /** How long the first row of a batch waits; 10 unless said: small batches hold requests up for less. */
  readonly flushMs?: number
  /** Rows to an append; 200 unless said. */
  readonly maxBatch?: number
  /** Rows that may wait while the store is away; 100,000 unless said. */
  readonly maxQueue?: number
  /** An append failed; its rows stay and are tried again, after `retryMs`. */
  readonly onError: (error: unknown, retryMs: number) => void
  /** The queue is full: this row is lost. `total` counts all lost since the start. */
  readonly onDropped: (row: UsageRow, total: number) => void
  /** The store will never take this row: it is set aside, and the rest goes on. */
  readonly onRefused: (row: UsageRow, error: RowRefused) => void
}

export interface Recorder {
  /** Never throws and never waits. */
  record(row: UsageRow): void
  /**
   * Writes what waits; resolves to the number of rows still unwritten, which is 0 unless the store failed
   * or took longer than `limitMs` (5,000 unless said).
   */
  drain(limitMs?: number): Promise<number>
  /** Rows not yet written. */
  readonly depth: number
}

const slowestRetryMs = 5_000

/** The request path only pushes onto an array; one append runs at a time. */
export function createRecorder(usage: UsageTable, options: RecorderOptions): Recorder {
  return new QueueingRecorder(usage, options)
}

class QueueingRecorder implements Recorder {
  readonly #usage: UsageTable
  readonly #options: RecorderOptions
  readonly #flushMs: number
  readonly #maxBatch: number
  readonly #maxQueue: number
  readonly #queue: UsageRow[] = []
  #timer: ReturnType<typeof setTimeout> | null = null
  /** The append under way. */
  #writing: Promise<void> | null = null
  #failures = 0
  #dropped = 0

  constructor(usage: UsageTable, options: RecorderOptions) {
    this.#usage = usage
    this.#options = options
    this.#flushMs = options.flushMs ?? 10
    this.#maxBatch = options.maxBatch ?? 200
    this.#maxQueue = options.maxQueue ?? 100_000
  }

  get depth(): number {
    return this.#queue.length
  }

  record(row: UsageRow): void {
    if (this.#queue.length >= this.#maxQueue) {
      this.#dropped += 1
      this.#options.onDropped(row, this.#dropped)
      return
    }
    this.#queue.push(row)
    if (this.#timer === null && this.#writing === null) this.#arm(this.#flushMs)
  }

  async drain(limitMs = 5_000): Promise<number> {
    const deadline = Date.now() + limitMs
    while (this.#queue.length > 0) {
      const leftMs = deadline - Date.now()
      if (leftMs <= 0) break
      await within(leftMs, this.#write())
      if (this.#failures > 0) {
        await within(Math.min(this.#retryMs(), deadline - Date.now()), new Promise(() => undefined))
      }
    }
    return this.#queue.length
  }

  #arm(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#write(), delayMs)
  }

  /** Writes one batch, or waits for the one under way; never rejects. */
  #write(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#writing ??= this.#writeBatch().finally(() => {
      this.#writing = null
      // A full batch behind this one goes in the next turn of the loop, so that requests get theirs between.
      if (this.#queue.length > 0) this.#arm(this.#nextDelayMs())
    })
    return this.#writing
  }

  #nextDelayMs(): number {
    if (this.#failures > 0) return this.#retryMs()
    return this.#queue.length >= this.#maxBatch ? 0 : this.#flushMs
  }

  #retryMs(): number {
    return Math.min(slowestRetryMs, this.#flushMs * 2 ** Math.min(this.#failures, 16))
  }

  async #writeBatch(): Promise<void> {
    try {
      await this.#appendFirst(Math.min(this.#queue.length, this.#maxBatch))
      this.#failures = 0
    } catch (error) {
      this.#failures += 1
      this.#options.onError(error, this.#retryMs())
    }
  }

  /**
   * Writes the first `count` rows and takes them off the queue. Where the store refuses them for what is in
   * one, halves them until that one stands alone; rows written before a failure do not come again.
   */
  async #appendFirst(count: number): Promise<void> {
    try {
      await this.#usage.append(this.#queue.slice(0, count))
      this.#queue.splice(0, count)
    } catch (error) {
      if (!(error instanceof RowRefused)) throw error
      if (count === 1) {
        for (const row of this.#queue.splice(0, 1)) this.#options.onRefused(row, error)
        return
      }
      const half = count >> 1
      await this.#appendFirst(half)
      await this.#appendFirst(count - half)
    }
  }
}

/** Waits for the work, but no longer than this; the work goes on. */
async function within(limitMs: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs)
  })
  await Promise.race([work, limit])
  clearTimeout(timer)
}
