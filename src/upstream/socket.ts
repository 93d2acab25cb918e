// One WebSocket to a vendor (RFC 6455): its handshake with whatever the vendor says instead, its messages, its end.

import { Buffer } from 'node:buffer'
import { createHash, randomBytes } from 'node:crypto'
import { checkServerIdentity } from 'node:tls'
import type { Socket } from 'bun'
import type {
  HandshakeHandler,
  SocketListener,
  TransportFault,
  VendorSocket,
} from '../vendors/transport.ts'
import { BodyDecoder, BodyError } from './body.ts'
import type { Destination } from './connect.ts'
import { clientFrame, closePayload, FrameFault, FrameReader, opcode } from './frames.ts'
import { HeadError, parseHead, type ReplyHead } from './head.ts'

interface SocketCall {
  /** Its head is a whole request up to the key of the handshake. */
  readonly destination: Destination
  readonly connectMs: number
  /** From the request to the answer. */
  readonly answerMs: number
  readonly maxMessageBytes: number
}

/** What a WebSocket's key is answered with (section 4.2.2). */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const maxHeadBytes = 65_536
const maxRefusalBytes = 65_536
/** The other side's close frame is waited for this long. */
const closeMs = 2_000
/** A vendor that does not read its answers is given no more of them. */
const maxPongBytes = 16_384
const headEnd = Buffer.from('\r\n\r\n')

type Phase = 'connecting' | 'answer' | 'refusal' | 'open' | 'closing' | 'closed'

const handlers = {
  binaryType: 'buffer',
  open(socket: Bun.Socket<DialledSocket>) {
    socket.data.connected(socket)
  },
  data(socket: Bun.Socket<DialledSocket>, chunk: Buffer) {
    socket.data.received(chunk)
  },
  drain(socket: Bun.Socket<DialledSocket>) {
    socket.data.flush()
  },
  end(socket: Bun.Socket<DialledSocket>) {
    socket.data.lost('the vendor closed the connection')
    socket.end()
  },
  close(socket: Bun.Socket<DialledSocket>) {
    socket.data.lost('the connection to the vendor was lost')
  },
  error(socket: Bun.Socket<DialledSocket>, error: Error) {
    socket.data.lost(`the connection to the vendor failed: ${error.message}`)
  },
} as const

const secureHandlers = {
  ...handlers,
  open(socket: Bun.Socket<DialledSocket>) {
    socket.data.greeting(socket)
  },
  handshake(socket: Bun.Socket<DialledSocket>, success: boolean, error: Error | null) {
    socket.data.secured(socket, success && socket.authorized, error)
  },
} as const

/** Connects and asks for a socket; `abort` on what is returned ends it at any time. */
export function openSocket(call: SocketCall, handler: HandshakeHandler): DialledSocket {
  const made = new DialledSocket(call, handler)
  const { destination } = call
  const hostname = destination.address ?? destination.host
  const at = { hostname, port: destination.port, data: made }
  const connecting = destination.tls
    ? Bun.connect({ ...at, socket: secureHandlers, tls: { serverName: destination.host } })
    : Bun.connect({ ...at, socket: handlers })
  connecting.catch((error: Error) => made.lost(`cannot reach the vendor: ${error.message}`))
  return made
}

class DialledSocket implements VendorSocket {
  receivedMs = performance.now()
  private readonly call: SocketCall
  private readonly handler: HandshakeHandler
  private readonly key = randomBytes(16).toString('base64')
  private readonly frames: FrameReader
  private listener: SocketListener | null = null
  private socket: Socket<DialledSocket> | null = null
  private phase: Phase = 'connecting'
  private timer: ReturnType<typeof setTimeout> | null
  /** What came and was not read yet: an answer that is not whole, or messages that nobody listens to. */
  private carry: Buffer = Buffer.alloc(0)
  private refusal: { readonly head: ReplyHead; readonly body: BodyDecoder } | null = null
  private refusalText: Buffer[] = []
  private paused = false
  private pending: Uint8Array[] = []
  private pendingOffset = 0
  waitingBytes = 0

  constructor(call: SocketCall, handler: HandshakeHandler) {
    this.call = call
    this.handler = handler
    this.frames = new FrameReader(
      {
        message: (payload, isText) => this.listener?.message(payload, isText),
        ping: (payload) => {
          if (this.waitingBytes < maxPongBytes) this.write(clientFrame(opcode.pong, payload))
        },
        pong: () => undefined,
        close: (code, reason) => this.closedBy(code, reason),
      },
      call.maxMessageBytes,
    )
    this.timer = setTimeout(() => this.tooLate('connecting took too long'), call.connectMs)
  }

  greeting(socket: Socket<DialledSocket>): void {
    if (this.phase === 'closed') socket.terminate()
    else this.socket = socket
  }

  /** No connection is used whose certificate's name or chain does not hold. */
  secured(socket: Socket<DialledSocket>, authorized: boolean, error: Error | null): void {
    const misnamed = authorized
      ? checkServerIdentity(this.call.destination.host, socket.getPeerCertificate())
      : undefined
    if (authorized && error === null && misnamed === undefined) {
      this.connected(socket)
      return
    }
    const why = error?.message ?? misnamed?.message ?? 'the certificate is not trusted'
    this.lost(`TLS failed: ${why}`)
    socket.terminate()
  }

  connected(socket: Socket<DialledSocket>): void {
    this.socket = socket
    if (this.phase === 'closed') {
      socket.terminate()
      return
    }
    socket.setNoDelay(true)
    this.phase = 'answer'
    this.stopTimer()
    this.timer = setTimeout(() => this.tooLate('the vendor did not answer'), this.call.answerMs)
    const head = `${this.call.destination.head}sec-websocket-key: ${this.key}\r\n\r\n`
    this.write(Buffer.from(head, 'latin1'))
  }

  /** From now on the listener receives messages, those first that have come already. */
  start(listener: SocketListener): void {
    this.listener = listener
    const early = this.carry
    this.carry = Buffer.alloc(0)
    if (early.length > 0) this.read(early)
    this.resume()
  }

  send(payload: Uint8Array, isText: boolean): void {
    if (this.phase === 'open')
      this.write(clientFrame(isText ? opcode.text : opcode.binary, payload))
  }

  ping(): void {
    if (this.phase === 'open') this.write(clientFrame(opcode.ping, new Uint8Array(0)))
  }

  pause(): void {
    if (this.phase !== 'open' || this.paused) return
    this.paused = true
    this.socket?.pause()
  }

  resume(): void {
    if (this.phase !== 'open' || !this.paused) return
    this.paused = false
    this.socket?.resume()
  }

  /** Closes cleanly; the listener is not called again. */
  close(code: number, reason: string): void {
    if (this.phase !== 'open') {
      if (this.phase !== 'closing') this.abort()
      return
    }
    this.listener = null
    this.frames.stop()
    this.write(clientFrame(opcode.close, closePayload(code, reason)))
    this.resume()
    this.phase = 'closing'
    this.timer = setTimeout(() => this.abort(), closeMs)
    this.timer.unref()
  }

  /** Ends it at once; no callback is called again. */
  abort(): void {
    if (this.phase === 'closed') return
    this.phase = 'closed'
    this.listener = null
    this.frames.stop()
    this.stopTimer()
    this.pending = []
    this.socket?.terminate()
  }

  received(chunk: Buffer): void {
    this.receivedMs = performance.now()
    try {
      if (this.phase === 'answer') this.answered(chunk)
      else if (this.phase === 'refusal') this.refusing(chunk, 0)
      else if (this.phase !== 'open') return
      else if (this.listener === null) this.carry = Buffer.concat([this.carry, chunk])
      else this.read(chunk)
    } catch (error) {
      if (!(error instanceof HeadError || error instanceof BodyError)) throw error
      this.failed({ kind: 'unreadable', message: error.message, unsent: false })
    }
  }

  /** Writes what the socket takes; the rest goes when it drains. */
  flush(): void {
    const { socket } = this
    if (socket === null || this.pending.length === 0) return
    while (this.pending.length > 0) {
      const first = this.pending[0] ?? new Uint8Array(0)
      const wrote = socket.write(first, this.pendingOffset, first.length - this.pendingOffset)
      if (wrote < 0 || this.pending.length === 0) return
      this.pendingOffset += wrote
      this.waitingBytes -= wrote
      if (this.pendingOffset < first.length) return
      this.pending.shift()
      this.pendingOffset = 0
    }
  }

  /** The connection is gone, for whatever reason. */
  lost(reason: string): void {
    const { phase, listener } = this
    if (phase === 'closed') return
    if (phase === 'refusal') this.refusalEnds()
    const unsent = phase === 'connecting'
    if (unsent || phase === 'answer') {
      this.failed({ kind: unsent ? 'unreachable' : 'reset', message: reason, unsent })
      return
    }
    this.abort()
    listener?.closed(1006, reason)
  }

  private write(bytes: Uint8Array): void {
    this.pending.push(bytes)
    this.waitingBytes += bytes.length
    if (this.pending.length === 1) this.flush()
  }

  private read(chunk: Buffer): void {
    try {
      this.frames.push(chunk)
    } catch (error) {
      if (!(error instanceof FrameFault)) throw error
      const { listener } = this
      this.close(error.code, error.message)
      listener?.closed(1006, error.message)
    }
  }

  private closedBy(code: number, reason: string): void {
    const { listener } = this
    this.close(code === 1005 ? 1000 : code, '')
    listener?.closed(code, reason)
  }

  private answered(chunk: Buffer): void {
    const bytes = this.carry.length === 0 ? chunk : Buffer.concat([this.carry, chunk])
    const end = bytes.indexOf(headEnd)
    if (end === -1) {
      if (bytes.length > maxHeadBytes) throw new HeadError('the head of the reply is too long')
      this.carry = bytes
      return
    }
    const head = parseHead(bytes, end)
    const rest = bytes.subarray(end + headEnd.length)
    this.carry = Buffer.alloc(0)
    if (head.status !== 101) {
      this.phase = 'refusal'
      const body = new BodyDecoder(head.framing, { bytes: (piece) => this.keepRefusal(piece) })
      this.refusal = { head, body }
      this.refusing(rest, 0)
      return
    }
    const due = createHash('sha1')
      .update(this.key + acceptSuffix)
      .digest('base64')
    if (head.header('sec-websocket-accept') !== due)
      throw new HeadError('the vendor did not prove that it speaks WebSocket')
    this.stopTimer()
    this.phase = 'open'
    this.carry = Buffer.from(rest)
    this.pause()
    this.handler.open(this)
  }

  private keepRefusal(piece: Uint8Array): void {
    const kept = this.refusalText.reduce((sum, { length }) => sum + length, 0)
    if (kept < maxRefusalBytes) this.refusalText.push(Buffer.from(piece))
  }

  private refusing(chunk: Buffer, from: number): void {
    const body = this.refusal?.body
    if (body === undefined) return
    if (!body.done && chunk.length > from) body.push(chunk, from)
    if (body.done) this.refusalEnds()
  }

  private refusalEnds(): void {
    const { refusal } = this
    if (refusal === null) return
    this.refusal = null
    const { status, header } = refusal.head
    const text = Buffer.concat(this.refusalText).toString('utf8')
    this.abort()
    this.handler.refused(status, header, text)
  }

  private tooLate(message: string): void {
    if (this.phase === 'refusal') this.refusalEnds()
    else this.failed({ kind: 'timeout', message, unsent: this.phase === 'connecting' })
  }

  private failed(fault: TransportFault): void {
    this.abort()
    this.handler.fault(fault)
  }

  private stopTimer(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
  }
}
