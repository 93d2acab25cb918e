// Records how far the outbox is written, in its mark file and in the ledger, so that lost records are detected.

import type { OutboxPlace, OutboxTable } from '../store/ledger.ts'
import type { OutboxMark } from '../store/outbox-mark.ts'
import type { WorkerStart } from './messages.ts'
import type { NodeKeeper } from './node-keeper.ts'
import type { SharedState } from './shared.ts'

interface OutboxEndOptions {
  readonly start: Pick<WorkerStart, 'node' | 'epoch' | 'left'>
  readonly mark: OutboxMark
  readonly outboxes: OutboxTable
  readonly keeper: Pick<NodeKeeper, 'once' | 'insist'>
  readonly state: SharedState
}

export class OutboxEnd {
  readonly #options: OutboxEndOptions
  /** The last number written to the mark; null while the mark still has the last run's number. */
  #marked: number | null = null

  constructor(options: OutboxEndOptions) {
    this.#options = options
  }

  /** Called when everything left by the last run is settled: records it wrote beyond that are lost, which is noted. */
  async endLeft(): Promise<void> {
    const { start, keeper, outboxes } = this.#options
    const { left } = start
    if (left !== null) await keeper.insist('end the outbox', () => outboxes.end(left))
    this.#marked = 0
  }

  /** Runs ahead of each sync, so that records which a power cut takes after it are known to be lost. */
  async writeMark(): Promise<void> {
    const { mark, keeper, state } = this.#options
    const number = state.numbered
    if (this.#marked === null || this.#marked === number) return
    await keeper.once('mark the outbox', async () => {
      mark.write(this.#placeOf(number))
      this.#marked = number
    })
  }

  /** Called when nothing is appended any more; records that are not settled yet are left to the next start. */
  async end(): Promise<void> {
    const { written, settled, numbered } = this.#options.state
    if (numbered === 0 || settled < written) return
    await this.#options.outboxes.end(this.#placeOf(numbered))
  }

  #placeOf(number: number): OutboxPlace {
    const { node, epoch } = this.#options.start
    return { node, epoch, number }
  }
}
