// The push interface between the relay and whatever carries a call: a connection, or a built-in service.

import type { Buffer } from 'node:buffer'
import type { Upload } from './media.ts'

/** Called with one reply, synchronously and in order: head once, bytes, then exactly one of end or fault. */
export interface ReplyHandler {
  head(status: number, header: (name: string) => string | null): void
  /** The chunk is the handler's to keep. */
  bytes(chunk: Uint8Array): void
  end(): void
  fault(fault: TransportFault): void
}

export interface TransportFault {
  /** `proxy`: the one that the channel goes through let nothing through. */
  readonly kind: 'unreachable' | 'proxy' | 'timeout' | 'reset' | 'cut' | 'unreadable'
  readonly message: string
  /** Nothing of the request can have reached the vendor. */
  readonly unsent: boolean
}

/** One call under way. After `abort` the handler is not called again. */
export interface Exchange {
  /** `performance.now()` when a connection was made for it; null or absent where one was kept. */
  readonly connectedMs?: number | null
  pause(): void
  resume(): void
  abort(): void
  /**
   * The handler has all it wants and is not called again. A connection whose reply soon ends may carry another call, any
   * other is closed; absent where there is none.
   */
  release?(): void
}

export interface LocalCall {
  readonly dialect: string
  readonly model: string
  readonly body: Uint8Array
  /** Files of a form, whose other fields are then `body` as JSON. */
  readonly uploads?: readonly Upload[]
}

export interface SocketListener {
  message(payload: Buffer, isText: boolean): void
  /** The vendor closed; 1006: the connection was lost, or it broke the protocol. Once, and the last. */
  closed(code: number, reason: string): void
}

export interface VendorSocket {
  /** `performance.now()` when anything came last. */
  readonly receivedMs: number
  /** Bytes the vendor has not taken yet. */
  readonly waitingBytes: number
  /** From now on the listener receives messages, those first that have come already. */
  start(listener: SocketListener): void
  /** Of no effect once it is closed. The listener is never called before this returns. */
  send(payload: Uint8Array, isText: boolean): void
  ping(): void
  /** The listener is not called until `resume`. */
  pause(): void
  resume(): void
  /** Closes cleanly; the listener is not called again. */
  close(code: number, reason: string): void
  /** Ends it at once, in its handshake too; no callback is called again. */
  abort(): void
}

/** Called as the handshake ends: exactly one of these, never before whoever opens the socket has it in hand. */
export interface HandshakeHandler {
  /** Its listener is not called before `VendorSocket.start`. */
  open(socket: VendorSocket): void
  /** The vendor answered, but with no socket. */
  refused(status: number, header: (name: string) => string | null, body: string): void
  fault(fault: TransportFault): void
}

export interface LocalSocketCall {
  readonly model: string
  /** An answer that takes longer is a fault `timeout`. */
  readonly answerMs: number
}

export type OpenLocal = (call: LocalSocketCall, handler: HandshakeHandler) => VendorSocket

/** A vendor served inside this process. */
export interface LocalService {
  open(call: LocalCall, handler: ReplyHandler): Exchange
  /** Loads what opens realtime sessions, where it has them. */
  sockets?(): Promise<OpenLocal>
}
