// Buffers one vendor's reply for a reader that takes it chunk by chunk; pauses the vendor while the reader is slow.

import { MediaFault, type VendorHead } from '../../vendors/media.ts'
import type { Exchange, ReplyHandler, TransportFault } from '../../vendors/transport.ts'

/** The vendor is paused above `highBytes` and resumed below `lowBytes`. */
const highBytes = 1_048_576
const lowBytes = 262_144

export class BufferedReply implements ReplyHandler {
  private exchange: Exchange | null = null
  private readonly begun = Promise.withResolvers<VendorHead>()
  private waiting: Uint8Array[] = []
  private waitingBytes = 0
  private ended = false
  private failure: MediaFault | null = null
  private paused = false
  private wake: (() => void) | null = null

  constructor() {
    // A fault may arrive before anybody awaits the head.
    this.begun.promise.catch(() => undefined)
  }

  carriedBy(exchange: Exchange): void {
    this.exchange = exchange
  }

  get replied(): Promise<VendorHead> {
    return this.begun.promise
  }

  head(status: number, header: (name: string) => string | null): void {
    this.begun.resolve({ status, header })
  }

  bytes(chunk: Uint8Array): void {
    this.waiting.push(chunk)
    this.waitingBytes += chunk.length
    if (!this.paused && this.waitingBytes > highBytes) {
      this.paused = true
      this.exchange?.pause()
    }
    this.stir()
  }

  end(): void {
    this.ended = true
    this.stir()
  }

  fault({ kind, message }: TransportFault): void {
    this.fail(new MediaFault({ kind, message }))
  }

  /** The reply is not needed any more: aborts the vendor's request, and whoever still waits gets an error. */
  stop(): void {
    if (this.ended || this.failure !== null) return
    this.exchange?.abort()
    this.fail(new MediaFault({ kind: 'cut', message: 'the request has ended' }))
  }

  get isOver(): boolean {
    return this.ended || this.failure !== null
  }

  private fail(failure: MediaFault): void {
    this.failure = failure
    this.waiting = []
    this.begun.reject(failure)
    this.stir()
  }

  /** Must be read to its end or returned from, which aborts the rest. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.waiting.shift()
        if (chunk !== undefined) {
          this.took(chunk)
          yield chunk
        } else if (this.failure !== null) throw this.failure
        else if (this.ended) return
        else await this.more()
      }
    } finally {
      this.stop()
    }
  }

  private took(chunk: Uint8Array): void {
    this.waitingBytes -= chunk.length
    if (!this.paused || this.waitingBytes > lowBytes) return
    this.paused = false
    this.exchange?.resume()
  }

  private more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve
    })
  }

  private stir(): void {
    const { wake } = this
    this.wake = null
    wake?.()
  }
}
