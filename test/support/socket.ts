// A client on a bare socket: sends any bytes, well formed or not, and keeps the reply.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection to the gateway, with everything it has sent so far. */
export class RawClient {
  readonly socket: Socket
  received = ''
  bytes = 0
  /** `performance.now()` of the end of the connection. */
  closedMs: number | null = null
  private readonly waiting = new Set<() => void>()

  private constructor(socket: Socket, keep: boolean) {
    this.socket = socket
    socket.on('data', (chunk) => {
      this.bytes += chunk.length
      if (keep) this.received += chunk.toString('latin1')
      this.wake()
    })
    // A reset is one of the ends that a test may expect; it shows as `closedMs`.
    socket.on('error', () => this.wake())
    socket.on('close', () => {
      this.closedMs = performance.now()
      this.wake()
    })
  }

  /** Connects. `keep: false` counts bytes only. */
  static async open(port: number, keep = true): Promise<RawClient> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    const client = new RawClient(socket, keep)
    await once(socket, 'connect')
    return client
  }

  send(data: string | Uint8Array): void {
    this.socket.write(data)
  }

  /** Resolves when `met` holds. Throws after `timeoutMs`, or when the connection ends before. */
  async until(met: (received: string) => boolean, timeoutMs = 5_000): Promise<string> {
    const deadlineMs = performance.now() + timeoutMs
    while (!met(this.received)) {
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0) throw new Error(`not in time: ${this.received.slice(-500)}`)
      if (this.closedMs !== null) throw new Error(`closed before: ${this.received.slice(-500)}`)
      await this.change(leftMs)
    }
    return this.received
  }

  /** Resolves with everything received when the connection has ended. Throws after `timeoutMs`. */
  async closed(timeoutMs = 5_000): Promise<string> {
    const deadlineMs = performance.now() + timeoutMs
    while (this.closedMs === null) {
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0) throw new Error(`still open: ${this.received.slice(-500)}`)
      await this.change(leftMs)
    }
    return this.received
  }

  destroy(): void {
    this.socket.destroy()
  }

  private change(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, timeoutMs)
      this.waiting.add(done)
    })
  }

  private wake(): void {
    for (const done of [...this.waiting]) done()
  }
}

export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The first reply in the received bytes: its head, and the rest unchanged. */
export function parseReply(received: string): RawReply {
  const split = received.indexOf('\r\n\r\n')
  const [first = '', ...lines] = received.slice(0, split).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  return { status: Number(first.split(' ')[1]), headers, body: received.slice(split + 4) }
}

/** The statuses of all replies in the received bytes, in their order. */
export function statusesIn(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
}

/** A POST with these headers and this body, as bytes of HTTP/1.1. */
export function post(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const lines = Object.entries({
    host: '127.0.0.1',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}

export function portOf(url: string): number {
  return Number(new URL(url).port)
}
