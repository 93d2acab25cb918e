// One HTTP/1.1 connection to a vendor: sends a request, pushes its reply to a handler, and reports when it is free.

import { Buffer } from 'node:buffer'
import type { Segment } from '../vendors/media.ts'
import type { Exchange, ReplyHandler, TransportFault } from '../vendors/transport.ts'
import { BodyDecoder, BodyError } from './body.ts'
import {
  type Destination,
  isProxyRefusal,
  type Peer,
  refusedCredentials,
  type VendorConnection,
} from './connect.ts'
import { type ContentDecoder, decoderFor } from './content.ts'
import { HeadError, HeadReader, type ReplyHead } from './head.ts'
import { headEnd, sizeOf, WriteQueue } from './write-queue.ts'

export interface DialCall {
  readonly destination: Destination
  /** The request's body, in order; kept until the reply's first byte. */
  readonly segments: readonly Segment[]
  readonly connectMs: number
  readonly sendIdleMs: number
  /**
   * What to do about a kept-alive connection that may have died unnoticed, when nobody knows if the vendor got the
   * call. `resend` (the default): send it again on a new one. `fail`: do not. `avoid`: use a new one from the start.
   */
  readonly onKept?: 'resend' | 'fail' | 'avoid' | undefined
}

/** The pool that a connection reports to. */
export interface ConnectionOwner {
  idle(connection: Connection): void
  closed(connection: Connection): void
  /** A kept-alive connection died before the reply began: the call may be sent once more, on a new one. */
  resend(exchange: DialExchange): void
}

/** How long the end of an unread reply is waited for, to keep the connection. */
const lingerMs = 1_000
const maxInterims = 16
/** A request up to this size, head included, is sent in one write. */
const joinedBytes = 32_768
/** One call that is under way; the relay's handle on it. */
export class DialExchange implements Exchange {
  readonly call: DialCall
  readonly handler: ReplyHandler
  connection: Connection | null = null
  resent = false
  /** The handler is no longer called: it aborted, or has seen the end. */
  over = false
  paused = false
  connectedMs: number | null = null

  constructor(call: DialCall, handler: ReplyHandler) {
    this.call = call
    this.handler = handler
  }

  pause(): void {
    if (this.paused || this.over) return
    this.paused = true
    this.connection?.pause()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    this.connection?.resume()
  }

  abort(): void {
    if (this.over) return
    this.over = true
    this.connection?.destroy()
  }

  release(): void {
    if (this.over) return
    this.resume()
    this.over = true
    this.connection?.linger()
  }

  /** One read may hold several pieces of the body, and the handler may abort between two. */
  bytes(chunk: Uint8Array): void {
    if (!this.over) this.handler.bytes(chunk)
  }

  finished(): void {
    if (this.over) return
    this.over = true
    this.handler.end()
  }

  broken(message: string): void {
    this.connection?.destroy()
    this.fail({ kind: 'unreadable', message, unsent: false })
  }

  fail(fault: TransportFault): void {
    if (this.over) return
    this.over = true
    this.handler.fault(fault)
  }
}

const noHead = { text: '', bytes: Buffer.alloc(0) }

type Phase = 'connecting' | 'idle' | 'head' | 'body' | 'closed'

export class Connection implements Peer {
  readonly destination: Destination
  idleSince = 0
  /** The connection was opened for a call with `onKept: 'avoid'`. */
  readonly isApart: boolean
  private readonly owner: ConnectionOwner
  private socket: VendorConnection | null = null
  private exchange: DialExchange | null
  private phase: Phase = 'connecting'
  /** Calls begun on this connection; the first cannot fail because the connection was stale. */
  private calls = 0
  private readonly output = new WriteQueue()
  private lastHead = noHead
  private readonly heads = new HeadReader()
  private interims = 0
  private head: ReplyHead | null = null
  private decoder: BodyDecoder | null = null
  private content: ContentDecoder | null = null
  private timer: ReturnType<typeof setTimeout> | null = null
  private finished = false
  /** A read is being processed: the bytes at hand may still end the reply. */
  private reading = false
  private lingers = false

  constructor(exchange: DialExchange, owner: ConnectionOwner) {
    this.destination = exchange.call.destination
    this.isApart = exchange.call.onKept === 'avoid'
    this.exchange = exchange
    this.owner = owner
    exchange.connection = this
    const fault = lateFault(this.destination)
    this.timer = setTimeout(() => this.fail(fault), exchange.call.connectMs)
  }

  greeting(socket: VendorConnection): void {
    if (this.phase === 'closed') socket.terminate()
    else this.socket = socket
  }

  opened(socket: VendorConnection): void {
    this.socket = socket
    this.stopTimer()
    if (this.phase === 'closed') {
      socket.terminate()
      return
    }
    socket.setNoDelay(true)
    const exchange = this.exchange
    this.exchange = null
    this.phase = 'idle'
    if (exchange === null || exchange.over) this.destroy()
    else {
      exchange.connectedMs = performance.now()
      this.send(exchange)
    }
  }

  /** Sends a call on an idle connection. */
  send(exchange: DialExchange): void {
    this.exchange = exchange
    exchange.connection = this
    this.phase = 'head'
    this.calls++
    this.finished = false
    this.interims = 0
    this.lingers = false
    const { socket, output } = this
    if (exchange.paused) socket?.pause()
    const { destination, segments } = exchange.call
    let length = 0
    for (const segment of segments) length += sizeOf(segment)
    const { head } = destination
    if (socket !== null && head.length + length <= joinedBytes) {
      // Most calls on one connection have the same head, so its bytes are kept.
      if (head !== this.lastHead.text)
        this.lastHead = { text: head, bytes: Buffer.from(head, 'latin1') }
      this.written(output.writeJoined(socket, this.lastHead.bytes, length, segments))
      return
    }
    output.push(Buffer.from(`${head}${length}${headEnd}`, 'latin1'))
    for (const segment of segments) output.push(segment)
    this.flush()
  }

  /** Writes what the socket takes; the rest goes when it drains. */
  flush(): void {
    const { socket, output } = this
    if (socket === null || output.waitingBytes === 0) return
    this.written(output.flush(socket))
  }

  private written(part: 'all' | 'some' | 'closed'): void {
    // The write itself may have revealed that the connection is gone.
    if (part === 'closed' || this.phase === 'closed') return
    this.stopTimer()
    if (part === 'all') return
    const message = 'the vendor stopped reading the request'
    const fault: TransportFault = { kind: 'timeout', message, unsent: false }
    this.timer = setTimeout(() => this.fail(fault), this.exchange?.call.sendIdleMs ?? 0)
  }

  received(chunk: Buffer): void {
    if (this.phase === 'idle') {
      // Unsolicited bytes: they must not become the reply of the next call.
      this.destroy()
      return
    }
    this.reading = true
    try {
      let at = 0
      while (at < chunk.length && this.phase !== 'closed') {
        if (this.phase === 'body') at += this.takeBody(chunk, at)
        else if (this.phase === 'head') {
          this.takeHead(chunk, at)
          at = this.heads.next
        } else break
      }
    } catch (error) {
      if (!(error instanceof HeadError || error instanceof BodyError)) throw error
      this.fail({ kind: 'unreadable', message: error.message, unsent: false })
    } finally {
      this.reading = false
    }
    if (this.lingers) this.linger()
  }

  /** The rest of the reply is not needed: the connection is kept if the reply ends soon, and closed if not. */
  linger(): void {
    this.lingers = true
    if (this.phase !== 'body' || this.reading) return
    // The vendor has not taken the whole request yet: such a connection cannot be kept.
    if (this.output.waitingBytes > 0) this.destroy()
    else this.timer ??= setTimeout(() => this.destroy(), lingerMs)
  }

  ended(): void {
    if (this.phase === 'body' && this.head?.framing.kind === 'until-close') {
      this.complete()
      this.destroy()
    } else this.lost('the vendor closed the connection')
  }

  lost(
    reason = 'the connection to the vendor was reset',
    kind: 'proxy' | 'unreachable' = 'unreachable',
  ): void {
    if (this.phase === 'closed') return
    const phase = this.phase
    const exchange = this.exchange
    this.close()
    if (exchange === null || exchange.over) return
    if (phase === 'connecting') exchange.fail({ kind, message: reason, unsent: true })
    else if (phase === 'body') exchange.fail({ kind: 'cut', message: reason, unsent: false })
    // A kept-alive connection died before the first byte of the reply.
    else if (this.calls > 1 && !this.heads.begun && mayResend(exchange)) {
      exchange.resent = true
      exchange.connection = null
      this.owner.resend(exchange)
    } else exchange.fail({ kind: 'reset', message: reason, unsent: false })
  }

  pause(): void {
    if (this.phase === 'head' || this.phase === 'body') this.socket?.pause()
  }

  resume(): void {
    this.socket?.resume()
  }

  destroy(): void {
    const socket = this.socket
    this.close()
    socket?.terminate()
  }

  private close(): void {
    if (this.phase === 'closed') return
    this.phase = 'closed'
    this.stopTimer()
    this.output.clear()
    this.content?.abort()
    this.forget()
    this.owner.closed(this)
  }

  /** Drops references to the last request and reply, which a kept-alive connection must not hold in memory. */
  private forget(): void {
    this.exchange = null
    this.head = null
    this.decoder = null
    this.content = null
  }

  private fail(fault: TransportFault): void {
    const exchange = this.exchange
    this.destroy()
    exchange?.fail(fault)
  }

  private takeHead(chunk: Buffer, from: number): void {
    const head = this.heads.take(chunk, from)
    if (head === null) return
    if (head.status === 101)
      throw new HeadError('the vendor switched protocols without being asked')
    if (head.status < 200) {
      // Interim replies (100, 103) precede the real one.
      if (++this.interims > maxInterims)
        throw new HeadError('the vendor sent too many interim replies (1xx)')
    } else this.begin(head, this.heads.next < chunk.length)
  }

  private begin(head: ReplyHead, more: boolean): void {
    const exchange = this.exchange
    if (exchange === null) return
    if (isProxyRefusal(this.destination, head.status)) {
      this.fail({ kind: 'proxy', message: refusedCredentials, unsent: true })
      return
    }
    this.head = head
    this.phase = 'body'
    this.content = head.contentEncoding === null ? null : decoderFor(head.contentEncoding, exchange)
    const decoder = new BodyDecoder(head.framing, this.content ?? exchange)
    this.decoder = decoder
    if (decoder.done && more) throw new BodyError('the reply is longer than its framing says')
    exchange.handler.head(head.status, head.header)
    if (decoder.done && this.phase === 'body') this.complete()
  }

  private takeBody(chunk: Buffer, from: number): number {
    const decoder = this.decoder
    if (decoder === null) return chunk.length - from
    const taken = decoder.push(chunk, from)
    if (this.phase !== 'body') return chunk.length - from
    if (decoder.done) {
      if (from + taken < chunk.length)
        throw new BodyError('the reply is longer than its framing says')
      this.complete()
    }
    return taken
  }

  /** The reply is complete: the connection is freed before the handler is called, which may use it at once. */
  private complete(): void {
    if (this.finished) return
    this.finished = true
    if (this.lingers) this.stopTimer()
    const exchange = this.exchange
    const content = this.content
    // A reply that arrived before the whole request was sent leaves the connection in an unknown state.
    const reusable = this.head?.keepAlive === true && this.output.waitingBytes === 0
    this.forget()
    if (exchange?.paused) this.socket?.resume()
    if (reusable) {
      this.phase = 'idle'
      this.owner.idle(this)
    } else this.destroy()
    if (exchange === null) return
    exchange.connection = null
    if (content !== null) content.finish()
    else exchange.finished()
  }

  private stopTimer(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
  }
}

/** The fault where no connection was opened in time. */
function lateFault({ proxy }: Destination): TransportFault {
  return proxy === undefined
    ? {
        kind: 'unreachable',
        message: 'the vendor did not accept a connection in time',
        unsent: true,
      }
    : {
        kind: 'proxy',
        message: 'the proxy did not open a tunnel to the vendor in time',
        unsent: true,
      }
}

function mayResend({ call: { onKept = 'resend' }, resent }: DialExchange): boolean {
  return onKept === 'resend' && !resent
}
