// What running streams have used, as the outbox's records have it: kept for as long as a stream runs.

import { type EncodedRecord, encodeProgress } from './record.ts'

const noTexts: readonly string[] = []

export class OutboxProgress {
  /**
   * The last record of each running stream, for the other half when writing moves there. Text, since an array kept per
   * stream is many objects that outlive the engine's young collections.
   */
  readonly #last = new Map<string, string>()
  /** Streams whose last record is not committed yet. */
  readonly #waiting = new Set<string>()

  keep(requestId: string, record: EncodedRecord): void {
    this.#last.set(requestId, encodeProgress(record))
  }

  /** The stream's last record is to be committed; false if an earlier one waits already. */
  wait(requestId: string): boolean {
    const { size } = this.#waiting
    return this.#waiting.add(requestId).size > size
  }

  end(requestId: string): void {
    if (this.#last.size === 0) return
    this.#last.delete(requestId)
    this.#waiting.delete(requestId)
  }

  get waiting(): number {
    return this.#waiting.size
  }

  texts(): readonly string[] {
    return [...this.#last.values()]
  }

  waitingTexts(): readonly string[] {
    if (this.#waiting.size === 0) return noTexts
    return [...this.#waiting].flatMap((requestId) => this.#last.get(requestId) ?? [])
  }

  committed(): void {
    this.#waiting.clear()
  }
}
