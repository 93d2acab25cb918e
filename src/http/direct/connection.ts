// One client connection: its requests are answered one after another.

import { Buffer } from 'node:buffer'
import type { Fields, SocketLink } from '../../operations/operation.ts'
import type { ClientConnection } from '../admission.ts'
import type { Answered } from '../handle.ts'
import type { HttpReply } from '../reply.ts'
import { idleSeconds } from '../respond.ts'
import { type RequestHead, readHead } from './head.ts'
import { Output } from './output.ts'
import { ReadAhead } from './read-ahead.ts'
import { DirectRequest } from './request.ts'
import { Tunnel } from './tunnel.ts'
import { abandon, type Piped, writeReply } from './write-reply.ts'

export type ClientSocket = Bun.Socket<DirectConnection>
/** Answers one request; not called for requests that the runtime's server answers. */
export type DirectHandle = (
  request: DirectRequest,
  connection: ClientConnection,
) => Answered | Promise<Answered>

/** What occupies a connection: answering a request here, or passing bytes to and from the runtime's server. */
export type Work = 'answering' | 'tunnelling'

/** What a connection needs of the listener it belongs to. */
export interface ConnectionOwner {
  /** The port of this process's runtime server, which answers all requests that are not plain. */
  readonly serverPort: number
  /** Whether each reply ends its connection from now on. */
  readonly leaving: boolean
  /** null: the runtime's server answers the request. */
  handleFor(head: RequestHead): DirectHandle | null
  /** The reply to a head that the runtime's server refused with this status; 408: it did not arrive in time. */
  unreadable(status: number): HttpReply
  /** Reports a fault in the gateway itself; returns the reply for the client. */
  crashed(error: unknown): HttpReply
  /** A connection from this local port to the runtime's server carries the requests of the client at `address`. */
  tunnelled(localPort: number, address: string | null): void
  tunnelClosed(localPort: number): void
  closed(connection: DirectConnection): void
}

/** How often `sweep` is called. */
export const sweepMs = 5_000
const usualSweeps = Math.ceil((idleSeconds * 1_000) / sweepMs)
/** A head takes one packet or a few: a client that sends it byte by byte must not keep its connection forever. */
const mostHeadSweeps = 3
const nothing = Buffer.alloc(0)

export class DirectConnection implements ClientConnection {
  private readonly socket: ClientSocket
  private readonly owner: ConnectionOwner
  private readonly output: Output
  /** Received bytes behind the current request, or an incomplete head of the next one. */
  private readonly ahead: ReadAhead
  private request: DirectRequest | null = null
  /** The whole reply has been handed to `output`. */
  private replied = false
  private closes = false
  private isEnding = false
  private isClosed = false
  private tunnel: Tunnel | null = null
  private piped: Piped | null = null
  /** Sweeps since the last activity, and how many are allowed; 0: any number. */
  private idleSweeps = 0
  private mostSweeps = usualSweeps
  /** Sweeps since the first bytes of a head whose end has not arrived; null: there is none. */
  private headSweeps: number | null = null
  private known: string | null = null

  constructor(socket: ClientSocket, owner: ConnectionOwner) {
    this.socket = socket
    this.owner = owner
    this.output = new Output(socket)
    this.ahead = new ReadAhead(socket, () => {
      if (this.isClosed || this.request !== null || this.tunnel?.isResting === false) return
      this.take(nothing)
    })
  }

  get address(): string | null {
    // The runtime has no address for a connection that has closed already, although its types promise one.
    this.known ??= (this.socket.remoteAddress as string | undefined) ?? null
    return this.known
  }

  /** `tunnelling`: bytes from the runtime's server are on their way, or may come, to the client. */
  get work(): Work | null {
    if (this.request !== null) return 'answering'
    return this.tunnel?.isOver === false ? 'tunnelling' : null
  }

  setIdleSeconds(seconds: number): void {
    this.idleSweeps = 0
    this.mostSweeps = Math.ceil((seconds * 1_000) / sweepMs)
    if (seconds * 1_000 >= sweepMs || seconds === 0) return
    const { waitingBytes } = this.output
    setTimeout(() => {
      if (this.output.waitingBytes === waitingBytes) this.terminate()
    }, seconds * 1_000)
  }

  /** This listener has no WebSockets: upgrade requests go to the runtime's server. */
  upgrade(_: SocketLink, __: Readonly<Fields>): boolean {
    return false
  }

  received(chunk: Buffer): void {
    // The rest of a request that has been answered may be endless.
    if (!this.replied) this.idleSweeps = 0
    if (this.isEnding) return
    if (this.tunnel?.isResting === false) this.tunnel.fromClient(chunk)
    else if (this.ahead.isWaiting) this.ahead.add(chunk)
    else if (this.request === null) this.take(chunk)
    else this.takeMore(this.request, chunk)
  }

  drained(): void {
    this.idleSweeps = 0
    if (this.tunnel?.isResting === false) {
      this.tunnel.clientDrained()
      return
    }
    this.output.drained()
    if (this.replied) this.settle()
  }

  closed(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.output.closed()
    this.request?.leave()
    this.tunnel?.clientClosed()
    this.piped?.leave()
    this.owner.closed(this)
  }

  sweep(): void {
    if (this.headSweeps !== null && ++this.headSweeps > mostHeadSweeps) {
      this.headSweeps = null
      this.closes = true
      this.reply(this.owner.unreadable(408))
      return
    }
    const { tunnel } = this
    if (tunnel?.isResting === false) {
      // The runtime's server may be done with a client that does not read: nobody else would end the connection.
      if (!tunnel.isStalled) this.idleSweeps = 0
      else if (++this.idleSweeps > usualSweeps) this.terminate()
      return
    }
    if (this.mostSweeps === 0 || ++this.idleSweeps <= this.mostSweeps) return
    if (this.request !== null) this.terminate()
    else this.end()
  }

  /** Closes the connection where no request is under way on it; returns whether it did. */
  closeIdle(): boolean {
    const isIdle =
      this.request === null && !this.ahead.isWaiting && this.tunnel?.isResting !== false
    if (isIdle) this.end()
    return isIdle
  }

  terminate(): void {
    this.socket.terminate()
  }

  private take(chunk: Buffer): void {
    const bytes = this.ahead.take(chunk)
    const head = readHead(bytes)
    if (head === 'more') {
      this.ahead.bytes = bytes
      if (bytes.length > 0) this.headSweeps ??= 0
      return
    }
    this.headSweeps = null
    const handle = head === 'unusual' ? null : this.owner.handleFor(head)
    if (head === 'unusual' || handle === null) {
      this.closes = head !== 'unusual' && head.closes
      this.tunnel ??= this.openTunnel()
      this.tunnel.begin(bytes, head === 'unusual' ? null : head.headBytes + head.bodyBytes)
    } else {
      const request = new DirectRequest(head, bytes, head.headBytes)
      // Only the bytes behind this request are kept.
      const end = head.headBytes + head.bodyBytes
      if (bytes.length > end) this.ahead.set(bytes.subarray(end))
      this.answer(request, handle)
    }
  }

  private openTunnel(): Tunnel {
    const { owner, socket } = this
    return new Tunnel(socket, owner.serverPort, {
      opened: (localPort) => owner.tunnelled(localPort, this.address),
      closed: (localPort) => owner.tunnelClosed(localPort),
      rests: (ahead) => {
        this.ahead.set(ahead)
        this.idleSweeps = 0
        this.mostSweeps = usualSweeps
        if (this.closes || owner.leaving) this.end()
        else this.ahead.next()
      },
      gone: () => {
        this.tunnel = null
      },
      unreadable: (status) => {
        this.closes = true
        this.reply(owner.unreadable(status))
      },
    })
  }

  /** Takes the rest of the body, and bytes of later requests behind it. */
  private takeMore(request: DirectRequest, chunk: Buffer): void {
    const taken = request.arrived === null ? request.push(chunk) : 0
    if (taken < chunk.length) this.ahead.add(chunk.subarray(taken))
    if (this.replied) this.settle()
  }

  private answer(request: DirectRequest, handle: DirectHandle): void {
    this.request = request
    this.replied = false
    this.closes = request.headers.closes
    this.idleSweeps = 0
    this.mostSweeps = usualSweeps
    try {
      const answered = handle(request, this)
      if (answered instanceof Promise) answered.then(this.reply, this.crash)
      else this.reply(answered)
    } catch (error) {
      this.crash(error)
    }
  }

  private readonly reply = (reply: Answered): void => {
    if (reply === undefined) {
      this.terminate()
      return
    }
    if (this.isClosed) {
      abandon(reply)
      return
    }
    // Closed only after the whole request has arrived: bytes sent to a closed connection reset it before the reply is
    // read.
    if (this.owner.leaving) this.closes = true
    try {
      this.piped = writeReply(reply, this.output, this.closes)
      if (this.piped === null) this.finished(true)
      // The connection is reset, so that the client does not take an incomplete reply for a whole one.
      else this.piped.done.then(this.finished, () => this.terminate())
    } catch (error) {
      abandon(reply)
      this.crash(error)
    }
  }

  private readonly crash = (error: unknown): void => this.reply(this.owner.crashed(error))

  /** The whole reply is handed over; the rest of the request's body is ignored. */
  private readonly finished = (isWhole: boolean): void => {
    this.piped = null
    if (this.isClosed || !isWhole) return
    this.replied = true
    if (this.request?.arrived === null) this.request.discard()
    // From here on, only the sweep cuts off a client that stops reading.
    this.mostSweeps = usualSweeps
    this.settle()
  }

  /** Once the reply is sent and the request received whole: ends the connection, or takes the next request. */
  private settle(): void {
    if (this.output.waitingBytes > 0 || this.request?.arrived === null) return
    this.request = null
    this.replied = false
    if (this.closes) {
      this.end()
      return
    }
    this.ahead.next()
  }

  private end(): void {
    this.isEnding = true
    this.socket.end()
  }
}
