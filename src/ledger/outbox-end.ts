// Says how far the outbox is written, in its mark and in the ledger: what is lost beyond that then shows.

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
  /** The last number in the mark; null: it still says how far the last run came. */
  #marked: number | null = null

  constructor(options: OutboxEndOptions) {
    this.#options = options
  }

  /** All that is left of the last run is settled; what it wrote beyond that is lost, and the ledger says so. */
  async endLeft(): Promise<void> {
    const { start, keeper, outboxes } = this.#options
    const { left } = start
    if (left !== null) await keeper.insist('end the outbox', () => outboxes.end(left))
    this.#marked = 0
  }

  /** Ahead of each sync: what a power cut takes after it is then known to be lost. */
  async writeMark(): Promise<void> {
    const { mark, keeper, state } = this.#options
    const number = state.numbered
    if (this.#marked === null || this.#marked === number) return
    await keeper.once('mark the outbox', async () => {
      mark.write(this.#placeOf(number))
      this.#marked = number
    })
  }

  /** Nobody appends any more; what is not settled yet is the next start's. */
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
