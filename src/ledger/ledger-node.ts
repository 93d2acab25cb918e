// The ledger of one serving process: holds in memory, finished requests in the outbox, the rest in a worker thread.

import type { LedgerSettings } from '../config/types.ts'
import type { Nano } from '../money.ts'
import type { NodeRef, OutboxPlace } from '../store/ledger.ts'
import type { StoreSettings } from '../store/open.ts'
import { readMark } from '../store/outbox-mark.ts'
import { type Outbox, openOutbox } from '../store/sqlite-outbox.ts'
import type { Log } from '../telemetry/log.ts'
import { type LedgerChanges, WorkerChanges } from './changes.ts'
import { createLeases, type Leases } from './leases.ts'
import type { Finished, Hold, Ledger, LedgerStats, NoHold } from './ledger.ts'
import type { FromWorker, WorkerStart } from './messages.ts'
import { OutboxWriter } from './outbox-writer.ts'
import { Pace } from './pace.ts'
import { type EncodedRecord, encodeRecord } from './record.ts'
import { monotonicMs, SharedState } from './shared.ts'
import { WorkerLink } from './worker-link.ts'

export interface LedgerOptions {
  readonly store: StoreSettings
  /** Where the outbox is kept, whichever database keeps the ledger. */
  readonly dataDir: string
  /** One for each serving process on this directory; 0 unless said. */
  readonly slot?: number
  readonly settings: LedgerSettings
  /** `strict`: `kept` is called when the ledger has committed the record; `normal`: when the outbox has. */
  readonly durability: 'normal' | 'strict'
  /** The most that may be held at once; null: no such bound. */
  readonly maxHeldPerKeyNano: Nano | null
  readonly maxHeldPerAccountNano: Nano | null
  readonly log: Log
  /** The disk cannot be trusted any more: unless given, the process says so and ends with 1. */
  readonly onFatal?: (reason: string) => void
  /** The worker's first file: its own, unless a test has another. */
  readonly workerScript?: URL
}

export interface LedgerNode extends Ledger {
  /** What the last run left in this outbox is settled, and the node is open. */
  ready(): boolean
  /** Resolves when `ready` first holds. */
  readonly opened: Promise<void>
  stats(): LedgerStats
  readonly changes: LedgerChanges
  /**
   * Called when what running requests hold is not safe any more: they must end and settle at once. Returns what
   * takes the callback back.
   */
  onFenced(callback: () => void): () => void
  /**
   * After the last request: settles everything, gives the leases back, closes the node and the files. Resolves to
   * the number of records the ledger did not take within `limitMs` (10,000 unless said); the outbox keeps them.
   */
  drain(limitMs?: number): Promise<number>
}

/**
 * Opens the outbox of the slot and starts the worker; the node is ready later (`opened`). Rejects with `OutboxTaken`
 * where another process has the slot.
 */
export async function createLedger(options: LedgerOptions): Promise<LedgerNode> {
  return new Node(options, openOutbox(options.dataDir, options.slot ?? 0))
}

const watchMs = 50
const noteHeldMs = 250
const tickMs = 1_000
const quietMs = 1_000
const closedHold: NoHold = { refused: 'closed' }

class Node implements LedgerNode {
  readonly #options: LedgerOptions
  readonly #outbox: Outbox
  readonly #state = new SharedState()
  readonly #leases: Leases
  readonly #writer: OutboxWriter
  readonly #link: WorkerLink
  readonly changes: LedgerChanges
  readonly #leftUntil: number
  readonly #left: OutboxPlace | null
  readonly #fenceCallbacks = new Set<() => void>()
  readonly #pace = new Pace(() => this.#look())
  #quietSinceMs = monotonicMs()
  #heldNotedMs = 0
  #tickedMs = 0
  readonly opened: Promise<void>
  #resolveOpened: () => void = () => undefined
  #ref: NodeRef | null = null
  #everOpened = false
  #draining = false
  /** Why the outbox cannot be written. */
  #outboxFault: string | null = null
  /** All of `closed` that does not depend on the moment. */
  #shut: string | null = null
  #stalled = false
  #fenced = 0
  #notedChange = 0
  /** Requests that have ended, and the number of the last one's record. */
  #finished = 0

  constructor(options: LedgerOptions, outbox: Outbox) {
    this.#options = options
    this.#outbox = outbox
    this.#leftUntil = outbox.lastSeq
    this.#left = readMark(options.dataDir, options.slot ?? 0)
    this.opened = new Promise((resolve) => {
      this.#resolveOpened = resolve
    })
    this.#writer = this.#makeWriter()
    this.#leases = this.#makeLeases()
    this.#judge()
    this.#link = new WorkerLink({
      script: options.workerScript ?? new URL('./worker-main.ts', import.meta.url),
      start: () => this.#workerStart(),
      onMessage: (message) => this.#take(message),
      onDeath: (error, retryMs) => this.#workerDied(error, retryMs),
    })
    this.changes = new WorkerChanges(this.#link, this.#leases, () => this.#epoch())
    this.#rouse()
  }

  hold(account: string, keyId: string, amountNano: Nano): Hold | NoHold | Promise<Hold | NoHold> {
    if (this.#pace.everyMs !== watchMs) this.#rouse()
    if (this.#shut !== null || this.#isStalled()) return closedHold
    return this.#leases.hold(account, keyId, amountNano)
  }

  extend(hold: Hold, byNano: Nano): boolean | Promise<boolean> {
    return !this.#isStalled() && this.#leases.extend(hold, byNano)
  }

  finish(hold: Hold | null, finished: Finished, kept: (() => void) | null): void {
    if (this.#pace.everyMs !== watchMs) this.#rouse()
    const record = this.#close(hold, finished)
    this.#writer.push(finished.row.requestId, record, kept)
  }

  finishNow(hold: Hold | null, finished: Finished): void {
    if (this.#pace.everyMs !== watchMs) this.#rouse()
    const record = this.#close(hold, finished)
    this.#writer.pushNow(finished.row.requestId, record)
  }

  progress(hold: Hold, finished: Finished): void {
    const chargeNano = chargeOf(finished)
    const fromLeaseNano = chargeNano < hold.amountNano ? chargeNano : hold.amountNano
    const record = encodeRecord('progress', this.#epoch(), fromLeaseNano, finished)
    this.#writer.pushProgress(finished.row.requestId, record)
  }

  release(hold: Hold): void {
    this.#leases.release(hold)
  }

  get closed(): string | null {
    if (this.#shut !== null) return this.#shut
    if (!this.#isStalled()) return null
    const seconds = Math.round((monotonicMs() - this.#state.renewedMs) / 1_000)
    return `the ledger has not been reached for ${seconds} s`
  }

  ready(): boolean {
    return this.#ref !== null
  }

  stats(): LedgerStats {
    this.#writer.noteSettled()
    const { rows, chargedNano, writtenOffNano, setAside } = this.#state.totals()
    let heldNano = 0n
    for (const amountNano of this.#leases.held().values()) heldNano += amountNano
    return {
      unsettled: this.#writer.unsettledRecords,
      oldestUnsettledMs: this.#writer.oldestUnsettledMs(),
      finished: this.#finished,
      accounted: this.#state.accounted,
      missing: this.#state.missing,
      settled: rows,
      chargedNano,
      writtenOffNano,
      setAside,
      heldNano,
    }
  }

  onFenced(callback: () => void): () => void {
    this.#fenceCallbacks.add(callback)
    return () => this.#fenceCallbacks.delete(callback)
  }

  async drain(limitMs = 10_000): Promise<number> {
    this.#rouse()
    const deadlineMs = monotonicMs() + limitMs
    this.#draining = true
    this.#judge()
    this.#leases.drain()
    this.#writer.flush()
    await this.#settledBy(deadlineMs)
    this.#pace.set(null)
    const left = this.#writer.unsettledRecords
    this.#writer.close()
    await this.#stopWorker(Math.max(1_000, deadlineMs - monotonicMs()))
    this.#outbox.close()
    return left
  }

  /** Resolves when the ledger has everything, or the time is over. */
  #settledBy(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        this.#writer.noteSettled()
        const done = this.#writer.unsettledRecords === 0 && this.ready()
        if (!done && monotonicMs() < deadlineMs) setTimeout(look, 5)
        else resolve()
      }
      look()
    })
  }

  async #stopWorker(limitMs: number): Promise<void> {
    const timeUp = new Promise<void>((resolve) => {
      setTimeout(resolve, limitMs).unref()
    })
    const stopped = this.#link.ask({ ask: 'stop' }).then(
      () => undefined,
      (error: unknown) => this.#options.log.warn({ err: error }, 'the ledger could not be closed'),
    )
    await Promise.race([stopped, timeUp])
    await this.#link.close()
  }

  /** The record of a request that has ended, its hold closed. */
  #close(hold: Hold | null, finished: Finished): EncodedRecord {
    const fromLeaseNano = hold === null ? 0n : this.#leases.close(hold, chargeOf(finished))
    this.#finished += 1
    return encodeRecord('final', this.#epoch(), fromLeaseNano, finished, this.#finished)
  }

  #epoch(): number {
    return this.#ref?.epoch ?? 0
  }

  /** Judged at each call: a process that was stopped for a while must know before its first timer. */
  #isStalled(): boolean {
    return this.#state.isStalled(this.#fenced, this.#options.settings.fenceMs)
  }

  #judge(): void {
    this.#shut = this.#reasonToShut()
  }

  #reasonToShut(): string | null {
    const { maxLagMs, maxUnsettled } = this.#options.settings
    if (this.#draining) return 'the gateway is shutting down'
    if (this.#outboxFault !== null) return `the outbox cannot be written: ${this.#outboxFault}`
    if (this.#ref === null) {
      return this.#everOpened
        ? 'the node is being opened anew in the ledger'
        : 'what the last run left in the outbox is being settled'
    }
    const records = this.#writer.unsettledRecords
    const ageMs = this.#writer.oldestUnsettledMs()
    if (ageMs <= maxLagMs && records <= maxUnsettled) return null
    return `${records} finished requests wait for the ledger, the oldest for ${Math.round(ageMs / 1_000)} s`
  }

  /** Now and then: what was settled, whether to admit, what to give back, what is held. */
  #look(): void {
    this.#writer.noteSettled()
    const before = this.#shut
    this.#judge()
    const { log } = this.#options
    if (before === null && this.#shut !== null) {
      log.error({ reason: this.#shut }, 'admitting no requests')
    } else if (before !== null && this.#shut === null) {
      log.info({}, 'admitting requests again')
    }
    this.#noteStall()
    const nowMs = monotonicMs()
    // What a ledger that is away cannot take back is better kept: requests are served from it.
    if (!this.#state.unreached && nowMs - this.#tickedMs >= tickMs - watchMs / 2) {
      this.#tickedMs = nowMs
      this.#leases.tick(nowMs)
    }
    if (nowMs - this.#heldNotedMs >= noteHeldMs - watchMs / 2) {
      this.#heldNotedMs = nowMs
      this.#noteHeld()
    }
    this.#rest(nowMs)
  }

  /** Something has begun that must be looked after. */
  #rouse(): void {
    this.#quietSinceMs = monotonicMs()
    this.#pace.set(watchMs)
  }

  /** After a quiet second looks at leases alone, and where there is none at nothing. */
  #rest(nowMs: number): void {
    const { openHolds, changed, accounts } = this.#leases
    const busy = openHolds > 0 || changed !== this.#notedChange || this.#writer.unsettledRecords > 0
    if (busy || this.#shut !== null) this.#quietSinceMs = nowMs
    if (nowMs - this.#quietSinceMs < quietMs) return
    this.#pace.set(accounts > 0 ? tickMs : null)
  }

  #noteStall(): void {
    const stalled = this.#ref !== null && this.#isStalled()
    if (stalled && !this.#stalled) {
      this.#options.log.error({}, 'the ledger was not reached for too long; ending running streams')
      this.#tellFenced()
    }
    this.#stalled = stalled
  }

  #noteHeld(): void {
    const { changed } = this.#leases
    if (changed === this.#notedChange || this.#ref === null) return
    this.#notedChange = changed
    this.#link.tell({ kind: 'held', epoch: this.#ref.epoch, held: this.#leases.held() })
  }

  #take(message: Parameters<WorkerLinkMessage>[0]): void {
    switch (message.kind) {
      case 'opened':
        this.#ref = message.ref
        this.#everOpened = true
        this.#leases.open()
        this.#judge()
        this.#resolveOpened()
        break
      case 'fenced':
        this.#options.log.error({}, 'this node was closed in the ledger; ending running streams')
        this.#fence(message.count)
        break
      case 'recalled':
        for (const account of message.accounts) this.#leases.recall(account)
        break
      case 'settled':
        this.#writer.noteSettled()
        break
      case 'log':
        this.#options.log[message.level](message.fields, message.message)
        break
      case 'fatal':
        this.#end(message.reason)
    }
  }

  /** All this node has leased is released already, or will be as it is opened anew. */
  #fence(count: number): void {
    this.#rouse()
    this.#ref = null
    this.#fenced = Math.max(this.#fenced, count)
    this.#leases.fence()
    this.#judge()
    this.#tellFenced()
  }

  #tellFenced(): void {
    for (const callback of this.#fenceCallbacks) callback()
  }

  /**
   * What the worker was doing with leases as it died is not known; so the next one opens the node anew, which
   * releases them all.
   */
  #workerDied(error: unknown, retryMs: number): void {
    this.#options.log.error(
      { err: error, retry_ms: retryMs },
      "the ledger's worker died; starting another",
    )
    if (this.#everOpened) this.#fence(this.#state.noteFenced())
  }

  #workerStart(): WorkerStart {
    const { store, dataDir, slot = 0, settings, durability } = this.#options
    // What streams of the last run had used is gathered over all that it left.
    if (!this.#everOpened) this.#state.settled = 0
    return {
      store,
      dataDir,
      slot,
      node: this.#outbox.node,
      epoch: this.#outbox.epoch,
      left: this.#everOpened ? null : this.#left,
      buffer: this.#state.buffer,
      nowMs: monotonicMs(),
      settings,
      announce: durability === 'strict',
      leftUntil: this.#everOpened ? 0 : this.#leftUntil,
    }
  }

  #end(reason: string): void {
    const { log, onFatal } = this.#options
    log.fatal({ reason }, 'what was written may not be on the disk; ending this process')
    if (onFatal === undefined) process.exit(1)
    onFatal(reason)
  }

  #makeWriter(): OutboxWriter {
    const { log, durability } = this.#options
    return new OutboxWriter({
      outbox: this.#outbox,
      state: this.#state,
      nowMs: monotonicMs,
      keptBy: durability === 'strict' ? 'ledger' : 'outbox',
      onWaiting: () => this.#link.tell({ kind: 'wake' }),
      onFailure: (error, records) => {
        if (this.#outboxFault === null) {
          const message = 'the outbox cannot be written; admitting no requests until it can'
          log.error({ err: error, records }, message)
        }
        this.#outboxFault = error instanceof Error ? error.message : String(error)
        this.#judge()
      },
      onRecovered: (records) => {
        this.#outboxFault = null
        this.#judge()
        log.info({ records }, 'the outbox is written again; nothing was lost')
      },
      onCallbackError: (error) =>
        log.error({ err: error }, 'the callback of a record failed; continuing'),
    })
  }

  #makeLeases(): Leases {
    const { maxHeldPerKeyNano, maxHeldPerAccountNano, log } = this.#options
    return createLeases({
      authority: {
        grant: (account, needNano, wantNano) =>
          this.#link.ask({ ask: 'grant', epoch: this.#epoch(), account, needNano, wantNano }),
        giveBack: (account, amountNano) =>
          this.#link.tell({ kind: 'giveBack', epoch: this.#epoch(), account, amountNano }),
        recall: (account) => this.#link.tell({ kind: 'recall', epoch: this.#epoch(), account }),
        forget: (account) => this.#link.tell({ kind: 'forget', epoch: this.#epoch(), account }),
      },
      settings: { maxHeldPerKeyNano, maxHeldPerAccountNano },
      onError: (error, account) => {
        log.warn({ err: error, account }, 'no credit could be leased; refusing a request')
      },
    })
  }
}

type WorkerLinkMessage = (message: Exclude<FromWorker, { kind: 'answer' | 'refusal' }>) => void

/** What the account is to pay: the formula, up to the caller's own ceiling. */
function chargeOf({ row, capNano }: Finished): Nano {
  return capNano !== null && capNano < row.chargeNano ? capNano : row.chargeNano
}
