// Stands between a vendor's stream and its client: passes on what the hold covers, and queues the rest until extended.

import type { Authorization, Extension, StopReason } from './authorization.ts'

export interface HoldGateOwner {
  /** Bytes of generated text the vendor has sent until now. */
  readonly outputBytes: number
  /** Whether the request is settled, so that nothing more has to be paid for. */
  readonly settled: boolean
  hand(bytes: Uint8Array): void
  /** Called when the hold was extended, to record what is owed by now. */
  paid(): void
  /** Called when the hold cannot be extended. */
  stopFor(why: StopReason): void
  /** Pauses the vendor's stream (true), or resumes it. */
  holdBack(wait: boolean): void
}

export class HoldGate {
  /** Bytes of generated text that the client has received. */
  deliveredBytes = 0
  /** Whether an extension is under way at the ledger. */
  waiting = false
  private readonly authorization: Authorization
  private readonly owner: HoldGateOwner
  private uncovered: Uint8Array[] = []
  private end: (() => void) | null = null

  constructor(authorization: Authorization, owner: HoldGateOwner) {
    this.authorization = authorization
    this.owner = owner
  }

  /** Whether received output waits because the hold does not cover it yet. */
  get isBehind(): boolean {
    return this.uncovered.length > 0
  }

  /** Passes on `bytes`; empty where the output that came is not to be shown yet, but must be paid for as it comes. */
  emit(bytes: Uint8Array): void {
    if (!this.waiting && this.isCovered()) {
      this.hand(bytes)
      return
    }
    this.uncovered.push(bytes)
    if (!this.waiting) this.cover()
  }

  /** Calls `end` once all received output was passed on: now if nothing waits, never if the hold cannot be extended. */
  finish(end: () => void): void {
    if (this.isBehind) this.end = end
    else end()
  }

  /** Discards the output that the hold does not cover. */
  drop(): void {
    this.uncovered = []
    this.end = null
  }

  /** Prepares for another attempt. */
  restart(): void {
    this.drop()
    this.deliveredBytes = 0
  }

  private isCovered(): boolean {
    return this.owner.settled || this.owner.outputBytes < this.authorization.dueBytes
  }

  private hand(bytes: Uint8Array): void {
    if (bytes.length === 0) return
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
    extension
      .then((said) => {
        this.waiting = false
        this.extended(said)
        if (!this.waiting) this.owner.holdBack(false)
      })
      // A bug in the gateway: what waits must not wait for ever.
      .catch((error) => {
        reportError(error)
        this.owner.stopFor('closed')
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
    // Output that arrived during the extension may need another one.
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
