// Passes requests of a client's connection to this process's runtime server, and its replies back, byte for byte.

import { Buffer } from 'node:buffer'
import { BodyError } from '../../upstream/body.ts'
import { HeadError } from '../../upstream/head.ts'
import { WriteQueue } from '../../upstream/write-queue.ts'
import { ReplyEnd } from './reply-end.ts'

/** One end of the tunnel. */
type End = Pick<Bun.Socket, 'write' | 'pause' | 'resume' | 'end' | 'terminate'>
type ServerEnd = Bun.Socket<Tunnel>

interface TunnelOwner {
  /** Called with the local port of the tunnel's connection to the runtime's server. */
  opened(localPort: number): void
  closed(localPort: number): void
  /** The reply to the one request has been sent, and the tunnel is idle; `ahead`: bytes received behind the request. */
  rests(ahead: Buffer): void
  /** The server closed its connection while the tunnel was idle. */
  gone(): void
  /** The server could not read the request, and refused it with this status; nothing was sent to the client. */
  unreadable(status: number): void
}

/** Most bytes read ahead from a client that sends more while its request is answered. */
export const mostAheadBytes = 65_536
const nothing = Buffer.alloc(0)
/** How the runtime's server refuses what it cannot read: without a body, and without a field of ours. */
const bareRefusal = /^HTTP\/1\.1 ([45]\d\d) [\w ]*\r\nConnection: close\r\n\r\n$/
const mostBareBytes = 100

/** The status of a bare refusal; null: the bytes are none. */
function refusedIn(bytes: Buffer): number | null {
  const found = bytes.length < mostBareBytes ? bareRefusal.exec(bytes.toString('latin1')) : null
  return found === null ? null : Number(found[1])
}

const handlers = {
  binaryType: 'buffer',
  open: (socket: ServerEnd) => socket.data.opened(socket),
  data: (socket: ServerEnd, chunk: Buffer) => socket.data.fromServer(chunk),
  drain: (socket: ServerEnd) => socket.data.serverDrained(),
  close: (socket: ServerEnd) => socket.data.serverClosed(),
  error: (socket: ServerEnd) => socket.data.serverClosed(),
} as const

export class Tunnel {
  private readonly client: End
  private readonly owner: TunnelOwner
  private server: ServerEnd | null = null
  private localPort = 0
  private readonly toServer = new WriteQueue()
  private readonly toClient = new WriteQueue()
  private clientOpen = true
  private serverOpen = true
  /** Follows the reply to a single request; null: the end is not followed, and all bytes pass in both directions. */
  private reply: ReplyEnd | null = null
  /** Bytes of that request that have not arrived. */
  private left = 0
  private ahead: Buffer = nothing
  private state: 'passing' | 'answered' | 'resting' = 'resting'
  /** Whether the server has sent nothing since `begin`. */
  private isSilent = true

  constructor(client: End, port: number, owner: TunnelOwner) {
    this.client = client
    this.owner = owner
    Bun.connect({ hostname: '127.0.0.1', port, data: this, socket: handlers }).catch(() => {
      client.terminate()
    })
  }

  /** Whether nothing more is sent to the client. */
  get isOver(): boolean {
    if (this.state === 'resting') return true
    return !this.clientOpen || (!this.serverOpen && this.toClient.waitingBytes === 0)
  }

  get isResting(): boolean {
    return this.state === 'resting'
  }

  /** Whether bytes wait for the client to read. */
  get isStalled(): boolean {
    return this.toClient.waitingBytes > 0
  }

  /** `first`: bytes received so far. `requestBytes`: length of the request; null: its end is not known. */
  begin(first: Buffer, requestBytes: number | null): void {
    this.state = 'passing'
    this.isSilent = true
    this.reply = requestBytes === null ? null : new ReplyEnd()
    this.left = requestBytes ?? 0
    if (this.server === null) this.client.pause()
    this.fromClient(first)
  }

  opened(server: ServerEnd): void {
    if (!this.clientOpen) {
      server.terminate()
      return
    }
    this.server = server
    this.localPort = server.localPort
    server.setNoDelay(true)
    // Before the server reads any bytes: it asks for the client of this port.
    this.owner.opened(this.localPort)
    this.flushToServer(server)
  }

  fromClient(chunk: Buffer): void {
    if (this.reply === null) this.toServer.push(chunk)
    else this.takeOfRequest(chunk)
    if (this.server === null) return
    if (this.toServer.flush(this.server) === 'some') this.client.pause()
  }

  private takeOfRequest(chunk: Buffer): void {
    const taken = Math.min(this.left, chunk.length)
    this.left -= taken
    if (taken > 0) this.toServer.push(taken === chunk.length ? chunk : chunk.subarray(0, taken))
    if (taken === chunk.length) return
    this.ahead = Buffer.concat([this.ahead, chunk.subarray(taken)])
    if (this.ahead.length > mostAheadBytes) this.client.pause()
  }

  fromServer(chunk: Buffer): void {
    if (!this.clientOpen) return
    if (this.state !== 'passing') {
      // The server sends bytes although no request is under way.
      this.server?.terminate()
      return
    }
    const refused = this.isSilent ? refusedIn(chunk) : null
    this.isSilent = false
    if (refused !== null) {
      this.owner.unreadable(refused)
      return
    }
    this.toClient.push(chunk)
    if (this.toClient.flush(this.client) === 'some') this.server?.pause()
    if (this.reply !== null) this.follow(this.reply, chunk)
  }

  private follow(reply: ReplyEnd, chunk: Buffer): void {
    try {
      if (!reply.take(chunk)) return
    } catch (error) {
      if (!(error instanceof HeadError || error instanceof BodyError)) throw error
      this.passAll()
      return
    }
    // Where the server replied before it read the whole request, the rest of the request stays the server's to read.
    const isRead = this.left === 0 && this.toServer.waitingBytes === 0
    if (!isRead || !reply.keepAlive) {
      this.passAll()
      return
    }
    this.state = 'answered'
    if (this.toClient.waitingBytes === 0) this.rest()
  }

  /** From here on, all bytes of the connection go to the server. */
  private passAll(): void {
    this.reply = null
    const { ahead } = this
    this.ahead = nothing
    if (ahead.length > 0) this.toServer.push(ahead)
    this.serverDrained()
  }

  private rest(): void {
    this.state = 'resting'
    this.reply = null
    const { ahead } = this
    this.ahead = nothing
    if (ahead.length > mostAheadBytes) this.client.resume()
    if (!this.serverOpen) this.owner.gone()
    this.owner.rests(ahead)
  }

  serverDrained(): void {
    if (this.server !== null) this.flushToServer(this.server)
  }

  clientDrained(): void {
    if (this.toClient.flush(this.client) !== 'all') return
    if (this.serverOpen) this.server?.resume()
    else if (this.state === 'passing') this.client.end()
    if (this.state === 'answered') this.rest()
  }

  serverClosed(): void {
    if (!this.serverOpen) return
    this.serverOpen = false
    this.owner.closed(this.localPort)
    if (this.state === 'resting') this.owner.gone()
    // Only when the client has received the server's last bytes.
    else if (this.clientOpen && this.toClient.waitingBytes === 0) this.client.end()
  }

  clientClosed(): void {
    this.clientOpen = false
    this.toClient.clear()
    this.server?.end()
  }

  private flushToServer(server: ServerEnd): void {
    const isFlushed = this.toServer.flush(server) === 'all'
    if (isFlushed && this.ahead.length <= mostAheadBytes) this.client.resume()
  }
}
