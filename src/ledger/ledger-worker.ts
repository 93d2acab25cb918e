// The ledger's worker: the thread of a serving process that writes the ledger's database and waits for disks.

import { type FileHandle, open as openHandle } from 'node:fs/promises'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { Nano } from '../money.ts'
import type { Grant } from '../store/ledger.ts'
import { openStore } from '../store/open.ts'
import { type OutboxMark, openMark } from '../store/outbox-mark.ts'
import { halves, type OutboxReader, openOutboxReader } from '../store/sqlite-outbox.ts'
import type { Store } from '../store/store.ts'
import type { VideoChanged } from '../store/video-table.ts'
import { keepFolding } from './folding.ts'
import { KeyWork } from './key-work.ts'
import { LeaseWork } from './lease-work.ts'
import type { Answers, Pruning, Question, ToWorker, WorkerStart } from './messages.ts'
import { NodeKeeper } from './node-keeper.ts'
import { OutboxDrain } from './outbox-drain.ts'
import { OutboxEnd } from './outbox-end.ts'
import { OutboxSync } from './outbox-sync.ts'
import { Settler } from './settlement.ts'
import { clockFrom, SharedState } from './shared.ts'
import { isSyncFailure } from './sync-failure.ts'
import { WorkerReport } from './worker-report.ts'
import { LeasesRest, OutboxRest } from './worker-rest.ts'

const syncMs = 25
const mostSetAside = 100_000

/** Opens the store and the outbox, settles the records left there, opens the node, and serves until asked to stop. */
export async function runLedgerWorker(port: MessagePort, start: WorkerStart): Promise<void> {
  const servingMs = clockFrom(start.nowMs)
  const store = await openStore(start.store)
  const reader = openOutboxReader(start.dataDir, start.slot)
  const logs = await Promise.all(halves.map((half) => openHandle(reader.logPath(half), 'r+')))
  const setAside = await store.settlements.setAsides(mostSetAside, 'all')
  const known = new Set(setAside.map(({ requestId }) => requestId))
  const mark = openMark(start.dataDir, start.slot)
  const parts = { port, start, store, reader, mark, logs, setAside: known, servingMs }
  const worker = new LedgerWorker(parts)
  port.on('message', (message: ToWorker) => worker.take(message))
  await worker.run()
}

interface WorkerParts {
  readonly port: MessagePort
  readonly start: WorkerStart
  readonly store: Store
  readonly reader: OutboxReader
  readonly mark: OutboxMark
  readonly logs: readonly FileHandle[]
  readonly setAside: ReadonlySet<string>
  /** Reads the serving thread's clock. */
  readonly servingMs: () => number
}

class LedgerWorker {
  readonly #parts: WorkerParts
  readonly #store: Store
  readonly #state: SharedState
  readonly #keeper: NodeKeeper
  readonly #leases: LeaseWork
  readonly #keys: KeyWork
  readonly #drain: OutboxDrain
  readonly #sync: OutboxSync
  readonly #end: OutboxEnd
  readonly #report: WorkerReport
  readonly #stopping = new AbortController()
  readonly #outboxRest: OutboxRest
  readonly #leasesRest = new LeasesRest(this.#stopping.signal)
  /** Work started by messages and not finished yet. */
  readonly #answering = new Set<Promise<void>>()
  #stopQuestion: number | null = null
  #wake: () => void = () => undefined
  #held: { readonly epoch: number; readonly held: ReadonlyMap<string, Nano> } | null = null

  constructor(parts: WorkerParts) {
    const { start, store, reader } = parts
    this.#parts = parts
    this.#store = store
    const state = new SharedState(start.buffer)
    this.#state = state
    this.#outboxRest = new OutboxRest(state, this.#stopping.signal)
    this.#report = new WorkerReport(parts.port)
    const keeper = this.#makeKeeper(state)
    this.#keeper = keeper
    this.#end = new OutboxEnd({ start, mark: parts.mark, outboxes: store.outboxes, keeper, state })
    this.#drain = new OutboxDrain({
      reader,
      state,
      settler: this.#makeSettler(state),
      node: start.node,
      epoch: start.epoch,
      nowMs: Date.now,
      setAside: parts.setAside,
      onProgress: () => {
        if (start.announce) this.#report.tell({ kind: 'settled' })
      },
    })
    this.#leases = new LeaseWork({
      leases: store.leases,
      ref: () => this.#keeper.ref,
      settled: () => this.#settledUntil(state, state.written),
      onFenced: (ref) => this.#track(this.#keeper.fence(ref)),
      onFailure: (what, error) => this.#report.failed(what, error),
      onRecovered: (what) => this.#report.recovered(what),
    })
    this.#keys = new KeyWork({
      keyLeases: store.keyLeases,
      ref: () => this.#keeper.ref,
      reached: () => state.accounted + state.missing,
    })
    this.#sync = new OutboxSync({ logs: parts.logs, state })
  }

  /** Runs until it is asked to stop. Rejects after an unexpected failure; the thread is then started again. */
  async run(): Promise<void> {
    let failure: unknown = null
    const ending = (error: unknown) => {
      if (!this.#stopping.signal.aborted) failure = error
      this.#stopping.abort()
    }
    const guarded = (loop: Promise<void>) => loop.catch(ending)
    const { leftUntil, isFirst, node } = this.#parts.start
    const { idempotency } = this.#store
    const serve = async () => {
      // This comes first because opening the node releases the leases that cover these records.
      await this.#drain.settleLeft(leftUntil)
      await this.#end.endLeft()
      await this.#drain.settleWritten()
      await this.#recycle()
      if (isFirst) await this.#keeper.insist('free keys', () => idempotency.freeLeft(node))
      await this.#keeper.open()
      const loops = [
        this.#everySettle(),
        this.#everyRenewal(),
        this.#everyRecall(),
        keepFolding({
          fold: (before) => this.#keeper.once('fold', () => this.#store.rollups.fold(before)),
          pause: (forMs) => this.#pause(forMs),
          stopping: this.#stopping.signal,
        }),
      ]
      await Promise.all(loops.map(guarded))
    }
    await Promise.all([this.#everySync(), serve()].map(guarded))
    if (isSyncFailure(failure)) this.#report.endProcess(failure)
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
        this.#leasesRest.forgotten(message.account)
        break
      case 'counted':
        this.#track(this.#leases.returnExcess(message.epoch, message.leasedNano))
        break
      case 'held':
        this.#held = message
        this.#leasesRest.holds(message.held.size > 0)
        this.#track(this.#noteHeld())
        break
      case 'wake':
        this.#outboxRest.rouse()
        this.#wake()
    }
  }

  /** Work that has no other handler may fail because the worker stops; the next start repeats it. */
  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work
      .catch((error) => {
        if (!this.#stopping.signal.aborted) throw error
      })
      .finally(() => this.#answering.delete(tracked))
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
      this.#report.tell({ kind: 'answer', id, answer: await this.#find(question) })
    } catch (error) {
      if (isSyncFailure(error)) this.#report.endProcess(error)
      this.#report.tell({ kind: 'refusal', id, reason: String(error) })
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
      case 'spent':
        return this.#keys.spent(question.ranges)
      case 'claim':
        return this.#keys.claim(question.epoch, question.claim)
      case 'giveBackKeys':
        return this.#keys.giveBack(question.epoch, question.keyIds).then(() => null)
      case 'used':
        return this.#store.keyUses.note(question.uses).then(() => null)
      case 'prune':
        return prune(this.#store, question)
    }
  }

  async #changeVideo({
    epoch,
    change,
  }: Extract<Question, { ask: 'video' }>): Promise<VideoChanged> {
    const { node } = this.#parts.start
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
    const { epoch, account, size } = question
    const grant = await this.#leases.grant(epoch, account, size)
    this.#leasesRest.granted(account)
    return grant
  }

  async #noteHeld(): Promise<void> {
    const noted = this.#held
    if (noted === null) return
    const { ref } = this.#keeper
    const done =
      // A note of an epoch that is over is dropped: what was leased then is released.
      ref?.epoch !== noted.epoch ||
      (await this.#keeper.once('note holds', async () => {
        await this.#store.leases.noteHeld(ref, noted.held)
        return true
      }))
    if (done === true && this.#held === noted) this.#held = null
  }

  async #everySync(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#end.writeMark()
      await this.#sync.sync()
      await this.#pause(syncMs)
      await this.#outboxRest.whileUnwritten()
    }
  }

  async #everySettle(): Promise<void> {
    const { settleMs } = this.#parts.start.settings
    while (!this.#stopping.signal.aborted) {
      await this.#drain.settleWritten(() => this.#betweenBatches())
      await this.#recycle()
      await Promise.race([
        this.#pause(settleMs),
        new Promise<void>((resolve) => {
          this.#wake = resolve
        }),
      ])
      await this.#outboxRest.whileUnwritten()
    }
  }

  /**
   * SQLite blocks this thread while it settles: so the outbox is synced ahead of each batch, and grants and renewals,
   * which requests wait for, have their turn, however much is to be settled.
   */
  async #betweenBatches(): Promise<void> {
    await nextTurn()
    await this.#sync.sync()
  }

  /** Needs disk space, which settling may not need; so a failure is tolerated, and the next round tries again. */
  async #recycle(): Promise<void> {
    await this.#keeper.once('empty the outbox', async () => this.#drain.recycle())
  }

  /** Waits for the settling loop to get that far; false if this thread is to stop before. */
  async #settledUntil(state: SharedState, until: number): Promise<boolean> {
    while (state.settled < until && !this.#stopping.signal.aborted) {
      await this.#pause(this.#parts.start.settings.settleMs)
    }
    return state.settled >= until
  }

  async #everyRenewal(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#pause(this.#parts.start.settings.renewMs)
      await this.#keeper.renew()
      const accounts = this.#leases.unclear()
      const epoch = this.#keeper.ref?.epoch
      if (epoch !== undefined && accounts.length > 0)
        this.#report.tell({ kind: 'unclear', epoch, accounts })
      await this.#keeper.once('clean', () => this.#store.idempotency.clean(Date.now()))
      await this.#keeper.once('clean', () => this.#store.responses.clean(Date.now()))
      await this.#keeper.once('clean', () => this.#store.videos.clean(Date.now()))
    }
  }

  async #everyRecall(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#pause(this.#leasesRest.recallMs)
      // Holds are recorded as they change; this repeats a recording that failed.
      await this.#noteHeld()
      const leased = this.#held === null ? this.#leasesRest.untilLeased() : null
      if (leased !== null) {
        await leased
        continue
      }
      const recalled = await this.#keeper.recalled()
      if (recalled !== null && recalled.accounts.length + recalled.keys.length > 0)
        this.#report.tell({ kind: 'recalled', ...recalled })
    }
  }

  /** Returns early, without an error, when the worker is to stop; every loop checks for that itself. */
  async #pause(forMs: number): Promise<void> {
    try {
      await delay(forMs, undefined, { signal: this.#stopping.signal })
    } catch (error) {
      if (!this.#stopping.signal.aborted) throw error
    }
  }

  async #close(): Promise<void> {
    const { store, reader, mark, logs, port } = this.#parts
    await Promise.allSettled(this.#answering)
    await this.#sync.sync()
    await this.#keeper.once('end the outbox', () => this.#end.end())
    await this.#keeper.once('close', () => this.#keeper.close())
    await this.#keeper.once('empty the outbox', async () => this.#drain.recycleAll())
    reader.close()
    mark.close()
    await Promise.all(logs.map((log) => log.close()))
    await store.close()
    if (this.#stopQuestion !== null) {
      this.#report.tell({ kind: 'answer', id: this.#stopQuestion, answer: null })
    }
    port.close()
  }

  #makeSettler(state: SharedState): Settler {
    return new Settler({
      settlements: this.#store.settlements,
      delay: (forMs) => delay(forMs, undefined, { signal: this.#stopping.signal }),
      nowMs: Date.now,
      onSettled: (rows, chargedNano, writtenOffNano) => {
        state.count(rows, chargedNano, writtenOffNano)
        this.#report.recovered('settle')
      },
      onFailure: (error) => this.#report.failed('settle', error),
      onSetAside: ({ requestId, account, heldNano, reason }) => {
        state.countSetAside()
        const fields = { request_id: requestId, account, held_nano: String(heldNano), reason }
        const message =
          'a finished request cannot be settled; setting it aside, its money stays held'
        this.#report.tell({ kind: 'log', level: 'error', fields, message })
      },
      onLost: (entry, { place }, error) => {
        if (place?.epoch === this.#parts.start.epoch) state.account(-1, 0)
        const fields = { request_id: entry.requestId, raw: entry.raw, error: String(error) }
        const message =
          'a finished request can neither be settled nor set aside; this line is all of it'
        this.#report.tell({ kind: 'log', level: 'error', fields, message })
      },
    })
  }

  #makeKeeper(state: SharedState): NodeKeeper {
    const { start } = this.#parts
    return new NodeKeeper({
      nodes: this.#store.nodes,
      recalled: async (ref) => ({
        accounts: await this.#store.leases.recalled(ref),
        keys: await this.#keys.recalled(ref),
      }),
      node: start.node,
      leaseMs: start.settings.leaseMs,
      clock: {
        nowMs: this.#parts.servingMs,
        delay: (forMs) => delay(forMs, undefined, { signal: this.#stopping.signal }),
      },
      onRenewed: (sinceMs) => {
        state.renewedMs = sinceMs
      },
      onOpened: (ref) => this.#report.tell({ kind: 'opened', ref }),
      onFenced: () => this.#report.tell({ kind: 'fenced', count: state.noteFenced() }),
      onSwept: (refs) => {
        const fields = { nodes: refs.map(({ node, epoch }) => `${node}/${epoch}`) }
        const message = 'nodes had not renewed in time; closed them and released their leases'
        this.#report.tell({ kind: 'log', level: 'warn', fields, message })
      },
      onFailure: (what, error) => {
        if (isAboutLeases(what)) state.unreached = true
        this.#report.failed(what, error)
      },
      onRecovered: (what) => {
        if (isAboutLeases(what)) state.unreached = false
        this.#report.recovered(what)
      },
    })
  }
}

/** Whether this is work that the keeper repeats while something is leased, or the opening of the node. */
function isAboutLeases(what: string): boolean {
  return what === 'open' || what === 'renew' || what === 'recall'
}

function prune({ retention }: Store, { what, before, limit }: Pruning): Promise<number> {
  return what === 'all' ? retention.prune(before, limit) : retention.pruneRefusals(before, limit)
}
