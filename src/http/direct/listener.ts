// Listens for clients: answers plain requests to known paths itself, and passes all others to the runtime's server.

import { listenOn } from '../listening.ts'
import type { HttpReply } from '../reply.ts'
import {
  type ClientSocket,
  type ConnectionOwner,
  DirectConnection,
  type DirectHandle,
  sweepMs,
  type Work,
} from './connection.ts'
import type { RequestHead } from './head.ts'
import { Output } from './output.ts'
import { writeReply } from './write-reply.ts'

interface DirectOptions {
  readonly host: string
  readonly port: number
  /** Several processes listen on the port, and the system divides the connections among them. */
  readonly sharePort: boolean
  /** Port of the runtime's server on the loopback address. */
  readonly serverPort: number
  /** Handlers by `METHOD /path`. */
  readonly handles: ReadonlyMap<string, DirectHandle>
  /** Longest body that is answered here; longer ones are left to the runtime's server to refuse. */
  readonly maxBodyBytes: () => number
  readonly leaving: () => boolean
  /** A process that cannot open another file takes no connection, and tries without a pause. */
  readonly mostConnections: number
  /** Reports that there are as many, at most once a minute. */
  readonly onFull: (connections: number) => void
  /** The reply to a connection beyond them. */
  readonly full: () => HttpReply
  /** The reply to a head that cannot be read, which the runtime refuses with this status; 408: it came too slowly. */
  readonly unreadable: (status: number) => HttpReply
  /** Reports a fault in the gateway itself; returns the reply for the client. */
  readonly crashed: (error: unknown) => HttpReply
}

/** How often idle connections are looked for when there are as many as there may be. */
const roomMs = 1_000
const reportMs = 60_000

const socketHandlers = {
  binaryType: 'buffer',
  data: (socket: ClientSocket, chunk: Buffer) => socket.data.received(chunk),
  drain: (socket: ClientSocket) => socket.data.drained(),
  close: (socket: ClientSocket) => socket.data.closed(),
  error: (socket: ClientSocket) => socket.data.closed(),
} as const

export class DirectListener implements ConnectionOwner {
  readonly port: number
  readonly serverPort: number
  private readonly options: DirectOptions
  private readonly connections = new Set<DirectConnection>()
  /** Client addresses by the local port of their connection to the runtime's server. */
  private readonly tunnels = new Map<number, string | null>()
  private readonly socket: Bun.TCPSocketListener<DirectConnection>
  private usableHost = ''
  private roomMadeMs = Number.NEGATIVE_INFINITY
  private reportedMs = Number.NEGATIVE_INFINITY
  private readonly sweeper: ReturnType<typeof setInterval>

  /** Throws ListenError. */
  constructor(options: DirectOptions) {
    this.options = options
    this.serverPort = options.serverPort
    const place = {
      hostname: options.host,
      port: options.port,
      // The runtime supports this option, but its types lack it.
      reusePort: options.sharePort,
    }
    const open = (socket: ClientSocket) => this.opened(socket)
    this.socket = listenOn(options.host, options.port, () =>
      Bun.listen<DirectConnection>({ ...place, socket: { ...socketHandlers, open } }),
    )
    this.port = this.socket.port
    this.sweeper = setInterval(() => this.sweep(), sweepMs)
    this.sweeper.unref()
  }

  get leaving(): boolean {
    return this.options.leaving()
  }

  /** The number of connections that are occupied with this work. */
  count(work: Work): number {
    let count = 0
    for (const connection of this.connections) if (connection.work === work) count++
    return count
  }

  /** The address of the client whose connection to the runtime's server has this local port; null: unknown. */
  clientOf(localPort: number): string | null {
    return this.tunnels.get(localPort) ?? null
  }

  handleFor(head: RequestHead): DirectHandle | null {
    if (!this.isUsable(head.host)) return null
    const { handles, maxBodyBytes } = this.options
    const mark = head.target.indexOf('?')
    const path = mark < 0 ? head.target : head.target.slice(0, mark)
    const handle = handles.get(`${head.method} ${path}`)
    if (handle === undefined || head.bodyBytes > maxBodyBytes()) return null
    return head.isForm ? null : handle
  }

  /** Whether URLs can be built from the Host header. The last good one is kept, since most clients send the same. */
  private isUsable(host: string): boolean {
    if (host === this.usableHost) return true
    if (!URL.canParse(`http://${host}/`)) return false
    this.usableHost = host
    return true
  }

  crashed(error: unknown): HttpReply {
    return this.options.crashed(error)
  }

  unreadable(status: number): HttpReply {
    return this.options.unreadable(status)
  }

  tunnelled(localPort: number, address: string | null): void {
    this.tunnels.set(localPort, address)
  }

  tunnelClosed(localPort: number): void {
    this.tunnels.delete(localPort)
  }

  closed(connection: DirectConnection): void {
    this.connections.delete(connection)
  }

  /** Stops listening and closes idle connections; requests under way continue. */
  stop(): void {
    this.socket.stop(false)
    for (const connection of [...this.connections]) connection.closeIdle()
  }

  /** Closes all connections. */
  terminate(): void {
    clearInterval(this.sweeper)
    this.socket.stop(true)
    for (const connection of [...this.connections]) connection.terminate()
  }

  private opened(socket: ClientSocket): void {
    socket.setNoDelay(true)
    const connection = new DirectConnection(socket, this)
    socket.data = connection
    if (this.hasRoom()) this.connections.add(connection)
    else this.refuse(socket)
  }

  private refuse(socket: ClientSocket): void {
    writeReply(this.options.full(), new Output(socket), true)
    socket.end()
  }

  /** Whether another connection can be served; idle ones give way to it. */
  private hasRoom(): boolean {
    const { mostConnections, onFull } = this.options
    // A connection to the runtime's server takes two files more.
    if (this.connections.size + this.tunnels.size < mostConnections) return true
    const nowMs = performance.now()
    if (nowMs - this.reportedMs > reportMs) {
      this.reportedMs = nowMs
      onFull(this.connections.size)
    }
    if (nowMs - this.roomMadeMs < roomMs) return false
    this.roomMadeMs = nowMs
    return [...this.connections].filter((each) => each.closeIdle()).length > 0
  }

  private sweep(): void {
    for (const connection of this.connections) connection.sweep()
  }
}
