// Opens TCP and TLS connections to vendors, and judges the certificates.

import { checkServerIdentity } from 'node:tls'

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
  /** The connection is gone; where no reason is given it was reset. */
  lost(reason?: string): void
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
  const { host, address = host, port, tls } = peer.destination
  const at = { hostname: address, port, data: peer }
  const connecting = tls
    ? Bun.connect({ ...at, socket: secureHandlers, tls: { serverName: host } })
    : Bun.connect({ ...at, socket: handlers })
  connecting.catch((error: Error) => peer.lost(`cannot reach the vendor: ${error.message}`))
}
