// One WebSocket connection to a vendor (RFC 6455), from its opening to its end.

import { Buffer } from 'node:buffer'
import type {
  HandshakeHandler,
  SocketListener,
  TransportFault,
  VendorSocket,
} from '../vendors/transport.ts'
import { BodyError } from './body.ts'
import { connect, type Destination, type Peer, type VendorConnection } from './connect.ts'
import { clientFrame, closePayload, FrameFault, FrameReader, opcode } from './frames.ts'
import { Handshake } from './handshake.ts'
import { HeadError } from './head.ts'
import { WriteQueue } from './write-queue.ts'

interface SocketCall {
  /** Its head is a whole request up to the value of the handshake's key. */
  readonly destination: Destination
  readonly connectMs: number
  /** The time from the request to the vendor's answer. */
  readonly answerMs: number
  readonly maxMessageBytes: number
}

/** How long the vendor's close frame is waited for. */
const closeMs = 2_000
/** Pings are no longer answered while this much is unsent: the vendor is not reading. */
const maxPongBytes = 16_384
const empty = Buffer.alloc(0)

type Phase = 'connecting' | 'answer' | 'open' | 'closing' | 'closed'

/** Connects and performs the handshake; `abort` on the returned socket ends it at any time. */
export function openSocket(call: SocketCall, handler: HandshakeHandler): DialledSocket {
  const made = new DialledSocket(call, handler)
  connect(made)
  return made
}

class DialledSocket implements VendorSocket, Peer {
  readonly destination: Destination
  receivedMs = performance.now()
  private readonly call: SocketCall
  private readonly handler: HandshakeHandler
  private readonly handshake = new Handshake()
  private readonly frames: FrameReader
  private listener: SocketListener | null = null
  private socket: VendorConnection | null = null
  private phase: Phase = 'connecting'
  private timer: ReturnType<typeof setTimeout>
  /** Frames that arrived before there was a listener. */
  private early: Buffer = empty
  private paused = false
  private readonly output = new WriteQueue()

  constructor(call: SocketCall, handler: HandshakeHandler) {
    this.call = call
    this.destination = call.destination
    this.handler = handler
    this.frames = new FrameReader(
      {
        message: (payload, isText) => this.listener?.message(payload, isText),
        ping: (payload) => {
          if (this.waitingBytes < maxPongBytes) this.write(clientFrame(opcode.pong, payload))
        },
        pong: () => undefined,
        close: (code, reason) => {
          const { listener } = this
          this.close(code === 1005 ? 1000 : code, '')
          listener?.closed(code, reason)
        },
      },
      call.maxMessageBytes,
    )
    this.timer = setTimeout(() => this.tooLate('connecting took too long'), call.connectMs)
  }

  get waitingBytes(): number {
    return this.output.waitingBytes
  }

  greeting(socket: VendorConnection): void {
    if (this.phase === 'closed') socket.terminate()
    else this.socket = socket
  }

  opened(socket: VendorConnection): void {
    this.socket = socket
    if (this.phase === 'closed') {
      socket.terminate()
      return
    }
    socket.setNoDelay(true)
    this.phase = 'answer'
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.tooLate('the vendor did not answer'), this.call.answerMs)
    const head = `${this.destination.head}sec-websocket-key: ${this.handshake.key}\r\n\r\n`
    this.write(Buffer.from(head, 'latin1'))
  }

  /** From now on the listener receives messages, first those that have already arrived. */
  start(listener: SocketListener): void {
    this.listener = listener
    const { early } = this
    this.early = empty
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
    // Nothing could be read meanwhile, which is not the vendor's silence.
    this.receivedMs = performance.now()
    this.socket?.resume()
  }

  /** Closes with a close frame; the listener is not called again. */
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

  /** Closes at once; no callback is called again. */
  abort(): void {
    if (this.phase === 'closed') return
    this.phase = 'closed'
    this.listener = null
    this.frames.stop()
    clearTimeout(this.timer)
    this.output.clear()
    this.socket?.terminate()
  }

  received(chunk: Buffer): void {
    this.receivedMs = performance.now()
    try {
      if (this.phase === 'answer') this.answered(chunk)
      else if (this.phase !== 'open') return
      else if (this.listener === null) this.early = Buffer.concat([this.early, chunk])
      else this.read(chunk)
    } catch (error) {
      if (!(error instanceof HeadError || error instanceof BodyError)) throw error
      this.failed({ kind: 'unreadable', message: error.message, unsent: false })
    }
  }

  /** Writes what the socket takes; the rest follows when it drains. */
  flush(): void {
    if (this.socket !== null && this.waitingBytes > 0) this.output.flush(this.socket)
  }

  ended(): void {
    this.lost('the vendor closed the connection')
  }

  lost(
    reason = 'the connection to the vendor was lost',
    kind: 'proxy' | 'unreachable' = 'unreachable',
  ): void {
    const { phase, listener } = this
    if (phase === 'closed' || this.refused()) return
    const unsent = phase === 'connecting'
    if (unsent || phase === 'answer') {
      this.failed({ kind: unsent ? kind : 'reset', message: reason, unsent })
      return
    }
    this.abort()
    listener?.closed(1006, reason)
  }

  private write(bytes: Uint8Array): void {
    const waited = this.waitingBytes > 0
    this.output.push(bytes)
    if (!waited) this.flush()
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

  private answered(chunk: Buffer): void {
    const first = this.handshake.accepted(chunk)
    if (this.handshake.over) this.refused()
    if (first === null) return
    clearTimeout(this.timer)
    this.phase = 'open'
    this.early = first
    this.pause()
    this.handler.open(this)
  }

  /** Whether the vendor has refused; if so, reports its answer as far as it has arrived. */
  private refused(): boolean {
    const { refusal } = this.handshake
    if (refusal === null || this.phase !== 'answer') return false
    this.abort()
    this.handler.refused(refusal.status, refusal.header, this.handshake.text())
    return true
  }

  private tooLate(message: string): void {
    if (this.refused()) return
    const unsent = this.phase === 'connecting'
    const isProxys = unsent && this.destination.proxy !== undefined
    this.failed({ kind: isProxys ? 'proxy' : 'timeout', message, unsent })
  }

  private failed(fault: TransportFault): void {
    this.abort()
    this.handler.fault(fault)
  }
}
