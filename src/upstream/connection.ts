// One HTTP/1.1 connection to a vendor: sends a request, pushes its reply, and says when it may be used again.

import { Buffer } from 'node:buffer'
import { checkServerIdentity } from 'node:tls'
import type { Socket } from 'bun'
import type { Payload, Segment } from '../vendors/media.ts'
import type { Exchange, ReplyHandler, TransportFault } from '../vendors/transport.ts'
import { BodyDecoder, BodyError } from './body.ts'
import { type ContentDecoder, decoderFor } from './content.ts'
import { HeadError, parseHead, type ReplyHead } from './head.ts'

/** Where a call goes: worked out once per channel and model, not per request. */
export interface Destination {
  /** Connections are shared by destinations of the same origin. */
  readonly origin: string
  readonly host: string
  /** The address to connect to, where it was looked up and judged before; the name is then only proved. */
  readonly address?: string
  readonly port: number
  readonly tls: boolean
  /** Request line and headers, up to and including `content-length: `. */
  readonly head: string
}

export interface DialCall {
  readonly destination: Destination
  /** The request's body, in order; kept until the first byte of the reply. */
  readonly segments: readonly Segment[]
  readonly connectMs: number
  readonly sendIdleMs: number
  /**
   * A kept connection may have died unseen, and whether the vendor had the call first is then not known. `resend` (the
   * default): it is sent again on a fresh one. `fail`: it is not. `avoid`: it goes on a fresh one from the start.
   */
  readonly onKept?: 'resend' | 'fail' | 'avoid' | undefined
}

/** What a connection tells the pool it belongs to. */
export interface ConnectionOwner {
  idle(connection: Connection): void
  closed(connection: Connection): void
  /** A kept connection had died before it could carry the call: it may be sent once more, on a fresh one. */
  resend(exchange: DialExchange): void
}

const maxHeadBytes = 65_536
/** The end of a reply that nobody reads any more is waited for this long. */
const lingerMs = 1_000
const maxInterims = 16
/** Up to this size a request goes out in one write with its head. */
const joinedBodyBytes = 32_768
/** Of a payload, this much is read at once. */
const stretchBytes = 262_144
const headEnd = Buffer.from('\r\n\r\n')
const empty = Buffer.alloc(0)
/** Every connection's: what a socket did not take of it is read again. */
const scratch = Buffer.allocUnsafeSlow(stretchBytes)

/** One call on its way; what the relay holds of it. */
export class DialExchange implements Exchange {
  readonly call: DialCall
  readonly handler: ReplyHandler
  connection: Connection | null = null
  resent = false
  /** The handler is done: it aborted, or has seen the end. */
  over = false
  paused = false

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

  /** One piece of the connection's may hold several of the body's: the handler may abort between two. */
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

function stretchOf(payload: Payload, from: number): Uint8Array {
  return payload.read(from, Math.min(payload.size, from + stretchBytes), scratch)
}

function sizeOf(segment: Segment): number {
  return segment instanceof Uint8Array ? segment.length : segment.size
}

type Phase = 'connecting' | 'idle' | 'head' | 'body' | 'closed'

export class Connection {
  readonly origin: string
  idleSince = 0
  private readonly owner: ConnectionOwner
  private readonly destination: Destination
  private socket: Socket<Connection> | null = null
  private exchange: DialExchange | null
  private phase: Phase = 'connecting'
  /** Calls begun on this connection; the first cannot have met a stale one. */
  private calls = 0
  private pending: Segment[] = []
  private pendingOffset = 0
  private carry: Buffer = empty
  private interims = 0
  private head: ReplyHead | null = null
  private decoder: BodyDecoder | null = null
  private content: ContentDecoder | null = null
  private timer: ReturnType<typeof setTimeout> | null = null
  private finished = false
  /** Bytes are being read: what of the reply is here may yet end it. */
  private reading = false
  private lingers = false

  constructor(destination: Destination, exchange: DialExchange, owner: ConnectionOwner) {
    this.origin = destination.origin
    this.destination = destination
    this.exchange = exchange
    this.owner = owner
    exchange.connection = this
    this.timer = setTimeout(() => this.connectTimedOut(), exchange.call.connectMs)
  }

  /** The handshake begins: one that stalls must be closed like any other connection. */
  greeting(socket: Socket<Connection>): void {
    if (this.phase === 'closed') socket.terminate()
    else this.socket = socket
  }

  /** The connection is up (and, with TLS, the vendor proved its name). */
  opened(socket: Socket<Connection>): void {
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
    else this.send(exchange)
  }

  /** Judges the certificate: no connection is used whose name or chain does not hold. */
  secured(socket: Socket<Connection>, authorized: boolean, error: Error | null): void {
    if (!authorized || error !== null) {
      this.refuse(`TLS failed: ${error?.message ?? 'the certificate is not trusted'}`)
      socket.terminate()
      return
    }
    const misnamed = checkServerIdentity(this.destination.host, socket.getPeerCertificate())
    if (misnamed !== undefined) {
      this.refuse(`TLS failed: ${misnamed.message}`)
      socket.terminate()
      return
    }
    this.opened(socket)
  }

  /** Sends a call on an idle connection. */
  send(exchange: DialExchange): void {
    this.exchange = exchange
    exchange.connection = this
    this.phase = 'head'
    this.calls++
    this.finished = false
    this.carry = empty
    this.interims = 0
    this.lingers = false
    const { destination, segments } = exchange.call
    let length = 0
    for (const segment of segments) length += sizeOf(segment)
    const head = `${destination.head}${length}\r\n\r\n`
    if (length <= joinedBodyBytes) this.pending = [join(head, segments, length)]
    else this.pending = [Buffer.from(head, 'latin1'), ...segments]
    this.pendingOffset = 0
    if (exchange.paused) this.socket?.pause()
    this.flush()
  }

  /** Writes what the socket takes; the rest goes when it drains. */
  flush(): void {
    const { socket } = this
    if (socket === null || this.pending.length === 0) return
    while (this.pending.length > 0) {
      const segment = this.pending[0] ?? empty
      const isHere = segment instanceof Uint8Array
      const piece = isHere ? segment : stretchOf(segment, this.pendingOffset)
      const from = isHere ? this.pendingOffset : 0
      // The length must be said: the runtime's default does not take the offset off it.
      const wrote = socket.write(piece, from, piece.length - from)
      if (wrote < 0 || this.phase === 'closed') return
      this.pendingOffset += wrote
      if (from + wrote < piece.length) {
        this.restartTimer(this.exchange?.call.sendIdleMs ?? 0, () => this.sendTimedOut())
        return
      }
      if (this.pendingOffset < sizeOf(segment)) continue
      this.pending.shift()
      this.pendingOffset = 0
    }
    this.stopTimer()
  }

  received(chunk: Buffer): void {
    if (this.phase === 'idle') {
      // Bytes nobody asked for: whoever sent them must not answer the next call.
      this.destroy()
      return
    }
    this.reading = true
    try {
      let at = 0
      while (at < chunk.length && this.phase !== 'closed') {
        if (this.phase === 'body') at += this.takeBody(chunk, at)
        else if (this.phase === 'head') at = this.takeHead(chunk, at)
        else break
      }
    } catch (error) {
      if (!(error instanceof HeadError || error instanceof BodyError)) throw error
      this.broken(error.message)
    } finally {
      this.reading = false
    }
    if (this.lingers) this.linger()
  }

  /** Nobody reads the rest of the reply: the connection is kept if that soon ends, and closed if not. */
  linger(): void {
    this.lingers = true
    if (this.phase !== 'body' || this.reading) return
    // Of what was sent before the vendor had taken its request nothing may be kept.
    if (this.pending.length > 0) this.destroy()
    else this.timer ??= setTimeout(() => this.destroy(), lingerMs)
  }

  /** The vendor closed its side cleanly. */
  ended(): void {
    if (this.phase === 'body' && this.head?.framing.kind === 'until-close') {
      this.complete()
      this.destroy()
    } else this.lost('the vendor closed the connection')
  }

  /** The connection is gone, for whatever reason. */
  lost(reason: string): void {
    if (this.phase === 'closed') return
    const phase = this.phase
    const exchange = this.exchange
    this.close()
    if (exchange === null || exchange.over) return
    if (phase === 'connecting')
      exchange.fail({ kind: 'unreachable', message: reason, unsent: true })
    else if (phase === 'body') exchange.fail({ kind: 'cut', message: reason, unsent: false })
    else if (this.mayResend(exchange)) {
      exchange.resent = true
      exchange.connection = null
      this.owner.resend(exchange)
    } else exchange.fail({ kind: 'reset', message: reason, unsent: false })
  }

  /** A kept connection that died before a byte of the reply. */
  private mayResend({ call, resent }: DialExchange): boolean {
    const allowed = call.onKept === undefined || call.onKept === 'resend'
    return allowed && this.calls > 1 && this.carry.length === 0 && !resent
  }

  refuse(reason: string): void {
    const exchange = this.exchange
    this.close()
    exchange?.fail({ kind: 'unreachable', message: reason, unsent: true })
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
    this.pending = []
    this.content?.abort()
    this.content = null
    this.owner.closed(this)
  }

  private broken(message: string): void {
    const exchange = this.exchange
    this.destroy()
    exchange?.fail({ kind: 'unreadable', message, unsent: false })
  }

  /** Gathers the head, which may be cut anywhere; returns where the next bytes stand. */
  private takeHead(chunk: Buffer, from: number): number {
    const whole =
      this.carry.length === 0 && from === 0
        ? chunk
        : Buffer.concat([this.carry, chunk.subarray(from)])
    const end = whole.indexOf(headEnd)
    if (end > maxHeadBytes || (end === -1 && whole.length > maxHeadBytes)) {
      throw new HeadError('the reply head is too long')
    }
    if (end === -1) {
      this.carry = whole
      return chunk.length
    }
    const head = parseHead(whole, end)
    const next = chunk.length - (whole.length - end - headEnd.length)
    this.carry = empty
    if (head.status === 101) throw new HeadError('the vendor switched protocols unasked')
    if (head.status < 200) {
      // Interim replies (100, 103) announce the real one.
      if (++this.interims > maxInterims) throw new HeadError('the vendor only announces its reply')
    } else this.begin(head, next < chunk.length)
    return next
  }

  private begin(head: ReplyHead, more: boolean): void {
    const exchange = this.exchange
    if (exchange === null) return
    this.head = head
    this.phase = 'body'
    this.content = head.contentEncoding === null ? null : decoderFor(head.contentEncoding, exchange)
    this.decoder = new BodyDecoder(head.framing, this.content ?? exchange)
    if (this.decoder.done && more) throw new BodyError('the reply is longer than its framing says')
    exchange.handler.head(head.status, head.header)
    if (this.decoder.done && this.phase === 'body') this.complete()
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

  /** The reply is whole: the connection is free before the handler is called, so it may be used at once. */
  private complete(): void {
    if (this.finished) return
    this.finished = true
    if (this.lingers) this.stopTimer()
    const exchange = this.exchange
    const content = this.content
    // A reply that came before the request was taken whole leaves the connection in doubt.
    const reusable = this.head?.keepAlive === true && this.pending.length === 0
    this.exchange = null
    this.content = null
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

  private connectTimedOut(): void {
    this.refuse('the vendor did not accept a connection in time')
    this.socket?.terminate()
  }

  private sendTimedOut(): void {
    const exchange = this.exchange
    this.destroy()
    exchange?.fail({
      kind: 'timeout',
      message: 'the vendor stopped reading the request',
      unsent: false,
    })
  }

  private restartTimer(ms: number, action: () => void): void {
    this.stopTimer()
    this.timer = setTimeout(action, ms)
  }

  private stopTimer(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
  }
}

function join(head: string, segments: readonly Segment[], length: number): Buffer {
  const whole = Buffer.allocUnsafe(head.length + length)
  let at = whole.write(head, 0, 'latin1')
  for (const segment of segments) {
    const bytes = segment instanceof Uint8Array ? segment : segment.read(0, segment.size)
    whole.set(bytes, at)
    at += bytes.length
  }
  return whole
}
