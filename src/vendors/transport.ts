// The push interface between the relay and whatever carries a call: a connection, or a built-in service.

import type { Upload } from './media.ts'
import type { HandshakeHandler, LocalSocketCall, VendorSocket } from './socket.ts'

/** Told of one reply, synchronously and in order: head once, bytes, then exactly one of end or fault. */
export interface ReplyHandler {
  head(status: number, header: (name: string) => string | null): void
  /** The chunk is the handler's to keep. */
  bytes(chunk: Uint8Array): void
  end(): void
  fault(fault: TransportFault): void
}

export interface TransportFault {
  readonly kind: 'unreachable' | 'timeout' | 'reset' | 'cut' | 'unreadable'
  readonly message: string
  /** Nothing of the request can have reached the vendor. */
  readonly unsent: boolean
}

/** One call under way. After `abort` the handler hears nothing more. */
export interface Exchange {
  pause(): void
  resume(): void
  abort(): void
}

export interface LocalCall {
  readonly dialect: string
  readonly model: string
  readonly body: Uint8Array
  /** Files of a form, whose other fields are then `body` as JSON. */
  readonly uploads?: readonly Upload[]
}

/** A vendor served inside this process. */
export interface LocalService {
  open(call: LocalCall, handler: ReplyHandler): Exchange
  /** Realtime sessions, where it has them. */
  connect?(call: LocalSocketCall, handler: HandshakeHandler): VendorSocket
}
