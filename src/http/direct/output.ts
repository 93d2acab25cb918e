// Writes bytes to a client as fast as its connection takes them, and queues the rest.

import { Buffer } from 'node:buffer'
import { WriteQueue } from '../../upstream/write-queue.ts'

export type Sent = 'all' | 'some' | 'closed'

/** The client's connection. */
interface Socket {
  /** Returns the bytes taken; -1: the connection is gone. */
  write(bytes: Uint8Array, from?: number, length?: number): number
}

export class Output {
  private readonly socket: Socket
  private readonly queue = new WriteQueue()
  private waiting: PromiseWithResolvers<number> | null = null
  private isClosed = false

  constructor(socket: Socket) {
    this.socket = socket
  }

  /** Bytes that the connection has not taken yet. */
  get waitingBytes(): number {
    return this.queue.waitingBytes
  }

  /**
   * The caller must not change the bytes until they are sent. `some`: the rest is queued. `closed`: the client is gone.
   */
  send(bytes: Uint8Array): Sent {
    const wrote = this.write(bytes, bytes.length)
    if (wrote < bytes.length && wrote >= 0) this.queue.push(bytes.subarray(wrote))
    return wrote < 0 ? 'closed' : wrote === bytes.length ? 'all' : 'some'
  }

  /** Sends the first `length` bytes of a buffer that the caller may reuse at once. */
  sendCopy(bytes: Uint8Array, length: number): Sent {
    const wrote = this.write(bytes, length)
    if (wrote < length && wrote >= 0) this.queue.push(Buffer.from(bytes.subarray(wrote, length)))
    return wrote < 0 ? 'closed' : wrote === length ? 'all' : 'some'
  }

  /** Returns the bytes taken; -1: the client is gone. */
  private write(bytes: Uint8Array, length: number): number {
    if (this.isClosed) return -1
    return this.queue.waitingBytes > 0 ? 0 : this.socket.write(bytes, 0, length)
  }

  /** Resolves when the queue is empty: with 1, or with 0 where the client is gone. */
  room(): Promise<number> {
    this.waiting ??= Promise.withResolvers()
    return this.waiting.promise
  }

  /** Called when the connection takes bytes again. */
  drained(): void {
    if (this.queue.flush(this.socket) === 'all') this.tell(1)
  }

  closed(): void {
    this.isClosed = true
    this.queue.clear()
    this.tell(0)
  }

  private tell(room: number): void {
    this.waiting?.resolve(room)
    this.waiting = null
  }
}
