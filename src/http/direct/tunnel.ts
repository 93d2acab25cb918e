// Hands a client's connection to the runtime's server of this process: bytes pass both ways as they come.

import type { Buffer } from 'node:buffer'
import { WriteQueue } from '../../upstream/write-queue.ts'

/** One end of it. */
type End = Pick<Bun.Socket, 'write' | 'pause' | 'resume' | 'end' | 'terminate'>
type ServerEnd = Bun.Socket<Tunnel>

interface TunnelOwner {
  /** Its connection to the server is the one from this port of the loopback address. */
  opened(localPort: number): void
  closed(localPort: number): void
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

  /** `first`: what the client has sent already. */
  constructor(client: End, port: number, first: Buffer, owner: TunnelOwner) {
    this.client = client
    this.owner = owner
    this.toServer.push(first)
    client.pause()
    Bun.connect({ hostname: '127.0.0.1', port, data: this, socket: handlers }).catch(() => {
      client.terminate()
    })
  }

  /** Nothing more goes to the client. */
  get isOver(): boolean {
    return !this.clientOpen || (!this.serverOpen && this.toClient.waitingBytes === 0)
  }

  opened(server: ServerEnd): void {
    if (!this.clientOpen) {
      server.terminate()
      return
    }
    this.server = server
    this.localPort = server.localPort
    server.setNoDelay(true)
    // Before the server reads anything of it: it asks whose connection it is.
    this.owner.opened(this.localPort)
    this.flushToServer(server)
  }

  fromClient(chunk: Buffer): void {
    this.toServer.push(chunk)
    if (this.server === null) return
    if (this.toServer.flush(this.server) === 'some') this.client.pause()
  }

  fromServer(chunk: Buffer): void {
    if (!this.clientOpen) return
    this.toClient.push(chunk)
    if (this.toClient.flush(this.client) === 'some') this.server?.pause()
  }

  serverDrained(): void {
    if (this.server !== null) this.flushToServer(this.server)
  }

  clientDrained(): void {
    if (this.toClient.flush(this.client) !== 'all') return
    if (this.serverOpen) this.server?.resume()
    else this.client.end()
  }

  serverClosed(): void {
    if (!this.serverOpen) return
    this.serverOpen = false
    this.owner.closed(this.localPort)
    // What the server said last is still on its way to a slow client.
    if (this.clientOpen && this.toClient.waitingBytes === 0) this.client.end()
  }

  clientClosed(): void {
    this.clientOpen = false
    this.toClient.clear()
    this.server?.end()
  }

  private flushToServer(server: ServerEnd): void {
    if (this.toServer.flush(server) === 'all') this.client.resume()
  }
}
