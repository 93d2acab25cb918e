// How much is under way: the bounds past which a request is turned away before its body is read.

import { GatewayError } from '../errors.ts'

interface LoadBounds {
  readonly maxInFlight: number
  readonly maxBufferedBytes: number
}

const retryAfterMs = 1_000

export class Load {
  inFlight = 0
  bufferedBytes = 0
  /** The server is about to stop: it serves what comes, and asks for nothing more to be sent. */
  leaving = false
  draining = false
  private idle: (() => void) | null = null

  /** Takes a place for a request of this many bytes. Throws GatewayError `service_unavailable`. */
  enter(bytes: number, bounds: LoadBounds): void {
    if (this.draining) {
      throw new GatewayError('service_unavailable', 'The gateway is restarting.', { retryAfterMs })
    }
    if (
      this.inFlight >= bounds.maxInFlight ||
      this.bufferedBytes + bytes > bounds.maxBufferedBytes
    ) {
      throw atCapacity()
    }
    this.inFlight++
    this.bufferedBytes += bytes
  }

  /** Takes room for more bytes of a body that did not say its length. Throws GatewayError `service_unavailable`. */
  grow(bytes: number, { maxBufferedBytes }: LoadBounds): void {
    if (this.bufferedBytes + bytes > maxBufferedBytes) throw atCapacity()
    this.bufferedBytes += bytes
  }

  /** Gives the place back: once for each `enter`, with the bytes of both. */
  leave(bytes: number): void {
    this.inFlight--
    this.bufferedBytes -= bytes
    if (this.inFlight === 0) this.idle?.()
  }

  /** Admits nobody new; resolves when the last request has left. */
  drain(): Promise<void> {
    this.draining = true
    if (this.inFlight === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.idle = resolve
    })
  }
}

function atCapacity(): GatewayError {
  return new GatewayError('service_unavailable', 'The gateway is at capacity; retry shortly.', {
    retryAfterMs,
  })
}
