// Reads a request's body within its limits of bytes and time.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { GatewayError, invalidRequest } from '../../errors.ts'
import type { ClientRequest } from '../../operations/operation.ts'
import type { Deadlines, Timed } from '../../relay/deadlines.ts'
import { join } from '../../wire/json/splice.ts'

/** The declared content length; null where the body streams without one. Throws GatewayError. */
export function declaredLength(request: ClientRequest, maxBytes: number): number | null {
  const text = request.headers.get('content-length')
  if (text === null) {
    checkTrailer(request)
    return null
  }
  const length = Number(text)
  if (length > maxBytes) throw tooLarge(maxBytes)
  return length
}

function checkTrailer({ headers }: ClientRequest): void {
  if (headers.has('trailer'))
    throw invalidRequest('Trailer fields are not taken: send the body alone.', 'trailer')
}

/**
 * A chunked body ends before its trailer section, and the runtime answers a trailer with a 400 of its own: waits until
 * the runtime has read what arrived with the last chunk, so that no work begins for such a request. Rejects with
 * GatewayError.
 */
export async function messageEnded(request: ClientRequest): Promise<void> {
  await nextTurn()
  if (request.signal.aborted) throw broken()
}

function broken(): GatewayError {
  return invalidRequest('The request body broke off before its end.', null)
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('request_too_large', `The request body is larger than ${maxBytes} bytes.`)
}

class BodyTimer implements Timed {
  slot = -1
  private readonly deadlineMs: number
  private readonly reject: (error: GatewayError) => void

  constructor(deadlineMs: number, reject: (error: GatewayError) => void) {
    this.deadlineMs = deadlineMs
    this.reject = reject
  }

  tick(nowMs: number): void {
    if (nowMs < this.deadlineMs) return
    this.reject(new GatewayError('request_timeout', 'The request body did not arrive in time.'))
  }
}

interface BodyBounds {
  readonly maxBytes: number
  readonly timeoutMs: number
  /** Called with the number of received bytes of a body without a declared length; may throw. */
  grow(bytes: number): void
}

/** Rejects with GatewayError `request_too_large`, or `request_timeout` when the body arrives too slowly. */
export function readBody(
  request: ClientRequest,
  length: number | null,
  bounds: BodyBounds,
  deadlines: Deadlines,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const timer = new BodyTimer(performance.now() + bounds.timeoutMs, reject)
    deadlines.add(timer)
    const reading = length === null ? readUnsized(request, bounds) : request.bytes()
    const settle = () => deadlines.delete(timer)
    reading.then(
      (bytes) => {
        settle()
        resolve(bytes)
      },
      (error) => {
        settle()
        reject(unread(error))
      },
    )
  })
}

/** The client broke off the body, so nobody is left to read the reply: any refusal will do. */
function unread(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  return broken()
}

async function readUnsized(request: ClientRequest, bounds: BodyBounds): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array(0)
  const reader = request.body.getReader()
  const gathered = new Gathered()
  let bytes = 0
  let pieces = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) {
      await messageEnded(request)
      return gathered.end()
    }
    bytes += value.length
    try {
      if (bytes > bounds.maxBytes) throw tooLarge(bounds.maxBytes)
      bounds.grow(value.length)
    } catch (error) {
      await reader.cancel()
      throw error
    }
    gathered.push(value)
    // All pieces of one read come without a turn of the event loop between them, and the client chooses their size.
    if (++pieces % piecesInTurn === 0) await nextTurn()
  }
}

const piecesInTurn = 1_000
const blockBytes = 65_536

/** Joins pieces; small ones are copied, since each as an object of its own takes a hundred times its bytes. */
class Gathered {
  private readonly pieces: Uint8Array[] = []
  private block = new Uint8Array(0)
  private used = 0

  push(piece: Uint8Array): void {
    if (piece.length >= blockBytes / 16) {
      this.flush()
      this.pieces.push(piece)
      return
    }
    if (this.used + piece.length > this.block.length) {
      this.flush()
      this.block = new Uint8Array(blockBytes)
    }
    this.block.set(piece, this.used)
    this.used += piece.length
  }

  end(): Uint8Array {
    this.flush()
    return join(this.pieces)
  }

  private flush(): void {
    if (this.used > 0) this.pieces.push(this.block.subarray(0, this.used))
    this.block = this.block.subarray(this.used)
    this.used = 0
  }
}
