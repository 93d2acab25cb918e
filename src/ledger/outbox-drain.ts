// Moves the outbox's rows into the ledger in order, and makes emptied halves of the outbox writable again.

import type { Settlement } from '../store/ledger.ts'
import { halfOf, halves, type OutboxReader, type OutboxRow } from '../store/sqlite-outbox.ts'
import { type DecodedRecord, decodeBody } from './record.ts'
import type { Entry, Settler } from './settlement.ts'
import type { SharedState } from './shared.ts'

interface OutboxDrainOptions {
  readonly reader: Pick<OutboxReader, 'read' | 'lastSeq' | 'recycle'>
  readonly state: SharedState
  readonly settler: Settler
  readonly node: string
  /** The epoch of the outbox as it is open now; only its records are counted in the shared state. */
  readonly epoch: number
  readonly nowMs: () => number
  /** Request ids that an earlier run set aside, which must not be settled as well. */
  readonly setAside: ReadonlySet<string>
  /** Called each time the settled sequence has advanced. */
  readonly onProgress: () => void
}

/** Records in one commit of the ledger: more of them are no cheaper each, and hold its locks longer. */
const maxBatch = 500

export class OutboxDrain {
  readonly #options: OutboxDrainOptions
  /** Rows to read for the next batch: a row has the records of one turn, and those left over are read again. */
  #rowsAtOnce = maxBatch

  constructor(options: OutboxDrainOptions) {
    this.#options = options
  }

  /** Settles everything written at present; runs `before` ahead of each batch. */
  async settleWritten(before: () => Promise<void> = async () => undefined): Promise<void> {
    const { state } = this.#options
    const until = state.written
    while (state.settled < until) {
      await before()
      await this.#settleNext(until, () => undefined)
    }
  }

  /**
   * Settles what an ended process left behind, rows up to `until`; then what its running streams had used when it
   * ended, for requests without a final record.
   */
  async settleLeft(until: number): Promise<void> {
    const { state, settler } = this.#options
    const unfinished = new Map<string, Entry>()
    const watch = (record: Readable) => {
      const { requestId } = record.settlement.row
      if (record.kind === 'progress')
        unfinished.set(requestId, entryOf(record, died(record.settlement)))
      else unfinished.delete(requestId)
    }
    while (state.settled < until) await this.#settleNext(until, watch)
    const entries = [...unfinished.values()].filter((entry) => !this.#isSetAside(entry))
    for (let at = 0; at < entries.length; at += maxBatch) {
      await settler.settle(entries.slice(at, at + maxBatch))
    }
  }

  /** Empties the half that is not being appended to, once everything in it is settled. */
  recycle(): void {
    const { reader, state } = this.#options
    for (const half of halves) {
      if (state.isClean(half) || half === halfOf(state.turn)) continue
      if (reader.lastSeq(half) > state.settled) continue
      reader.recycle(half)
      state.setClean(half, true)
    }
  }

  /** Called at the end, when nothing is appended any more: the next start then has nothing to read. */
  recycleAll(): void {
    const { reader, state } = this.#options
    for (const half of halves) {
      if (reader.lastSeq(half) <= state.settled) reader.recycle(half)
    }
  }

  async #settleNext(until: number, watch: (record: Readable) => void): Promise<void> {
    const { reader, state, settler, node, epoch, onProgress } = this.#options
    const rows = reader.read(state.settled, until, this.#rowsAtOnce)
    const batch: Entry[] = []
    let taken = state.settled
    let used = 0
    for (const row of rows) {
      for (const [index, record] of decodeBody(row.body, node, row.epoch).entries()) {
        if (record.kind === 'unreadable') await this.#keepUnreadable(record, row, index)
        else {
          watch(record)
          if (record.kind === 'final') batch.push(entryOf(record, record.settlement))
        }
      }
      taken = row.seq
      used += 1
      if (batch.length >= maxBatch) break
    }
    this.#rowsAtOnce = batch.length < maxBatch ? maxBatch : Math.min(maxBatch, 2 * used)
    await settler.settle(batch.filter((entry) => !this.#isSetAside(entry)))
    const numbers = batch.flatMap(({ settlement: { place } }) =>
      place?.epoch === epoch ? place.number : [],
    )
    state.account(numbers.length, numbers.at(-1) ?? 0)
    // A sequence number whose append failed is never written, so the last rows may be below `until`.
    state.settled = rows.length === 0 ? until : taken
    onProgress()
  }

  #isSetAside({ settlement }: Entry): boolean {
    return this.#options.setAside.has(settlement.row.requestId)
  }

  /** No account can be read from such a record, so no money is held for it; it must not block the records after it. */
  #keepUnreadable(record: Unreadable, row: OutboxRow, index: number): Promise<void> {
    const { settler, node, nowMs } = this.#options
    const entry = {
      requestId: `unreadable:${node}:${row.epoch}:${row.seq}:${index}`,
      account: '',
      heldNano: 0n,
      raw: JSON.stringify(record.values),
      reason: record.reason,
      at: nowMs(),
    }
    return settler.keepAside(entry, { node, epoch: 0 })
  }
}

type Readable = Exclude<DecodedRecord, { kind: 'unreadable' }>
type Unreadable = Extract<DecodedRecord, { kind: 'unreadable' }>

function entryOf({ values }: Readable, settlement: Settlement): Entry {
  return { settlement, raw: () => JSON.stringify(values) }
}

/** The client saw its connection break, so the row has status 503 whatever the reply's head said. */
function died(settlement: Settlement): Settlement {
  const errorCause = 'the gateway died during the request'
  const row = { ...settlement.row, status: 503, errorCode: 'service_unavailable', errorCause }
  return { ...settlement, row, place: undefined }
}
