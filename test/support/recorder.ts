// Takes one reply from a dialer, records its events, and checks the rules of the interface.

import { Buffer } from 'node:buffer'
import type { ReplyHandler, TransportFault } from '../../src/vendors/transport.ts'

export class Recorder implements ReplyHandler {
  status: number | null = null
  header: (name: string) => string | null = () => null
  failure: TransportFault | null = null
  ended = false
  byteCount = 0
  /** Violations of the rules, in words; empty if there are none. */
  readonly broken: string[] = []
  /** Resolves at the end or the fault. */
  readonly over: Promise<this>
  /** Resolves with the head. */
  readonly begun: Promise<void>
  onBytes: (chunk: Uint8Array) => void = () => undefined
  private readonly chunks: Uint8Array[] = []
  private readonly settle: () => void
  private readonly begin: () => void

  constructor() {
    const { promise, resolve } = Promise.withResolvers<this>()
    this.over = promise
    this.settle = () => resolve(this)
    const begun = Promise.withResolvers<void>()
    this.begun = begun.promise
    this.begin = begun.resolve
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString('utf8')
  }

  head(status: number, header: (name: string) => string | null): void {
    if (this.status !== null) this.broken.push('a second head')
    this.status = status
    this.header = header
    this.begin()
  }

  bytes(chunk: Uint8Array): void {
    if (this.status === null || this.ended || this.failure !== null) {
      this.broken.push('bytes before the head or after the end')
    }
    this.byteCount += chunk.length
    this.chunks.push(chunk)
    this.onBytes(chunk)
  }

  end(): void {
    if (this.ended || this.failure !== null) this.broken.push('a second end')
    this.ended = true
    this.settle()
  }

  fault(fault: TransportFault): void {
    if (this.ended || this.failure !== null) this.broken.push('a fault after the end')
    this.failure = fault
    this.settle()
  }
}
