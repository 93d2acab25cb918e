// Counts requests and body bytes under way, and refuses requests past the bounds before their bodies are read.

import { GatewayError } from '../errors.ts'

interface LoadBounds {
  readonly maxInFlight: number
  readonly maxBufferedBytes: number
}

const retryAfterMs = 1_000

export class Load {
  inFlight = 0
  bufferedBytes = 0
  /** True before shutdown: requests are still served, but the process reports itself as not ready for more. */
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

  /** Reserves room for more bytes of a body without a declared length. Throws GatewayError `service_unavailable`. */
  grow(bytes: number, { maxBufferedBytes }: LoadBounds): void {
    if (this.bufferedBytes + bytes > maxBufferedBytes) throw atCapacity()
    this.bufferedBytes += bytes
  }

  /** Gives the place back: once for each `enter`, with the bytes of `enter` and `grow` together. */
  leave(bytes: number): void {
    this.inFlight--
    this.bufferedBytes -= bytes
    if (this.inFlight === 0) this.idle?.()
  }

  /** Refuses new requests; resolves when the last one under way has ended. */
  drain(): Promise<void> {
    this.draining = true
    if (this.inFlight === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.idle = resolve
    })
  }
}

export function atCapacity(): GatewayError {
  return new GatewayError('service_unavailable', 'The gateway is at capacity; retry shortly.', {
    retryAfterMs,
  })
}
