// Between a vendor that pushes and a client that takes at its own pace: a bounded queue of bytes.

import { join } from '../wire/json/splice.ts'

/**
 * Past this the vendor is paused until the client has taken all but `lowBytes` of what waits. What the runtime reads of a
 * vendor at once, 512 KiB at most, comes on top.
 */
const highBytes = 65_536
const lowBytes = 16_384
/** The runtime holds what it was given until the client took it, so a slow one is given little at a time. */
const pieceBytes = 65_536

export interface BackpressureOwner {
  /** The client fell behind, or caught up. */
  pause(): void
  resume(): void
}

/** The connection to the client is to be broken, so that nobody takes a cut reply for a whole one. */
class BrokenReply extends Error {}

export class BackpressureQueue {
  /** When the client last took bytes, or had nothing to take (`performance.now()`). */
  takenAtMs: number
  private readonly owner: BackpressureOwner
  /** The client has taken all there was, or will take no more. */
  closed = false
  private queue: Uint8Array[] = []
  private queuedBytes = 0
  private paused = false
  private ended = false
  private broken: BrokenReply | null = null
  private wake: (() => void) | null = null

  constructor(owner: BackpressureOwner, nowMs: number) {
    this.owner = owner
    this.takenAtMs = nowMs
  }

  get waitingBytes(): number {
    return this.queuedBytes
  }

  push(chunk: Uint8Array): void {
    if (this.ended) return
    if (this.queuedBytes === 0) this.takenAtMs = performance.now()
    this.queue.push(chunk)
    this.queuedBytes += chunk.length
    if (this.queuedBytes > highBytes && !this.paused) {
      this.paused = true
      this.detach()
      this.owner.pause()
    }
    this.rouse()
  }

  end(): void {
    this.ended = true
    this.rouse()
  }

  /** Drops what is queued and ends with an error. */
  break(message: string): void {
    if (this.ended) return
    this.broken = new BrokenReply(message)
    this.ended = true
    this.queue = []
    this.queuedBytes = 0
    this.rouse()
  }

  /** The reply's body; iterated once. What gathered since the last piece goes out in one. */
  async *body(): AsyncGenerator<Uint8Array, void, void> {
    try {
      for (;;) {
        if (this.queuedBytes > 0) yield this.take()
        else if (this.broken !== null) throw this.broken
        else if (this.ended) return
        else await new Promise<void>(this.sleep)
      }
    } finally {
      this.closed = true
    }
  }

  private readonly sleep = (resolve: () => void): void => {
    this.wake = resolve
  }

  private take(): Uint8Array {
    const chunk = this.queuedBytes <= pieceBytes ? this.takeAll() : this.takePiece()
    this.queuedBytes -= chunk.length
    this.takenAtMs = performance.now()
    if (this.paused && this.queuedBytes <= lowBytes) {
      this.paused = false
      this.owner.resume()
    }
    return chunk
  }

  /** What waits for a slow client keeps no buffer alive of which it is only a part: neither a read nor a frame. */
  private detach(): void {
    const pieces: Uint8Array[] = []
    for (const chunk of this.queue)
      for (let at = 0; at < chunk.length; at += pieceBytes)
        pieces.push(chunk.slice(at, at + pieceBytes))
    this.queue = pieces
  }

  private takeAll(): Uint8Array {
    const { queue } = this
    this.queue = []
    return join(queue)
  }

  /** As many whole chunks as make a piece, or a piece of the first. */
  private takePiece(): Uint8Array {
    const { queue } = this
    const first = queue[0] ?? new Uint8Array(0)
    if (first.length > pieceBytes) {
      queue[0] = first.subarray(pieceBytes)
      return first.subarray(0, pieceBytes)
    }
    let count = 0
    let bytes = 0
    for (const chunk of queue) {
      if (bytes + chunk.length > pieceBytes) break
      bytes += chunk.length
      count++
    }
    return join(queue.splice(0, count))
  }

  private rouse(): void {
    const wake = this.wake
    this.wake = null
    wake?.()
  }
}
