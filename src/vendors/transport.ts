// The push interface between the relay and what carries a call: a connection, or a service in this process.

import type { Buffer } from 'node:buffer'
import type { Upload } from './media.ts'

/** Called for one reply, synchronously and in order: `head` once, `bytes`, then exactly one of `end` and `fault`. */
export interface ReplyHandler {
  head(status: number, header: (name: string) => string | null): void
  /** The handler may keep the chunk. */
  bytes(chunk: Uint8Array): void
  end(): void
  fault(fault: TransportFault): void
}

export interface TransportFault {
  /** `proxy`: the channel's proxy gave no connection to the vendor. */
  readonly kind: 'unreachable' | 'proxy' | 'timeout' | 'reset' | 'cut' | 'unreadable'
  readonly message: string
  /** Certainly no part of the request has reached the vendor. */
  readonly unsent: boolean
}

/** One running call. After `abort` the handler is not called again. */
export interface Exchange {
  /** When a connection was opened for it, by `performance.now()`; null or absent where a kept-alive one was used. */
  readonly connectedMs?: number | null
  pause(): void
  resume(): void
  abort(): void
  /**
   * The handler needs nothing more and is not called again. The connection is kept if its reply ends soon, else closed;
   * absent where there is no connection.
   */
  release?(): void
}

export interface LocalCall {
  readonly dialect: string
  readonly model: string
  readonly body: Uint8Array
  /** Files of a form, whose other fields are then in `body` as JSON. */
  readonly uploads?: readonly Upload[]
}

export interface SocketListener {
  message(payload: Buffer, isText: boolean): void
  /** The vendor closed the socket; 1006: lost, or the protocol was violated. Called once, and last. */
  closed(code: number, reason: string): void
}

export interface VendorSocket {
  /** When something last arrived, by `performance.now()`. */
  readonly receivedMs: number
  /** Bytes that the vendor has not taken yet. */
  readonly waitingBytes: number
  /** From now on the listener receives messages, first those that have already arrived. */
  start(listener: SocketListener): void
  /** Does nothing once the socket is closed. The listener is never called before this returns. */
  send(payload: Uint8Array, isText: boolean): void
  ping(): void
  /** The listener is not called before `resume`. */
  pause(): void
  resume(): void
  /** Closes with a close frame; the listener is not called again. */
  close(code: number, reason: string): void
  /** Closes at once, also during the handshake; no callback is called again. */
  abort(): void
}

/** Exactly one of these is called at the end of the handshake, never before the opening call has returned. */
export interface HandshakeHandler {
  /** Its listener is not called before `VendorSocket.start`. */
  open(socket: VendorSocket): void
  /** The vendor answered, but did not open a socket. */
  refused(status: number, header: (name: string) => string | null, body: string): void
  fault(fault: TransportFault): void
}

export interface LocalSocketCall {
  readonly model: string
  /** A later answer is a fault `timeout`. */
  readonly answerMs: number
}

export type OpenLocal = (call: LocalSocketCall, handler: HandshakeHandler) => VendorSocket

/** A vendor served inside this process. */
export interface LocalService {
  open(call: LocalCall, handler: ReplyHandler): Exchange
  /** Loads the code that opens realtime sessions, where the service has them. */
  sockets?(): Promise<OpenLocal>
}
