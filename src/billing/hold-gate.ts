// Between a vendor's stream and its client: what the hold covers goes on, the rest waits until more is held.

import type { Authorization, Extension } from './authorization.ts'

export interface HoldGateOwner {
  /** Bytes of generated text the vendor has sent until now. */
  readonly outputBytes: number
  /** Nothing has to be paid for any more. */
  readonly settled: boolean
  hand(bytes: Uint8Array): void
  /** More is held: what is owed by now is to be noted. */
  paid(): void
  /** No more can be held. */
  stopFor(why: 'refused' | 'over-cap'): void
  /** The vendor is to wait, or to go on. */
  holdBack(wait: boolean): void
}

export class HoldGate {
  /** How much text the client was given. */
  deliveredBytes = 0
  /** The ledger is asked. */
  waiting = false
  private readonly authorization: Authorization
  private readonly owner: HoldGateOwner
  private uncovered: Uint8Array[] = []
  private end: (() => void) | null = null

  constructor(authorization: Authorization, owner: HoldGateOwner) {
    this.authorization = authorization
    this.owner = owner
  }

  /** Something came that nobody has paid for yet. */
  get isBehind(): boolean {
    return this.uncovered.length > 0
  }

  emit(bytes: Uint8Array): void {
    if (!this.waiting && this.isCovered()) {
      this.hand(bytes)
      return
    }
    this.uncovered.push(bytes)
    if (!this.waiting) this.cover()
  }

  /** Calls `end` once all that came was handed on; at once where it was. Never, where no more can be held. */
  finish(end: () => void): void {
    if (this.isBehind) this.end = end
    else end()
  }

  /** What is not paid for is nobody's any more. */
  drop(): void {
    this.uncovered = []
    this.end = null
  }

  /** Another attempt begins. */
  restart(): void {
    this.drop()
    this.deliveredBytes = 0
  }

  private isCovered(): boolean {
    return this.owner.settled || this.owner.outputBytes < this.authorization.dueBytes
  }

  private hand(bytes: Uint8Array): void {
    this.owner.hand(bytes)
    this.deliveredBytes = this.owner.outputBytes
  }

  private cover(): void {
    const extension = this.authorization.extend(this.owner.outputBytes)
    if (!(extension instanceof Promise)) {
      this.extended(extension)
      return
    }
    this.waiting = true
    this.owner.holdBack(true)
    void extension.then((said) => {
      this.waiting = false
      this.extended(said)
      if (!this.waiting) this.owner.holdBack(false)
    })
  }

  private extended(said: Awaited<Extension>): void {
    const { owner } = this
    if (owner.settled) return
    if (said !== 'enough') {
      owner.stopFor(said)
      return
    }
    owner.paid()
    // What came while the ledger was asked may have outgrown its answer.
    if (!this.isCovered()) {
      this.cover()
      return
    }
    const { uncovered, end } = this
    this.drop()
    for (const bytes of uncovered) this.hand(bytes)
    end?.()
  }
}
