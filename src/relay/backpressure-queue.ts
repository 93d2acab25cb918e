// A bounded queue of bytes between a vendor that pushes and a client that reads at its own pace.

import { giveBack } from '../upstream/read-memory.ts'
import { join } from '../wire/json/splice.ts'

/**
 * When more than this is queued, the vendor is paused until the client has taken all but `lowBytes`. One read of a
 * vendor, 512 KiB at most, can come on top.
 */
const highBytes = 65_536
const lowBytes = 16_384
/** The runtime keeps what it is given until the client has taken it, so it is given at most this much at a time. */
const pieceBytes = 65_536

/** The client's connection, such as the runtime's controller of a direct stream. */
export interface ByteSink {
  /** Always takes the bytes. A promise resolves once there is room again; 0: the connection is gone. */
  write(bytes: Uint8Array): number | Promise<number>
  end(): unknown
  /** Of writes up to 64 KiB, the sink copies what it cannot send at once: the caller may free the buffer. */
  readonly copies?: boolean
}

/** The body of a reply as it arrives. */
export interface ReplyStream {
  /** Writes it to `sink`; called once. Resolves at its end or once `sink` is gone, rejects where it breaks off. */
  pipe(sink: ByteSink): Promise<void>
  /** The client is gone. */
  leave(): void
}

export interface BackpressureOwner {
  /** The client has fallen behind: stop reading from the vendor; `resume` once it has caught up. */
  pause(): void
  resume(): void
}

/** Breaks the connection to the client, so that it cannot mistake a truncated reply for a whole one. */
class BrokenReply extends Error {}

export class BackpressureQueue implements ReplyStream {
  /** When the client last took bytes, or had nothing to take (`performance.now()`). */
  takenAtMs: number
  private readonly owner: BackpressureOwner
  /** Nothing else refers to the buffers pushed here: they may be freed once written. */
  private readonly isAlone: boolean
  /** The client has taken everything, or will take no more. */
  closed = false
  private queue: Uint8Array[] = []
  private queuedBytes = 0
  private paused = false
  private ended = false
  private sink: ByteSink | null = null
  /** Bytes given to a connection that has no room for more yet. */
  private blockedBytes = 0
  private scheduled = false
  private broken: BrokenReply | null = null
  private piped: PromiseWithResolvers<void> | null = null

  constructor(owner: BackpressureOwner, nowMs: number, isAlone = false) {
    this.owner = owner
    this.isAlone = isAlone
    this.takenAtMs = nowMs
  }

  get waitingBytes(): number {
    return this.queuedBytes + this.blockedBytes
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
    this.schedule()
  }

  end(): void {
    this.ended = true
    this.schedule()
  }

  /** Drops what is queued and ends with an error. */
  break(message: string): void {
    if (this.ended) return
    this.ended = true
    this.queue = []
    this.queuedBytes = 0
    this.broken = new BrokenReply(message)
    this.over(this.broken)
  }

  pipe(sink: ByteSink): Promise<void> {
    if (this.broken !== null) return Promise.reject(this.broken)
    this.sink = sink
    this.piped = Promise.withResolvers<void>()
    this.flow()
    return this.piped.promise
  }

  leave(): void {
    this.over(null)
  }

  private over(error: unknown): void {
    this.closed = true
    if (error === null) this.piped?.resolve()
    else this.piped?.reject(error)
  }

  /**
   * Writes in a microtask: one read of the vendor leaves in one piece, and what its last bytes trigger, such as
   * settling the request, is done before they leave.
   */
  private schedule(): void {
    if (this.scheduled || this.sink === null) return
    this.scheduled = true
    queueMicrotask(this.flow)
  }

  private readonly flow = (): void => {
    this.scheduled = false
    const { sink } = this
    if (sink === null) return
    try {
      while (this.queuedBytes > 0 && this.blockedBytes === 0 && !this.closed) this.give(sink)
      if (!this.ended || this.closed || this.waitingBytes > 0) return
      sink.end()
      this.leave()
    } catch (error) {
      this.over(error)
    }
  }

  private give(sink: ByteSink): void {
    const piece = this.take()
    const { length } = piece
    const written = sink.write(piece)
    this.spent(piece)
    if (written === 0) this.leave()
    if (typeof written === 'number') return
    this.blockedBytes = length
    if (this.paused) this.detach()
    // If the connection dies and never has room again, `leave` is called.
    written.then(this.unblock, this.unblock)
  }

  private readonly unblock = (): void => {
    this.blockedBytes = 0
    this.takenAtMs = performance.now()
    this.flow()
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

  /**
   * Copies chunks that are less than half of their buffer, so that what waits for a slow client keeps no large buffer
   * alive. Later reads are not copied: a client that keeps pace takes them at once.
   */
  private detach(): void {
    const pieces: Uint8Array[] = []
    for (const chunk of this.queue) {
      if (chunk.length * 2 >= chunk.buffer.byteLength) {
        pieces.push(chunk)
        continue
      }
      for (let at = 0; at < chunk.length; at += pieceBytes)
        // `slice` of a Buffer would share its memory; this copies.
        pieces.push(new Uint8Array(chunk.subarray(at, at + pieceBytes)))
      this.spent(chunk)
    }
    this.queue = pieces
  }

  /** Frees the memory of a read whose last bytes these are: nothing reads it any more. */
  private spent(bytes: Uint8Array): void {
    if (this.isAlone && this.sink?.copies === true) giveBack(bytes)
  }

  private takeAll(): Uint8Array {
    const { queue } = this
    this.queue = []
    return join(queue)
  }

  /** Takes as many whole chunks as fit in one piece, or a piece of the first. */
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
}
