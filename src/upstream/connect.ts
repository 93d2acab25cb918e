// Opens TCP and TLS connections to vendors, also through proxies, and verifies the certificates.

import { checkServerIdentity } from 'node:tls'
import { HeadError, HeadReader, type ReplyHead } from './head.ts'

/** Where a call goes: computed once per channel and model, not per request. */
export interface Destination {
  /** Destinations with the same origin share their connections. */
  readonly origin: string
  readonly host: string
  /** The IP address to connect to, where it was checked before; `host` then only serves to verify the name. */
  readonly address?: string
  readonly port: number
  readonly tls: boolean
  /** The proxy through which it is reached. */
  readonly proxy?: ProxyAddress
  /** Request line and headers, up to and including `content-length: `. */
  readonly head: string
}

export interface ProxyAddress {
  readonly host: string
  readonly port: number
  /** `user:password`; null: the proxy asks for none. */
  readonly credentials: string | null
  /** The proxy forwards the request itself, for a vendor without TLS; otherwise it opens a tunnel to the vendor. */
  readonly forwards: boolean
}

export type VendorConnection = Bun.Socket<Peer>

/** The user of one connection, called on its events. */
export interface Peer {
  readonly destination: Destination
  /** The TLS handshake or the request to a proxy begins: if it stalls, this socket has to be closed. */
  greeting(socket: VendorConnection): void
  /** The connection is open (and, with TLS, the vendor's name is verified). */
  opened(socket: VendorConnection): void
  received(chunk: Buffer): void
  /** The socket accepts more bytes again. */
  flush(): void
  /** The vendor closed its side cleanly. */
  ended(): void
  /** The connection is gone; without a reason it was reset. `proxy`: the proxy gave no connection to the vendor. */
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
    // Nothing is sent before the handshake has verified who answers.
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

/** Why a certificate cannot be trusted (its chain or its name); null where it can. */
function doubtOf(socket: VendorConnection, authorized: boolean, error: Error | null) {
  if (!authorized || error !== null) return error?.message ?? 'the certificate is not trusted'
  const { host } = socket.data.destination
  return checkServerIdentity(host, socket.getPeerCertificate())?.message ?? null
}

/** Opens the connection. Never calls the peer before it returns. */
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

/** Asks the proxy for a tunnel by CONNECT (RFC 9110, section 9.3.6), and hands the connection over once it is open. */
class Tunnel implements Peer {
  readonly destination: Destination
  private readonly peer: Peer
  private readonly proxy: ProxyAddress
  private readonly passed: (socket: VendorConnection) => void
  private readonly heads = new HeadReader()
  private socket: VendorConnection | null = null
  /** The tunnel is open, or has failed. */
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
    // A CONNECT request is short: it always fits the send buffer of a new socket.
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

/** Why a proxy's answer opens no tunnel; null where it does. A vendor never speaks first, so no bytes may follow it. */
function refusalOf({ status }: ReplyHead, saysMore: boolean): string | null {
  if (status === refusedAccess) return refusedCredentials
  if (status < 200 || status >= 300) return `the proxy answered ${status}`
  return saysMore ? 'the proxy sent unexpected bytes after it opened the tunnel' : null
}

export const refusedCredentials = 'the proxy refused its user or password'

/** Whether a forwarding proxy itself refused the request (407), and not the vendor. */
export function isProxyRefusal(destination: Destination, status: number): boolean {
  return destination.proxy !== undefined && status === refusedAccess
}

export function authorizationLine({ credentials }: ProxyAddress): string {
  if (credentials === null) return ''
  return `proxy-authorization: Basic ${Buffer.from(credentials, 'utf8').toString('base64')}\r\n`
}
