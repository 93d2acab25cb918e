// Collects the records of one turn of the event loop and commits them to the outbox together; never waits for a disk.

import { type Half, halfOf, type Outbox } from '../store/sqlite-outbox.ts'
import { OutboxProgress } from './outbox-progress.ts'
import { type EncodedRecord, encodeBody, numberOf } from './record.ts'
import type { SharedState } from './shared.ts'

interface OutboxWriterOptions {
  readonly outbox: Outbox
  readonly state: SharedState
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
  /** Which commit makes a record safe: its `kept` callback runs after that one. */
  readonly keptBy: 'outbox' | 'ledger'
  /** How long a progress record may wait for others before it is committed; 0: it is committed at once. */
  readonly progressWaitMs: number
  /** Asks the worker to read the outbox: a callback waits for the ledger, or the worker was asleep. */
  readonly onWaiting: () => void
  /** The outbox could not be written, and `records` wait in memory; or it can be written again. */
  readonly onFailure: (error: unknown, records: number) => void
  readonly onRecovered: (records: number) => void
  /** The callback of a record threw. */
  readonly onCallbackError: (error: unknown) => void
}

type Kept = () => void

/** One append that the ledger does not have yet. */
interface Unsettled {
  readonly seq: number
  readonly records: number
  readonly atMs: number
  /** Callbacks to run when the ledger has it. */
  readonly kept: readonly Kept[]
}

const retryMs = 1_000
/** Log size at which writing moves to the other half; bounds the files, and what a start must read. */
const halfBytes = 16 * 1024 * 1024
const pageBytes = 4_096

export class OutboxWriter {
  readonly #options: OutboxWriterOptions
  #records: EncodedRecord[] = []
  #kept: Kept[] = []
  readonly #progress = new OutboxProgress()
  #progressTimer: ReturnType<typeof setTimeout> | null = null
  #unsettled: Unsettled[] = []
  /** Entries of `#unsettled` before this index are settled. */
  #first = 0
  #unsettledRecords = 0
  #scheduled = false
  #seq: number
  /** Number of the last record that waits in memory or was appended. */
  #number = 0
  #half: Half
  #halfUsedBytes = 0
  #failedSinceMs: number | null = null
  #retry: ReturnType<typeof setTimeout> | null = null

  constructor(options: OutboxWriterOptions) {
    this.#options = options
    this.#seq = options.outbox.lastSeq
    this.#half = halfOf(options.state.turn)
    options.state.written = this.#seq
  }

  /** Queues a record for the end of this turn of the event loop; `kept` is called once, when the record is safe. */
  push(requestId: string, record: EncodedRecord, kept: Kept | null): void {
    this.#progress.end(requestId)
    this.#records.push(record)
    this.#number = numberOf(record)
    if (kept !== null) this.#kept.push(kept)
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(this.#flushScheduled)
  }

  /** Like `push`, but commits the record and everything that waits before it returns. */
  pushNow(requestId: string, record: EncodedRecord): void {
    this.#progress.end(requestId)
    this.#records.push(record)
    this.#number = numberOf(record)
    this.flush()
  }

  /** Commits what a running stream has used so far, within `progressWaitMs` or when the same stream has used more. */
  pushProgress(requestId: string, record: EncodedRecord): void {
    this.#progress.keep(requestId, record)
    // While the disk fails, only the latest progress record counts, and it is written when the disk works again.
    if (this.#failedSinceMs !== null) return
    const { progressWaitMs } = this.#options
    // A fast stream does not wait, so that a kill never loses more than one record of a stream.
    const isFirst = this.#progress.wait(requestId)
    if (progressWaitMs === 0 || !isFirst) this.flush()
    else this.#progressTimer ??= setTimeout(this.#flushProgress, progressWaitMs)
  }

  readonly #flushProgress = () => {
    this.#progressTimer = null
    this.flush()
  }

  readonly #flushScheduled = () => {
    this.#scheduled = false
    this.flush()
  }

  /** Commits what waits; while the disk fails, records wait in memory and only the retry timer writes. */
  flush(): void {
    if (this.#failedSinceMs === null) this.#append()
    // A failed disk does not stop replies: their records are in memory, and no new request is admitted.
    else this.#tellKept()
  }

  #append(): void {
    const recovering = this.#failedSinceMs !== null
    const records = this.#inMemory
    if (records === 0 && !recovering) return
    const { outbox, state, nowMs } = this.#options
    const fresh = this.#takeCleanHalf()
    const progress = this.#progress
    const texts = fresh || recovering ? progress.texts() : progress.waitingTexts()
    const body = encodeBody(this.#records, texts)
    const seq = this.#seq + 1
    try {
      outbox.append(this.#half, seq, body)
    } catch (error) {
      this.#failed(error)
      return
    }
    this.#seq = seq
    this.#halfUsedBytes += (Math.ceil(body.length / pageBytes) + 1) * pageBytes
    state.numbered = this.#number
    state.written = seq
    this.#records = []
    progress.committed()
    if (state.resting) {
      state.resting = false
      this.#options.onWaiting()
    }
    if (recovering) this.#recovered(records)
    this.#note({ seq, records, atMs: nowMs(), kept: this.#keptByLedger() })
    this.#tellKept()
  }

  /** Records that wait in memory. */
  get #inMemory(): number {
    return this.#records.length + this.#progress.waiting
  }

  #keptByLedger(): readonly Kept[] {
    if (this.#options.keptBy === 'outbox' || this.#kept.length === 0) return noKept
    const kept = this.#kept
    this.#kept = []
    this.#options.onWaiting()
    return kept
  }

  #note(unsettled: Unsettled): void {
    this.#unsettled.push(unsettled)
    this.#unsettledRecords += unsettled.records
  }

  #tellKept(): void {
    if (this.#kept.length === 0) return
    const kept = this.#kept
    this.#kept = []
    this.#tell(kept)
  }

  #tell(kept: readonly Kept[]): void {
    for (const each of kept) {
      try {
        each()
      } catch (error) {
        this.#options.onCallbackError(error)
      }
    }
  }

  /** True if writing moved to the other half, which has no progress records of the running streams yet. */
  #takeCleanHalf(): boolean {
    const { state } = this.#options
    const other: Half = this.#half === 0 ? 1 : 0
    if (this.#halfUsedBytes < halfBytes || !state.isClean(other)) return false
    // In this order, and read by `recycle` in the other: a half that is no longer clean is known to be in use.
    state.turn += 1
    state.setClean(other, false)
    this.#half = other
    this.#halfUsedBytes = 0
    return true
  }

  #failed(error: unknown): void {
    this.#failedSinceMs ??= this.#options.nowMs()
    this.#options.onFailure(error, this.#inMemory)
    this.#tellKept()
    this.#retry = setTimeout(() => this.#append(), retryMs)
  }

  #recovered(records: number): void {
    this.#failedSinceMs = null
    this.#retry = null
    this.#options.onRecovered(records)
  }

  /** Reads how far the ledger has settled, and runs the callbacks that waited for it. */
  noteSettled(): void {
    const { settled } = this.#options.state
    for (;;) {
      const oldest = this.#unsettled[this.#first]
      if (oldest === undefined || oldest.seq > settled) break
      this.#first += 1
      this.#unsettledRecords -= oldest.records
      this.#tell(oldest.kept)
    }
    if (this.#first === this.#unsettled.length) this.#unsettled = []
    else if (this.#first > 4_096) this.#unsettled.splice(0, this.#first)
    else return
    this.#first = 0
  }

  /** Records that the ledger does not have, as of the last `noteSettled`, including those that wait in memory. */
  get unsettledRecords(): number {
    return this.#unsettledRecords + this.#inMemory
  }

  /** Age of the oldest append that is not settled; 0 if there is none. */
  oldestUnsettledMs(): number {
    const oldest = this.#unsettled[this.#first]
    return oldest === undefined ? 0 : this.#options.nowMs() - oldest.atMs
  }

  /** Commits what waits, even while the disk fails, and runs all callbacks; returns the number of records in memory. */
  close(): number {
    if (this.#retry !== null) clearTimeout(this.#retry)
    if (this.#progressTimer !== null) clearTimeout(this.#progressTimer)
    this.#append()
    if (this.#retry !== null) clearTimeout(this.#retry)
    for (const { kept } of this.#unsettled.slice(this.#first)) this.#tell(kept)
    this.#tellKept()
    return this.#inMemory
  }
}

const noKept: readonly Kept[] = []
