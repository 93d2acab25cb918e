// A call that waits for its token: to the attempt it is one exchange like any other.

import { Buffer } from 'node:buffer'
import type { Destination, DialCall } from '../upstream/connection.ts'
import type { Dialer } from '../upstream/dial.ts'
import type { Exchange, ReplyHandler } from '../vendors/transport.ts'
import { TokenMissing, TokenRefused, type Tokens } from './tokens.ts'

/** The head with a field more, right behind the request line. */
function withHeader(destination: Destination, header: string): Destination {
  const { head } = destination
  const at = head.indexOf('\r\n') + 2
  return {
    ...destination,
    head: `${head.slice(0, at)}authorization: ${header}\r\n${head.slice(at)}`,
  }
}

/** Told as the vendor's own refusal of a key, which is what it comes to. */
function refuse(handler: ReplyHandler, message: string): void {
  const error = { error: { code: 401, message, status: 'UNAUTHENTICATED' } }
  handler.head(401, () => null)
  handler.bytes(Buffer.from(JSON.stringify(error), 'utf8'))
  handler.end()
}

/** Opens the call with the channel's token, at once where there is one. */
export function openAuthorized(
  dialer: Dialer,
  call: DialCall,
  handler: ReplyHandler,
  tokens: Tokens,
): Exchange {
  const opened = (header: string): Exchange =>
    dialer.open(
      { ...call, destination: withHeader(call.destination, header) },
      {
        head(status, field) {
          if (status === 401) tokens.drop(header)
          handler.head(status, field)
        },
        bytes: (chunk) => handler.bytes(chunk),
        end: () => handler.end(),
        fault: (fault) => handler.fault(fault),
      },
    )
  const header = tokens.header(dialer, Date.now())
  return typeof header === 'string' ? opened(header) : new Waiting(header, opened, handler)
}

class Waiting implements Exchange {
  private exchange: Exchange | null = null
  private paused = false
  private aborted = false

  constructor(header: Promise<string>, open: (header: string) => Exchange, handler: ReplyHandler) {
    header.then(
      (value) => {
        if (this.aborted) return
        this.exchange = open(value)
        if (this.paused) this.exchange.pause()
      },
      (error: unknown) => {
        if (this.aborted) return
        if (error instanceof TokenRefused) refuse(handler, error.message)
        else if (error instanceof TokenMissing) handler.fault(error.fault)
        else throw error
      },
    )
  }

  pause(): void {
    this.paused = true
    this.exchange?.pause()
  }

  resume(): void {
    this.paused = false
    this.exchange?.resume()
  }

  abort(): void {
    this.aborted = true
    this.exchange?.abort()
  }

  release(): void {
    this.exchange?.release?.()
  }
}
