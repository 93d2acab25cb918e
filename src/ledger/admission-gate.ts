// Decides whether this process admits requests: not while its node is closed, the outbox fails or the ledger lags.

import type { LedgerSettings } from '../config/types.ts'
import type { NodeRef } from '../store/ledger.ts'
import type { Log } from '../telemetry/log.ts'
import type { OutboxWriter } from './outbox-writer.ts'
import { monotonicMs, type SharedState } from './shared.ts'

interface AdmissionGateOptions {
  readonly settings: Pick<LedgerSettings, 'maxLagMs' | 'maxUnsettled' | 'fenceMs'>
  readonly state: SharedState
  readonly writer: Pick<OutboxWriter, 'unsettledRecords' | 'oldestUnsettledMs'>
  readonly log: Log
  /** Called when the ledger was not reached for so long that another node may have closed this one. */
  readonly onStalled: () => void
}

export class AdmissionGate {
  readonly #options: AdmissionGateOptions
  /** The node as the ledger has opened it; null while it is not open. */
  ref: NodeRef | null = null
  everOpened = false
  #draining = false
  /** Why the outbox cannot be written; null while it can. */
  #outboxFault: string | null = null
  /** The part of `closed` that does not depend on the present time. */
  #shut: string | null
  #wasStalled = false
  /** How often the node was closed, as far as this thread has been notified. */
  #fenced = 0

  constructor(options: AdmissionGateOptions) {
    this.#options = options
    this.#shut = this.#reasonToShut()
  }

  /** 0 while the node is not open. */
  get epoch(): number {
    return this.ref?.epoch ?? 0
  }

  get isShut(): boolean {
    return this.#shut !== null
  }

  /** Computed at each call: a process that was suspended for a while must see it before its first timer fires. */
  get isStalled(): boolean {
    const { state, settings } = this.#options
    return state.isStalled(this.#fenced, settings.fenceMs)
  }

  /** Why no request is admitted; null while requests are. */
  get closed(): string | null {
    if (this.#shut !== null) return this.#shut
    if (!this.isStalled) return null
    const seconds = Math.round((monotonicMs() - this.#options.state.renewedMs) / 1_000)
    return `the ledger has not been reached for ${seconds} s`
  }

  /** Nothing is admitted, or half of the lag that stops admission is reached. */
  get isBehind(): boolean {
    const { settings, writer } = this.#options
    return (
      this.isShut ||
      writer.oldestUnsettledMs() * 2 > settings.maxLagMs ||
      writer.unsettledRecords * 2 > settings.maxUnsettled
    )
  }

  open(ref: NodeRef): void {
    this.ref = ref
    this.everOpened = true
    this.#judge()
  }

  /** Closes the gate until `open` is called; `count` is how often the node has been closed by now. */
  fence(count: number): void {
    this.ref = null
    this.#fenced = Math.max(this.#fenced, count)
    this.#judge()
  }

  /** Closes the gate for good. */
  drain(): void {
    this.#draining = true
    this.#judge()
  }

  outboxFailed(error: unknown, records: number): void {
    if (this.#outboxFault === null) {
      const message = 'the outbox cannot be written; admitting no requests until it can'
      this.#options.log.error({ err: error, records }, message)
    }
    this.#outboxFault = error instanceof Error ? error.message : String(error)
    this.#judge()
  }

  outboxRecovered(records: number): void {
    this.#outboxFault = null
    this.#judge()
    this.#options.log.info({ records }, 'the outbox is written again; nothing was lost')
  }

  /** Computes the state again, logs a change, and calls `onStalled` when the node has just become stalled. */
  look(): void {
    const { log, onStalled } = this.#options
    const wasShut = this.isShut
    this.#judge()
    if (!wasShut && this.isShut) log.error({ reason: this.#shut }, 'admitting no requests')
    else if (wasShut && !this.isShut) log.info({}, 'admitting requests again')
    const stalled = this.ref !== null && this.isStalled
    if (stalled && !this.#wasStalled) {
      log.error({}, 'the ledger was not reached for too long; ending running streams')
      onStalled()
    }
    this.#wasStalled = stalled
  }

  #judge(): void {
    this.#shut = this.#reasonToShut()
  }

  #reasonToShut(): string | null {
    const { settings, writer } = this.#options
    if (this.#draining) return 'the gateway is shutting down'
    if (this.#outboxFault !== null) return `the outbox cannot be written: ${this.#outboxFault}`
    if (this.ref === null) {
      return this.everOpened
        ? 'the node is being opened again in the ledger'
        : 'records left in the outbox by the last run are being settled'
    }
    const records = writer.unsettledRecords
    const ageMs = writer.oldestUnsettledMs()
    if (ageMs <= settings.maxLagMs && records <= settings.maxUnsettled) return null
    return `${records} finished requests wait for the ledger, the oldest for ${Math.round(ageMs / 1_000)} s`
  }
}
