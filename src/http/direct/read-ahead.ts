// Keeps what a client sent before its last request was answered, and stops reading while that is much.

import { Buffer } from 'node:buffer'
import { mostAheadBytes } from './tunnel.ts'

const nothing = Buffer.alloc(0)

/** Of the client's connection. */
interface Pausable {
  pause(): void
  resume(): void
}

export class ReadAhead {
  bytes: Buffer = nothing
  /** They are taken in a later turn of the event loop. */
  isWaiting = false
  private paused = false
  private readonly socket: Pausable
  private readonly takeNext: () => void

  constructor(socket: Pausable, takeNext: () => void) {
    this.socket = socket
    this.takeNext = takeNext
  }

  set(bytes: Buffer): void {
    this.bytes = bytes
    if (bytes.length <= mostAheadBytes || this.paused) return
    this.paused = true
    this.socket.pause()
  }

  add(bytes: Buffer): void {
    this.set(Buffer.concat([this.bytes, bytes]))
  }

  /** The bytes with `chunk` behind them; nothing is left. */
  take(chunk: Buffer): Buffer {
    const { bytes } = this
    this.bytes = nothing
    return bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
  }

  /**
   * The request before is over: the next one, if it was read, is taken in a turn of its own, so that a client that
   * sends thousands at once holds up nobody else.
   */
  next(): void {
    if (this.bytes.length === 0) this.resume()
    else if (!this.isWaiting) {
      this.isWaiting = true
      setImmediate(this.later)
    }
  }

  private readonly later = (): void => {
    this.isWaiting = false
    // The next request may need bytes that are not read yet.
    this.resume()
    this.takeNext()
  }

  private resume(): void {
    if (!this.paused) return
    this.paused = false
    this.socket.resume()
  }
}
