// Takes the outbox's rows in order into the ledger, and hands emptied halves back to be written again.

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
  /** Of the outbox as it is open now: what of it comes is counted. */
  readonly epoch: number
  readonly nowMs: () => number
  /** Set aside by an earlier run: not to be settled on top of that. */
  readonly setAside: ReadonlySet<string>
  /** Called as the settled sequence grows. */
  readonly onProgress: () => void
}

/** Records to one commit of the ledger: more cost no less each, and hold its locks longer. */
const maxBatch = 500

export class OutboxDrain {
  readonly #options: OutboxDrainOptions

  constructor(options: OutboxDrainOptions) {
    this.#options = options
  }

  /** Settles all that is written at present, `before` going ahead of each batch. */
  async settleWritten(before: () => Promise<void> = async () => undefined): Promise<void> {
    const { state } = this.#options
    const until = state.written
    while (state.settled < until) {
      await before()
      await this.#settleNext(until, () => undefined)
    }
  }

  /**
   * Settles what a process that ended left behind, rows up to `until`; then what its running streams had used as it
   * ended, for whom no final record came.
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

  /** Hands back the half that is not appended to, once all in it is settled. */
  recycle(): void {
    const { reader, state } = this.#options
    for (const half of halves) {
      if (half === halfOf(state.turn) || state.isClean(half)) continue
      if (reader.lastSeq(half) > state.settled) continue
      reader.recycle(half)
      state.setClean(half, true)
    }
  }

  /** At the end, when nobody appends any more: the next start then has nothing to read. */
  recycleAll(): void {
    const { reader, state } = this.#options
    for (const half of halves) {
      if (reader.lastSeq(half) <= state.settled) reader.recycle(half)
    }
  }

  async #settleNext(until: number, watch: (record: Readable) => void): Promise<void> {
    const { reader, state, settler, node, epoch, onProgress } = this.#options
    const rows = reader.read(state.settled, until, maxBatch)
    const batch: Entry[] = []
    let taken = state.settled
    for (const row of rows) {
      for (const [index, record] of decodeBody(row.body, node, row.epoch).entries()) {
        if (record.kind === 'unreadable') await this.#keepUnreadable(record, row, index)
        else {
          watch(record)
          if (record.kind === 'final') batch.push(entryOf(record, record.settlement))
        }
      }
      taken = row.seq
      if (batch.length >= maxBatch) break
    }
    await settler.settle(batch.filter((entry) => !this.#isSetAside(entry)))
    const numbers = batch.flatMap(({ settlement: { place } }) =>
      place?.epoch === epoch ? place.number : [],
    )
    state.account(numbers.length, numbers.at(-1) ?? 0)
    // A sequence whose append failed is never written, so the last rows may stand below `until`.
    state.settled = rows.length === 0 ? until : taken
    onProgress()
  }

  #isSetAside({ settlement }: Entry): boolean {
    return this.#options.setAside.has(settlement.row.requestId)
  }

  /** No account can be read out of it, so nothing is held for it; it must not stop what comes behind. */
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

/** The client saw its connection break, so the row says 503 whatever the reply's head had said. */
function died(settlement: Settlement): Settlement {
  const errorCause = 'the gateway died during the request'
  const row = { ...settlement.row, status: 503, errorCode: 'service_unavailable', errorCause }
  return { ...settlement, row, place: undefined }
}
