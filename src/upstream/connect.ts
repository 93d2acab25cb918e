// Opens TCP and TLS connections to vendors, through proxies too, and judges the certificates.

import { checkServerIdentity } from 'node:tls'
import { HeadError, HeadReader, type ReplyHead } from './head.ts'

/** Where a call goes: worked out once per channel and model, not per request. */
export interface Destination {
  /** Connections are shared by destinations of the same origin. */
  readonly origin: string
  readonly host: string
  /** The address to connect to, where it was looked up and judged before; the name is then only proved. */
  readonly address?: string
  readonly port: number
  readonly tls: boolean
  /** Through which it is reached. */
  readonly proxy?: ProxyAddress
  /** Request line and headers, up to and including `content-length: `. */
  readonly head: string
}

export interface ProxyAddress {
  readonly host: string
  readonly port: number
  /** `user:password`; null: it asks for none. */
  readonly credentials: string | null
  /** It is handed the request itself, for a vendor without TLS; else it opens a way to the vendor. */
  readonly forwards: boolean
}

export type VendorConnection = Bun.Socket<Peer>

/** What is done with one connection. */
export interface Peer {
  readonly destination: Destination
  /** The handshake begins: one that stalls must be closed like any other connection. */
  greeting(socket: VendorConnection): void
  /** The connection is up (and, with TLS, the vendor proved its name). */
  opened(socket: VendorConnection): void
  received(chunk: Buffer): void
  /** The socket takes more again. */
  flush(): void
  /** The vendor closed its side cleanly. */
  ended(): void
  /** The connection is gone; where no reason is given it was reset. `proxy`: no way to the vendor was to be had. */
  lost(reason?: string, fault?: 'proxy'): void
}

const handlers = {
  binaryType: 'buffer',
  open(socket: VendorConnection) {
    socket.data.opened(socket)
  },
  data(socket: VendorConnection, chunk: Buffer) {
    socket.data.received(chunk)
  },
  drain(socket: VendorConnection) {
    socket.data.flush()
  },
  end(socket: VendorConnection) {
    socket.data.ended()
    socket.end()
  },
  close(socket: VendorConnection) {
    socket.data.lost()
  },
  error(socket: VendorConnection, error: Error) {
    socket.data.lost(`the connection to the vendor failed: ${error.message}`)
  },
} as const

const secureHandlers = {
  ...handlers,
  open(socket: VendorConnection) {
    // Nothing is sent before the handshake has proved who answers.
    socket.data.greeting(socket)
  },
  handshake(socket: VendorConnection, success: boolean, error: Error | null) {
    const doubt = doubtOf(socket, success && socket.authorized, error)
    if (doubt === null) {
      socket.data.opened(socket)
      return
    }
    socket.data.lost(`TLS failed: ${doubt}`)
    socket.terminate()
  },
} as const

/** No connection is used whose certificate's name or chain does not hold: why this one is not, or null. */
function doubtOf(socket: VendorConnection, authorized: boolean, error: Error | null) {
  if (!authorized || error !== null) return error?.message ?? 'the certificate is not trusted'
  const { host } = socket.data.destination
  return checkServerIdentity(host, socket.getPeerCertificate())?.message ?? null
}

/** Never calls the peer before it returns. */
export function connect(peer: Peer): void {
  const { host, address = host, port, tls, proxy } = peer.destination
  if (proxy !== undefined) {
    connectThrough(proxy, peer)
    return
  }
  const at = { hostname: address, port, data: peer }
  const connecting = tls
    ? Bun.connect({ ...at, socket: secureHandlers, tls: { serverName: host } })
    : Bun.connect({ ...at, socket: handlers })
  connecting.catch((error: Error) => peer.lost(`cannot connect: ${error.message}`))
}

function connectThrough(proxy: ProxyAddress, peer: Peer): void {
  const { host, tls } = peer.destination
  const tunnel = new Tunnel(peer, proxy, (socket) => {
    if (tls) {
      const secure = { data: peer, socket: secureHandlers, tls: { serverName: host } }
      socket.upgradeTLS(secure)
    } else {
      socket.data = peer
      peer.opened(socket)
    }
  })
  const data: Peer = proxy.forwards ? peer : tunnel
  Bun.connect({ hostname: proxy.host, port: proxy.port, data, socket: handlers }).catch(
    (error: Error) => peer.lost(`cannot reach the proxy: ${error.message}`, 'proxy'),
  )
}

const refusedAccess = 407

/** Asks the proxy for the way by CONNECT (RFC 9110, section 9.3.6), and hands the connection over once it is open. */
class Tunnel implements Peer {
  readonly destination: Destination
  private readonly peer: Peer
  private readonly proxy: ProxyAddress
  private readonly passed: (socket: VendorConnection) => void
  private readonly heads = new HeadReader()
  private socket: VendorConnection | null = null
  /** The way is open, or never will be. */
  private over = false

  constructor(peer: Peer, proxy: ProxyAddress, passed: (socket: VendorConnection) => void) {
    this.destination = peer.destination
    this.peer = peer
    this.proxy = proxy
    this.passed = passed
  }

  greeting(socket: VendorConnection): void {
    this.peer.greeting(socket)
  }

  opened(socket: VendorConnection): void {
    this.socket = socket
    this.peer.greeting(socket)
    const { host, address = host, port } = this.destination
    const authority = `${address.includes(':') ? `[${address}]` : address}:${port}`
    const credentials = authorizationLine(this.proxy)
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credentials}\r\n`)
  }

  received(chunk: Buffer): void {
    const { socket } = this
    if (this.over || socket === null) return
    try {
      const head = this.heads.take(chunk, 0)
      if (head === null) return
      const refusal = refusalOf(head, this.heads.next < chunk.length)
      if (refusal !== null) this.fail(refusal)
      else {
        this.over = true
        this.passed(socket)
      }
    } catch (error) {
      if (!(error instanceof HeadError)) throw error
      this.fail('the proxy does not speak HTTP')
    }
  }

  flush(): void {
    // What a proxy is asked is short: it fits a socket that has sent nothing yet.
  }

  ended(): void {
    this.lost('the proxy closed the connection')
  }

  lost(reason = 'the connection to the proxy was reset'): void {
    if (this.over) return
    this.over = true
    this.peer.lost(reason, 'proxy')
  }

  private fail(reason: string): void {
    this.lost(reason)
    this.socket?.terminate()
  }
}

/** Nobody speaks on the way before the vendor is spoken to. */
function refusalOf({ status }: ReplyHead, saysMore: boolean): string | null {
  if (status === refusedAccess) return refusedCredentials
  if (status < 200 || status >= 300) return `the proxy answered ${status}`
  return saysMore ? 'the proxy spoke in place of the vendor' : null
}

export const refusedCredentials = 'the proxy refused its user or password'

/** Of what a proxy forwards by itself: its own refusal, and no vendor's. */
export function isProxyRefusal(destination: Destination, status: number): boolean {
  return destination.proxy !== undefined && status === refusedAccess
}

export function authorizationLine({ credentials }: ProxyAddress): string {
  if (credentials === null) return ''
  return `proxy-authorization: Basic ${Buffer.from(credentials, 'utf8').toString('base64')}\r\n`
}
