// The ledger of one serving process: holds in memory, finished requests in the outbox, database work in a worker.

import type { LedgerSettings } from '../config/types.ts'
import { moduleAt } from '../installation.ts'
import type { Nano } from '../money.ts'
import type { SpendLimits } from '../store/keys.ts'
import type { OutboxPlace } from '../store/ledger.ts'
import type { StoreSettings } from '../store/open.ts'
import { readMark } from '../store/outbox-mark.ts'
import { type Outbox, openOutbox } from '../store/sqlite-outbox.ts'
import type { Log } from '../telemetry/log.ts'
import { AdmissionGate } from './admission-gate.ts'
import { type LedgerChanges, WorkerChanges } from './changes.ts'
import type { Authority } from './grants.ts'
import { KeyBudgets } from './key-budgets.ts'
import { createLeases, type Leases } from './leases.ts'
import type { Finished, Hold, Ledger, LedgerStats, NoHold } from './ledger.ts'
import type { FromWorker, WorkerStart } from './messages.ts'
import { OutboxWriter } from './outbox-writer.ts'
import { type EncodedRecord, encodeRecord } from './record.ts'
import { monotonicMs, SharedState } from './shared.ts'
import { Upkeep } from './upkeep.ts'
import { WorkerLink } from './worker-link.ts'

export interface LedgerOptions {
  readonly store: StoreSettings
  /** Directory of the outbox, whichever database has the ledger. */
  readonly dataDir: string
  /** Number of this serving process among those that share the directory; 0 by default. */
  readonly slot?: number
  readonly settings: LedgerSettings
  /** `strict`: `kept` is called when the ledger has committed the record; `normal`: when the outbox has it. */
  readonly durability: 'normal' | 'strict'
  /** How long what a running stream has used may wait before it is committed; 0 (the default): `progress` commits it. */
  readonly progressWaitMs?: number
  /** The most that may be held at once; null: unlimited. */
  readonly maxHeldPerKeyNano: Nano | null
  readonly maxHeldPerAccountNano: Nano | null
  /** The spend limits at the moment, for keys that have one; none by default. */
  readonly spendLimits?: () => SpendLimits
  readonly log: Log
  /** Called when the disk cannot be trusted any more; by default the process logs that and exits with 1. */
  readonly onFatal?: (reason: string) => void
  /** The worker's entry module; tests pass another. */
  readonly workerScript?: URL
}

export interface LedgerNode extends Ledger {
  /** The records that the last run left in this outbox are settled, and the node is open. */
  ready(): boolean
  /** Resolves when `ready` first holds. */
  readonly opened: Promise<void>
  stats(): LedgerStats
  /**
   * Settling lags or is impossible: records of requests that cost nothing are not to be written, since however many
   * there are, they would delay the others and keep admission closed.
   */
  readonly isBehind: boolean
  readonly changes: LedgerChanges
  /**
   * Called when the holds of running requests are not safe any more: the requests must end and settle at once. Returns
   * a function that unsubscribes the callback.
   */
  onFenced(callback: () => void): () => void
  /**
   * Called after the last request: settles everything, gives the leases back, closes the node and the files. Resolves
   * to the number of records the ledger did not take within `limitMs` (10,000 by default); the outbox keeps them.
   * Rejects, when all is closed, if the outbox could not keep some.
   */
  drain(limitMs?: number): Promise<number>
}

/**
 * Opens the outbox of the slot and starts the worker; the node is ready later (`opened`). Rejects with `OutboxTaken` if
 * another process has the slot.
 */
export async function createLedger(options: LedgerOptions): Promise<LedgerNode> {
  return new Node(options, openOutbox(options.dataDir, options.slot ?? 0))
}

const closedHold: NoHold = { refused: 'closed' }
const noLimits: SpendLimits = new Map()

class Node implements LedgerNode {
  readonly #options: LedgerOptions
  readonly #outbox: Outbox
  readonly #state = new SharedState()
  readonly #writer: OutboxWriter
  readonly #gate: AdmissionGate
  readonly #link: WorkerLink
  readonly #leases: Leases
  /** Wraps the leases with the keys' spend limits; requests use this. */
  readonly #holds: KeyBudgets
  readonly #upkeep: Upkeep
  readonly changes: LedgerChanges
  readonly #leftUntil: number
  readonly #left: OutboxPlace | null
  readonly #fenceCallbacks = new Set<() => void>()
  readonly #opening = Promise.withResolvers<void>()
  readonly opened = this.#opening.promise
  /** Number of requests that have ended, which is also the number of the last one's record. */
  #finished = 0

  constructor(options: LedgerOptions, outbox: Outbox) {
    const { settings, maxHeldPerKeyNano, maxHeldPerAccountNano, log } = options
    const state = this.#state
    this.#options = options
    this.#outbox = outbox
    this.#leftUntil = outbox.lastSeq
    this.#left = readMark(options.dataDir, options.slot ?? 0)
    // Created before the worker, because it stores in the shared state how far the outbox is written.
    const writer = new OutboxWriter({
      outbox,
      state,
      nowMs: monotonicMs,
      keptBy: options.durability === 'strict' ? 'ledger' : 'outbox',
      progressWaitMs: options.progressWaitMs ?? 0,
      onWaiting: () => this.#link.tell({ kind: 'wake' }),
      onFailure: (error, records) => gate.outboxFailed(error, records),
      onRecovered: (records) => gate.outboxRecovered(records),
      onCallbackError: (error) =>
        log.error({ err: error }, 'the callback of a record failed; continuing'),
    })
    const onStalled = () => this.#tellFenced()
    const gate = new AdmissionGate({ settings, state, writer, log, onStalled })
    this.#writer = writer
    this.#gate = gate
    this.#link = new WorkerLink({
      script: options.workerScript ?? moduleAt(new URL('./worker-main.ts', import.meta.url)),
      start: () => this.#workerStart(),
      onMessage: (message) => this.#take(message),
      onDeath: (error, retryMs) => this.#workerDied(error, retryMs),
    })
    const epoch = () => gate.epoch
    this.#leases = createLeases({
      authority: workerAuthority(this.#link, epoch),
      settings: { maxHeldPerKeyNano, maxHeldPerAccountNano },
      onError: (error, account) => {
        log.warn({ err: error, account }, 'no credit could be leased; refusing a request')
      },
    })
    this.#holds = budgetsOver(this.#leases, this.#link, options, {
      epoch,
      recordNumber: () => this.#finished,
    })
    this.changes = new WorkerChanges(this.#link, this.#holds, epoch)
    this.#upkeep = new Upkeep({
      writer,
      gate,
      leases: this.#leases,
      budgets: this.#holds,
      state,
      onHeld: (heldEpoch, held) => this.#link.tell({ kind: 'held', epoch: heldEpoch, held }),
    })
    this.#upkeep.rouse()
  }

  hold(account: string, keyId: string, amountNano: Nano): Hold | NoHold | Promise<Hold | NoHold> {
    this.#upkeep.rouse()
    if (this.#gate.isShut || this.#gate.isStalled) return closedHold
    return this.#holds.hold(account, keyId, amountNano)
  }

  extend(hold: Hold, byNano: Nano): boolean | Promise<boolean> {
    return !this.#gate.isStalled && this.#holds.extend(hold, byNano)
  }

  finish(hold: Hold | null, finished: Finished, kept: (() => void) | null): void {
    this.#upkeep.rouse()
    const record = this.#close(hold, finished)
    this.#writer.push(finished.row.requestId, record, kept)
  }

  finishNow(hold: Hold | null, finished: Finished): void {
    this.#upkeep.rouse()
    const record = this.#close(hold, finished)
    this.#writer.pushNow(finished.row.requestId, record)
  }

  progress(hold: Hold, finished: Finished): void {
    const chargeNano = chargeOf(finished)
    const fromLeaseNano = chargeNano < hold.amountNano ? chargeNano : hold.amountNano
    const epoch = this.#leases.epochOf(hold)
    const record = encodeRecord('progress', epoch, fromLeaseNano, finished)
    this.#writer.pushProgress(finished.row.requestId, record)
  }

  release(hold: Hold): void {
    this.#holds.release(hold)
  }

  get closed(): string | null {
    return this.#gate.closed
  }

  get isBehind(): boolean {
    return this.#gate.isBehind
  }

  ready(): boolean {
    return this.#gate.ref !== null
  }

  stats(): LedgerStats {
    this.#writer.noteSettled()
    const { rows, chargedNano, writtenOffNano, setAside } = this.#state.totals()
    let heldNano = 0n
    for (const amountNano of this.#leases.held().values()) heldNano += amountNano
    const leasedNano = heldNano + this.#leases.freeNano
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
      leasedNano,
    }
  }

  onFenced(callback: () => void): () => void {
    this.#fenceCallbacks.add(callback)
    return () => this.#fenceCallbacks.delete(callback)
  }

  async drain(limitMs = 10_000): Promise<number> {
    this.#upkeep.rouse()
    const deadlineMs = monotonicMs() + limitMs
    this.#gate.drain()
    this.#leases.drain()
    this.#writer.flush()
    await settledBy(deadlineMs, this.#writer, () => this.ready())
    this.#upkeep.stop()
    const left = this.#writer.unsettledRecords
    const lost = this.#writer.close()
    await this.#stopWorker(Math.max(1_000, deadlineMs - monotonicMs()))
    this.#outbox.close()
    if (lost > 0) {
      throw new Error(`The outbox cannot be written: records of ${lost} requests are lost`)
    }
    return left
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

  /** Closes the hold of a request that has ended, and returns its record. */
  #close(hold: Hold | null, finished: Finished): EncodedRecord {
    this.#finished += 1
    const fromLeaseNano = hold === null ? 0n : this.#holds.close(hold, chargeOf(finished))
    // A lease of a dead worker pays until the next one has opened the node, so the record names the lease's own epoch.
    const epoch = hold === null ? this.#gate.epoch : this.#leases.epochOf(hold)
    return encodeRecord('final', epoch, fromLeaseNano, finished, this.#finished)
  }

  #take(message: Parameters<WorkerLinkMessage>[0]): void {
    switch (message.kind) {
      case 'opened':
        this.#leases.open(message.ref.epoch)
        this.#gate.open(message.ref)
        this.#opening.resolve()
        break
      case 'fenced':
        this.#options.log.error({}, 'this node was closed in the ledger; ending running streams')
        this.#fence(message.count)
        break
      case 'recalled':
        for (const account of message.accounts) this.#leases.recall(account)
        for (const keyId of message.keys) this.#holds.recall(keyId)
        break
      case 'unclear':
        this.#writer.flush()
        // While the disk fails, ended requests wait in memory, and the worker cannot settle them first.
        if (message.epoch === this.#gate.epoch && this.#state.numbered === this.#finished) {
          const leasedNano = this.#leases.counted(message.accounts)
          this.#link.tell({ kind: 'counted', epoch: message.epoch, leasedNano })
        }
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

  /** Everything this node has leased is already released, or will be when the node is opened again. */
  #fence(count: number): void {
    this.#upkeep.rouse()
    this.#gate.fence(count)
    this.#leases.fence()
    this.#holds.fence()
    this.#tellFenced()
  }

  #tellFenced(): void {
    for (const callback of this.#fenceCallbacks) callback()
  }

  /**
   * It is unknown which lease changes the worker had carried out when it died; so the next worker opens the node again,
   * which releases all leases.
   */
  #workerDied(error: unknown, retryMs: number): void {
    this.#options.log.error(
      { err: error, retry_ms: retryMs },
      "the ledger's worker died; starting another",
    )
    if (this.#gate.everOpened) this.#fence(this.#state.noteFenced())
  }

  #workerStart(): WorkerStart {
    const { store, dataDir, slot = 0, settings, durability } = this.#options
    // Start over, because usage of the last run's streams is collected from everything that run left.
    if (!this.#gate.everOpened) this.#state.settled = 0
    return {
      store,
      dataDir,
      slot,
      node: this.#outbox.node,
      epoch: this.#outbox.epoch,
      left: this.#gate.everOpened ? null : this.#left,
      buffer: this.#state.buffer,
      nowMs: monotonicMs(),
      settings,
      announce: durability === 'strict',
      leftUntil: this.#gate.everOpened ? 0 : this.#leftUntil,
      isFirst: !this.#gate.everOpened,
    }
  }

  #end(reason: string): void {
    const { log, onFatal } = this.#options
    log.fatal({ reason }, 'records may not have reached the disk; ending this process')
    if (onFatal === undefined) process.exit(1)
    onFatal(reason)
  }
}

/** Resolves when the ledger has every record, or at the deadline. */
function settledBy(deadlineMs: number, writer: OutboxWriter, ready: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      writer.noteSettled()
      const done = writer.unsettledRecords === 0 && ready()
      if (!done && monotonicMs() < deadlineMs) setTimeout(look, 5)
      else resolve()
    }
    look()
  })
}

function budgetsOver(
  holds: Leases,
  link: WorkerLink,
  { spendLimits = () => noLimits, log }: LedgerOptions,
  { epoch, recordNumber }: { readonly epoch: () => number; readonly recordNumber: () => number },
): KeyBudgets {
  return new KeyBudgets({
    holds,
    limits: spendLimits,
    spent: (ranges) => link.ask({ ask: 'spent', ranges }),
    claim: (claim) => link.ask({ ask: 'claim', epoch: epoch(), claim }),
    giveBack: (keyIds) => link.ask({ ask: 'giveBackKeys', epoch: epoch(), keyIds }),
    recordNumber,
    onError: (error) =>
      log.error(
        { err: error },
        'the spend of keys could not be read or leased; using the last known values',
      ),
  })
}

/** Sends what leases ask of the ledger to the worker, each with the epoch at that moment. */
function workerAuthority(link: WorkerLink, epoch: () => number): Authority {
  return {
    grant: (account, size) => link.ask({ ask: 'grant', epoch: epoch(), account, size }),
    giveBack: (account, amountNano) =>
      link.tell({ kind: 'giveBack', epoch: epoch(), account, amountNano }),
    recall: (account) => link.tell({ kind: 'recall', epoch: epoch(), account }),
    forget: (account) => link.tell({ kind: 'forget', account }),
  }
}

type WorkerLinkMessage = (message: Exclude<FromWorker, { kind: 'answer' | 'refusal' }>) => void

/** What the account is to pay: the computed charge, limited by the caller's `max_cost`. */
function chargeOf({ row, capNano }: Finished): Nano {
  return capNano !== null && capNano < row.chargeNano ? capNano : row.chargeNano
}
