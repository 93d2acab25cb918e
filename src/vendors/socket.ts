// What a realtime session needs of a vendor's WebSocket, whether it is dialled or of a built-in vendor.

import type { Buffer } from 'node:buffer'
import type { TransportFault } from './transport.ts'

export interface SocketListener {
  message(payload: Buffer, isText: boolean): void
  /** The vendor closed; 1006: the connection was lost, or it broke the protocol. Once, and the last. */
  closed(code: number, reason: string): void
}

export interface VendorSocket {
  /** `performance.now()` when anything came last. */
  readonly heardMs: number
  /** Bytes the vendor has not taken yet. */
  readonly waitingBytes: number
  /** From now on the listener hears of messages, of those first that have come already. */
  start(listener: SocketListener): void
  /** Of no effect once it is closed. What comes of it is never heard before this returns. */
  send(payload: Uint8Array, isText: boolean): void
  ping(): void
  /** Nothing is heard until `resume`. */
  pause(): void
  resume(): void
  /** Closes in good order; the listener hears nothing more. */
  close(code: number, reason: string): void
  /** Ends it at once, in its handshake too; nobody hears anything more. */
  abort(): void
}

/** Told how the handshake ended: exactly one of these, never before whoever opens the socket has it in hand. */
export interface HandshakeHandler {
  /** Nothing is heard of it before `VendorSocket.start`. */
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
