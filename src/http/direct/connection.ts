// One client's connection: its requests one after another, each answered before the next is looked at.

import { Buffer } from 'node:buffer'
import type { Fields, SocketLink } from '../../operations/operation.ts'
import type { ClientConnection } from '../admission.ts'
import type { Answered } from '../handle.ts'
import type { HttpReply } from '../reply.ts'
import { idleSeconds } from '../respond.ts'
import { type RequestHead, readHead } from './head.ts'
import { Output } from './output.ts'
import { DirectRequest } from './request.ts'
import { mostAheadBytes, Tunnel } from './tunnel.ts'
import { abandon, type Piped, writeReply } from './write-reply.ts'

export type ClientSocket = Bun.Socket<DirectConnection>
/** Answers one request; never called for what the runtime's server is to answer. */
export type DirectHandle = (
  request: DirectRequest,
  connection: ClientConnection,
) => Answered | Promise<Answered>

/** What a connection is at. */
export type Work = 'answering' | 'tunnelling'

/** What a connection tells the listener it belongs to. */
export interface ConnectionOwner {
  /** Of the runtime's server of this process, which answers whatever is no plain request. */
  readonly serverPort: number
  /** A reply ends its connection from now on. */
  readonly leaving: boolean
  /** null: the runtime's server is to answer it. */
  handleFor(head: RequestHead): DirectHandle | null
  /** A mistake in the gateway; returns what the client is told. */
  crashed(error: unknown): HttpReply
  /** A connection to the runtime's server stands for that of a client at `address`. */
  tunnelled(localPort: number, address: string | null): void
  tunnelClosed(localPort: number): void
  closed(connection: DirectConnection): void
}

/** How often `sweep` is called. */
export const sweepMs = 5_000
const usualSweeps = Math.ceil((idleSeconds * 1_000) / sweepMs)
const nothing = Buffer.alloc(0)

export class DirectConnection implements ClientConnection {
  private readonly socket: ClientSocket
  private readonly owner: ConnectionOwner
  private readonly output: Output
  /** What has come of the next head, and behind the request that is answered. */
  private ahead: Buffer = nothing
  private request: DirectRequest | null = null
  /** The reply is handed over whole. */
  private replied = false
  private closes = false
  private isEnding = false
  private paused = false
  private isClosed = false
  private tunnel: Tunnel | null = null
  private piped: Piped | null = null
  /** Sweeps since anything moved, and how many of them there may be; 0: any number. */
  private idleSweeps = 0
  private mostSweeps = usualSweeps
  private known: string | null = null

  constructor(socket: ClientSocket, owner: ConnectionOwner) {
    this.socket = socket
    this.owner = owner
    this.output = new Output(socket)
  }

  get address(): string | null {
    // The runtime knows none of a connection whose other end is gone already, whatever its types say.
    this.known ??= (this.socket.remoteAddress as string | undefined) ?? null
    return this.known
  }

  /** `tunnelling`: what the runtime's server sends, or has sent, is on its way to the client. */
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

  /** Sockets are the runtime's. */
  upgrade(_: SocketLink, __: Readonly<Fields>): boolean {
    return false
  }

  received(chunk: Buffer): void {
    this.idleSweeps = 0
    if (this.isEnding) return
    if (this.tunnel?.isResting === false) this.tunnel.fromClient(chunk)
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
    if (this.tunnel?.isResting === false || this.mostSweeps === 0) return
    if (++this.idleSweeps <= this.mostSweeps) return
    if (this.request !== null) this.terminate()
    else this.end()
  }

  /** Nobody is about to send anything. */
  closeIdle(): void {
    if (this.request === null && this.tunnel?.isResting !== false) this.end()
  }

  terminate(): void {
    this.socket.terminate()
  }

  private take(chunk: Buffer): void {
    const bytes = this.ahead.length === 0 ? chunk : Buffer.concat([this.ahead, chunk])
    this.ahead = nothing
    const head = readHead(bytes)
    if (head === 'more') {
      this.ahead = bytes
      return
    }
    const handle = head === 'unusual' ? null : this.owner.handleFor(head)
    if (head === 'unusual' || handle === null) {
      this.closes = head !== 'unusual' && head.closes
      this.tunnel ??= this.openTunnel()
      this.tunnel.begin(bytes, head === 'unusual' ? null : head.headBytes + head.bodyBytes)
    } else {
      const request = new DirectRequest(head, bytes, head.headBytes)
      // What is no longer needed of these bytes is not kept.
      const end = head.headBytes + head.bodyBytes
      if (bytes.length > end) this.ahead = bytes.subarray(end)
      this.answer(request, handle)
    }
  }

  private openTunnel(): Tunnel {
    const { owner, socket } = this
    return new Tunnel(socket, owner.serverPort, {
      opened: (localPort) => owner.tunnelled(localPort, this.address),
      closed: (localPort) => owner.tunnelClosed(localPort),
      rests: (ahead) => {
        this.ahead = ahead
        this.idleSweeps = 0
        this.mostSweeps = usualSweeps
        if (this.closes || owner.leaving) this.end()
        else if (ahead.length > 0) queueMicrotask(this.takeAhead)
      },
      gone: () => {
        this.tunnel = null
      },
    })
  }

  /** The rest of the body, and what may follow it. */
  private takeMore(request: DirectRequest, chunk: Buffer): void {
    const taken = request.arrived === null ? request.push(chunk) : 0
    if (taken < chunk.length) {
      this.ahead = Buffer.concat([this.ahead, chunk.subarray(taken)])
      if (this.ahead.length > mostAheadBytes && !this.paused) {
        this.paused = true
        this.socket.pause()
      }
    }
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
    // Once the request has come whole: what is sent to a closed connection resets it before the reply is read.
    if (this.owner.leaving) this.closes = true
    try {
      this.piped = writeReply(reply, this.output, this.closes)
      if (this.piped === null) this.finished(true)
      // The client must not take what it has of a broken one for all.
      else this.piped.done.then(this.finished, () => this.terminate())
    } catch (error) {
      this.crash(error)
    }
  }

  private readonly crash = (error: unknown): void => this.reply(this.owner.crashed(error))

  /** All of the reply is handed over; what the client still sends of its request is not looked at. */
  private readonly finished = (isWhole: boolean): void => {
    this.piped = null
    if (this.isClosed || !isWhole) return
    this.replied = true
    if (this.request?.arrived === null) this.request.discard()
    // From here on nobody but the sweep cuts off a client that takes nothing.
    this.mostSweeps = usualSweeps
    this.settle()
  }

  /** The reply has left: the connection ends, or the next request is looked at once this one has come whole. */
  private settle(): void {
    if (this.output.waitingBytes > 0 || this.request?.arrived === null) return
    this.request = null
    this.replied = false
    if (this.closes) {
      this.end()
      return
    }
    if (this.paused) {
      this.paused = false
      this.socket.resume()
    }
    if (this.ahead.length > 0) queueMicrotask(this.takeAhead)
  }

  private end(): void {
    this.isEnding = true
    this.socket.end()
  }

  private readonly takeAhead = (): void => {
    if (this.isClosed || this.request !== null || this.tunnel?.isResting === false) return
    this.take(nothing)
  }
}
