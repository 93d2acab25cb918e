// The ledger's worker: the one thread of a serving process that writes the ledger and waits for disks.

import { type FileHandle, open as openHandle } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { Nano } from '../money.ts'
import type { Grant, NodeRef, OutboxPlace } from '../store/ledger.ts'
import { openStore } from '../store/open.ts'
import { type OutboxMark, openMark } from '../store/outbox-mark.ts'
import { halves, type OutboxReader, openOutboxReader } from '../store/sqlite-outbox.ts'
import type { Store } from '../store/store.ts'
import type { VideoChanged } from '../store/video-table.ts'
import { idleMs } from './lease.ts'
import { LeaseWork } from './lease-work.ts'
import type { Answers, FromWorker, Question, ToWorker, WorkerStart } from './messages.ts'
import { NodeKeeper } from './node-keeper.ts'
import { OutboxDrain } from './outbox-drain.ts'
import { OutboxSync } from './outbox-sync.ts'
import { Settler } from './settlement.ts'
import { clockFrom, monotonicMs, SharedState } from './shared.ts'
import { isSyncFailure } from './sync-failure.ts'

const recallMs = 50
/** Past this nothing was held or granted for a while: others wait a little longer, but less than they have. */
const leasesRestMs = 2_000
const recallAtRestMs = 75
const syncMs = 25
/** Nothing was written for so long: the next append wakes this thread. */
const quietMs = 1_000
/** A lease without a request is given back long before. */
const leasesLastMs = 2 * idleMs
const mostSetAside = 100_000

/** Opens the store and the outbox, settles what is left, opens the node, and serves until it is asked to stop. */
export async function runLedgerWorker(port: MessagePort, start: WorkerStart): Promise<void> {
  const servingMs = clockFrom(start.nowMs)
  const store = await openStore(start.store)
  const reader = openOutboxReader(start.dataDir, start.slot)
  const logs = await Promise.all(halves.map((half) => openHandle(reader.logPath(half), 'r+')))
  const setAside = await store.settlements.setAsides(mostSetAside)
  const known = new Set(setAside.map(({ requestId }) => requestId))
  const mark = openMark(start.dataDir, start.slot)
  const rooms = { port, start, store, reader, mark, logs, setAside: known, servingMs }
  const worker = new LedgerWorker(rooms)
  port.on('message', (message: ToWorker) => worker.take(message))
  await worker.run()
}

interface WorkerRooms {
  readonly port: MessagePort
  readonly start: WorkerStart
  readonly store: Store
  readonly reader: OutboxReader
  readonly mark: OutboxMark
  readonly logs: readonly FileHandle[]
  readonly setAside: ReadonlySet<string>
  /** The serving thread's clock. */
  readonly servingMs: () => number
}

class LedgerWorker {
  readonly #rooms: WorkerRooms
  readonly #store: Store
  readonly #state: SharedState
  readonly #keeper: NodeKeeper
  readonly #leases: LeaseWork
  readonly #drain: OutboxDrain
  readonly #sync: OutboxSync
  /** The last number in the mark; null: it still says how far the last run came. */
  #marked: number | null = null
  readonly #stopping = new AbortController()
  /** Messages that are being answered. */
  readonly #answering = new Set<Promise<void>>()
  readonly #failing = new Set<string>()
  #stopQuestion: number | null = null
  #wake: () => void = () => undefined
  #held: { readonly epoch: number; readonly held: ReadonlyMap<string, Nano> } | null = null
  readonly #servingMs: () => number
  #leasedAtMs = Number.NEGATIVE_INFINITY
  /** Accounts that were granted something and not forgotten since. */
  readonly #leased = new Set<string>()
  #lastWritten = 0
  #writtenMs = monotonicMs()
  /** What is slept on while nothing is written, and while nothing is leased. */
  #unwritten: PromiseWithResolvers<void> | null = null
  #unleased: PromiseWithResolvers<void> | null = null

  constructor(rooms: WorkerRooms) {
    const { start, store, reader } = rooms
    this.#servingMs = rooms.servingMs
    this.#rooms = rooms
    this.#store = store
    const state = new SharedState(start.buffer)
    this.#state = state
    this.#keeper = this.#makeKeeper(state)
    this.#drain = new OutboxDrain({
      reader,
      state,
      settler: this.#makeSettler(state),
      node: start.node,
      epoch: start.epoch,
      nowMs: Date.now,
      setAside: rooms.setAside,
      onProgress: () => {
        if (start.announce) this.#tell({ kind: 'settled' })
      },
    })
    this.#leases = new LeaseWork({
      leases: store.leases,
      ref: () => this.#keeper.ref,
      settled: () => this.#settledUntil(state, state.written),
      onFenced: (ref) => this.#track(this.#keeper.fence(ref)),
      onFailure: (what, error) => this.#failed(what, error),
    })
    this.#sync = new OutboxSync({ logs: rooms.logs, state })
    this.#stopping.signal.addEventListener('abort', () => {
      this.#rouse()
      this.#rouseLeases()
    })
  }

  /** Until it is asked to stop. Rejects where something failed that is not meant to: the thread is then started again. */
  async run(): Promise<void> {
    let failure: unknown = null
    const ending = (error: unknown) => {
      if (!this.#stopping.signal.aborted) failure = error
      this.#stopping.abort()
    }
    const guarded = (loop: Promise<void>) => loop.catch(ending)
    const serve = async () => {
      // While the leases that cover it still stand: opening the node releases them.
      await this.#drain.settleLeft(this.#rooms.start.leftUntil)
      await this.#endLeft()
      await this.#drain.settleWritten()
      await this.#recycle()
      await this.#keeper.open()
      const loops = [this.#everySettle(), this.#everyRenewal(), this.#everyRecall()]
      await Promise.all(loops.map(guarded))
    }
    await Promise.all([this.#everySync(), serve()].map(guarded))
    if (isSyncFailure(failure)) this.#endProcess(failure)
    else if (failure !== null) throw failure
    else await this.#close()
  }

  take(message: ToWorker): void {
    switch (message.kind) {
      case 'question':
        this.#track(this.#answer(message.id, message.question))
        break
      case 'giveBack':
        this.#track(this.#leases.giveBack(message.epoch, message.account, message.amountNano))
        break
      case 'recall':
        this.#track(this.#leases.recall(message.epoch, message.account))
        break
      case 'forget':
        this.#leased.delete(message.account)
        this.#track(this.#leases.forget(message.epoch, message.account))
        break
      case 'held':
        this.#held = message
        this.#rouseLeases()
        this.#track(this.#noteHeld())
        break
      case 'wake':
        this.#rouse()
        this.#wake()
    }
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work.finally(() => this.#answering.delete(tracked))
    this.#answering.add(tracked)
  }

  async #answer(id: number, question: Question): Promise<void> {
    if (question.ask === 'stop') {
      this.#stopQuestion = id
      this.#stopping.abort()
      this.#wake()
      return
    }
    try {
      this.#tell({ kind: 'answer', id, answer: await this.#find(question) })
    } catch (error) {
      if (isSyncFailure(error)) this.#endProcess(error)
      this.#tell({ kind: 'refusal', id, reason: String(error) })
    }
  }

  #find(question: Exclude<Question, { ask: 'stop' }>): Promise<Answers[keyof Answers]> {
    const { idempotency, responses } = this.#store
    switch (question.ask) {
      case 'grant':
        return this.#grant(question)
      case 'begin': {
        const by = this.#keeper.ref
        if (by === null) throw new Error('The node is not open in the ledger.')
        return idempotency.begin({ ...question.entry, by })
      }
      case 'forget':
        return idempotency
          .forget(question.account, question.key, question.requestId)
          .then(() => null)
      case 'keep':
        return responses.apply(question.changes, this.#keeper.ref)
      case 'video':
        return this.#changeVideo(question)
    }
  }

  async #changeVideo({
    epoch,
    change,
  }: Extract<Question, { ask: 'video' }>): Promise<VideoChanged> {
    const { node } = this.#rooms.start
    const { videos } = this.#store
    if (change.kind === 'begin') {
      const whole = { ...change, from: { node, epoch } }
      return this.#leases.take(epoch, change.row.account, () => videos.apply(whole, null))
    }
    const done = await videos.apply(change, this.#keeper.ref)
    const { settled, chargedNano, writtenOffNano } = done.settled
    if (settled > 0) this.#state.count(settled, chargedNano, writtenOffNano)
    return done
  }

  async #grant(question: Extract<Question, { ask: 'grant' }>): Promise<Grant> {
    const { epoch, account, needNano, wantNano } = question
    const grant = await this.#leases.grant(epoch, account, needNano, wantNano)
    this.#leased.add(account)
    this.#rouseLeases()
    return grant
  }

  /** null: the asker lives in an epoch that is over, and what it leased then is released. */
  #refOf(epoch: number): NodeRef | null {
    const ref = this.#keeper.ref
    return ref?.epoch === epoch ? ref : null
  }

  async #noteHeld(): Promise<void> {
    const noted = this.#held
    if (noted === null) return
    const ref = this.#refOf(noted.epoch)
    const done =
      ref === null ||
      (await this.#keeper.once('note holds', async () => {
        await this.#store.leases.noteHeld(ref, noted.held)
        return true
      }))
    if (done === true && this.#held === noted) this.#held = null
  }

  async #everySync(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#writeMark()
      await this.#sync.sync()
      await this.#pause(syncMs)
      await this.#whileUnwritten()
    }
  }

  /** Ahead of the sync: what a power cut takes after it is then known to be lost. */
  async #writeMark(): Promise<void> {
    const number = this.#state.numbered
    if (this.#marked === null || this.#marked === number) return
    await this.#keeper.once('mark the outbox', async () => {
      this.#rooms.mark.write(this.#placeOf(number))
      this.#marked = number
    })
  }

  #placeOf(number: number): OutboxPlace {
    const { node, epoch } = this.#rooms.start
    return { node, epoch, number }
  }

  /** All that is left of the last run is settled; what it wrote beyond that is lost, and the ledger says so. */
  async #endLeft(): Promise<void> {
    const { left } = this.#rooms.start
    if (left !== null) {
      await this.#keeper.insist('end the outbox', () => this.#store.outboxes.end(left))
    }
    this.#marked = 0
  }

  async #everySettle(): Promise<void> {
    const { settleMs } = this.#rooms.start.settings
    while (!this.#stopping.signal.aborted) {
      // SQLite holds this thread while it settles: no sync could begin meanwhile.
      await this.#drain.settleWritten(() => this.#sync.sync())
      await this.#recycle()
      await Promise.race([
        this.#pause(settleMs),
        new Promise<void>((resolve) => {
          this.#wake = resolve
        }),
      ])
      await this.#whileUnwritten()
    }
  }

  /** Sleeps while nothing is written. The outbox is looked at once more in case it was as the other thread looked. */
  async #whileUnwritten(): Promise<void> {
    if (!this.#isQuiet() || this.#stopping.signal.aborted) return
    if (this.#unwritten === null) {
      this.#unwritten = Promise.withResolvers()
      this.#state.resting = true
      if (this.#state.written !== this.#lastWritten) this.#rouse()
    }
    await this.#unwritten?.promise
  }

  #isQuiet(): boolean {
    const { written, settled } = this.#state
    if (written !== this.#lastWritten) {
      this.#lastWritten = written
      this.#writtenMs = monotonicMs()
    }
    return settled >= written && monotonicMs() - this.#writtenMs > quietMs
  }

  #rouse(): void {
    this.#writtenMs = monotonicMs()
    this.#state.resting = false
    this.#unwritten?.resolve()
    this.#unwritten = null
  }

  #hasNothingLeased(): boolean {
    if (this.#held !== null) return false
    return this.#leased.size === 0 || monotonicMs() - this.#leasedAtMs > leasesLastMs
  }

  #rouseLeases(): void {
    this.#leasedAtMs = monotonicMs()
    this.#unleased?.resolve()
    this.#unleased = null
  }

  /** Needs room on the disk, which settling may do without; so it may fail and be tried the next time. */
  async #recycle(): Promise<void> {
    await this.#keeper.once('empty the outbox', async () => this.#drain.recycle())
  }

  /** The settling loop gets there by itself. */
  async #settledUntil(state: SharedState, until: number): Promise<void> {
    while (state.settled < until && !this.#stopping.signal.aborted) {
      await this.#pause(this.#rooms.start.settings.settleMs)
    }
  }

  async #everyRenewal(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#pause(this.#rooms.start.settings.renewMs)
      await this.#keeper.renew()
      await this.#keeper.once('clean', () => this.#store.idempotency.clean(Date.now()))
      await this.#keeper.once('clean', () => this.#store.responses.clean(Date.now()))
      await this.#keeper.once('clean', () => this.#store.videos.clean(Date.now()))
    }
  }

  async #everyRecall(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const atRest = monotonicMs() - this.#leasedAtMs > leasesRestMs
      await this.#pause(atRest ? recallAtRestMs : recallMs)
      // Noted as it changes; here only where that has failed.
      await this.#noteHeld()
      if (this.#hasNothingLeased() && !this.#stopping.signal.aborted) {
        this.#unleased ??= Promise.withResolvers()
        await this.#unleased.promise
        continue
      }
      const accounts = await this.#keeper.recalled()
      if (accounts.length > 0) this.#tell({ kind: 'recalled', accounts })
    }
  }

  /** Returns early, without a word, when the worker is to stop: every loop looks for that itself. */
  async #pause(forMs: number): Promise<void> {
    try {
      await delay(forMs, undefined, { signal: this.#stopping.signal })
    } catch (error) {
      if (!this.#stopping.signal.aborted) throw error
    }
  }

  async #close(): Promise<void> {
    const { store, reader, mark, logs, port } = this.#rooms
    await Promise.allSettled(this.#answering)
    await this.#sync.sync()
    await this.#keeper.once('end the outbox', () => this.#endOutbox())
    await this.#keeper.once('close', () => this.#keeper.close())
    await this.#keeper.once('empty the outbox', async () => this.#drain.recycleAll())
    reader.close()
    mark.close()
    await Promise.all(logs.map((log) => log.close()))
    await store.close()
    if (this.#stopQuestion !== null) {
      this.#tell({ kind: 'answer', id: this.#stopQuestion, answer: null })
    }
    port.close()
  }

  /** Nobody appends any more; what is not settled yet is the next start's. */
  async #endOutbox(): Promise<void> {
    const { written, settled, numbered } = this.#state
    if (numbered === 0 || settled < written) return
    await this.#store.outboxes.end(this.#placeOf(numbered))
  }

  #endProcess(error: unknown): void {
    this.#tell({ kind: 'fatal', reason: String(error) })
  }

  #tell(message: FromWorker): void {
    this.#rooms.port.postMessage(message)
  }

  /** A failure is reported once, until what failed works again. */
  #failed(what: string, error: unknown): void {
    if (isSyncFailure(error)) this.#endProcess(error)
    if (this.#failing.has(what)) return
    this.#failing.add(what)
    const fields = { what, error: String(error) }
    const message = 'the ledger could not be reached or written; trying again'
    this.#tell({ kind: 'log', level: 'warn', fields, message })
  }

  #recovered(what: string): void {
    if (!this.#failing.delete(what)) return
    this.#tell({ kind: 'log', level: 'info', fields: { what }, message: 'the ledger works again' })
  }

  #makeSettler(state: SharedState): Settler {
    return new Settler({
      settlements: this.#store.settlements,
      delay: (forMs) => delay(forMs, undefined, { signal: this.#stopping.signal }),
      nowMs: Date.now,
      onSettled: (rows, chargedNano, writtenOffNano) => {
        state.count(rows, chargedNano, writtenOffNano)
        this.#recovered('settle')
      },
      onFailure: (error) => this.#failed('settle', error),
      onSetAside: ({ requestId, account, heldNano, reason }) => {
        state.countSetAside()
        const fields = { request_id: requestId, account, held_nano: String(heldNano), reason }
        const message =
          'a finished request cannot be settled; setting it aside, its money stays held'
        this.#tell({ kind: 'log', level: 'error', fields, message })
      },
      onLost: (entry, { place }, error) => {
        if (place?.epoch === this.#rooms.start.epoch) state.account(-1, 0)
        const fields = { request_id: entry.requestId, raw: entry.raw, error: String(error) }
        const message =
          'a finished request can neither be settled nor set aside; this line is all of it'
        this.#tell({ kind: 'log', level: 'error', fields, message })
      },
    })
  }

  #makeKeeper(state: SharedState): NodeKeeper {
    const { start } = this.#rooms
    return new NodeKeeper({
      nodes: this.#store.nodes,
      leases: this.#store.leases,
      node: start.node,
      leaseMs: start.settings.leaseMs,
      clock: {
        nowMs: this.#servingMs,
        delay: (forMs) => delay(forMs, undefined, { signal: this.#stopping.signal }),
      },
      onRenewed: (sinceMs) => {
        state.renewedMs = sinceMs
      },
      onOpened: (ref) => this.#tell({ kind: 'opened', ref }),
      onFenced: () => this.#tell({ kind: 'fenced', count: state.noteFenced() }),
      onSwept: (refs) => {
        const fields = { nodes: refs.map(({ node, epoch }) => `${node}/${epoch}`) }
        const message = 'nodes had not renewed in time; closed them and released their leases'
        this.#tell({ kind: 'log', level: 'warn', fields, message })
      },
      onFailure: (what, error) => {
        if (isAboutLeases(what)) state.unreached = true
        this.#failed(what, error)
      },
      onRecovered: (what) => {
        if (isAboutLeases(what)) state.unreached = false
        this.#recovered(what)
      },
    })
  }
}

/** What the keeper asks of the ledger again and again while something is leased, and the opening that lets it. */
function isAboutLeases(what: string): boolean {
  return what === 'open' || what === 'renew' || what === 'recall'
}
