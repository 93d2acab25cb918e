// Short-lived access tokens for channels whose vendors need one: requested once, kept, renewed before they expire.

import { Buffer } from 'node:buffer'
import type { Destination } from '../upstream/connect.ts'
import type { DialCall } from '../upstream/connection.ts'
import type { Dialer } from '../upstream/dial.ts'
import type { Exchange, ReplyHandler, TransportFault } from '../vendors/transport.ts'
import type { Authority } from '../vendors/vendor.ts'
import { join } from '../wire/json/splice.ts'

/** A token is renewed when it has less than this left, and used until it expires. */
const renewMs = 300_000
/** The lifetime of a token whose server names none. */
const defaultSeconds = 3_600
const askMs = 10_000
/** Bytes of a token server's reply beyond this are ignored; no reply is longer. */
const maxReplyBytes = 65_536

/** The token server refused the channel's key: only the operator can repair that. */
export class TokenRefused extends Error {}

/** The token server could not be reached, or did not give a token. */
export class TokenMissing extends Error {
  readonly fault: TransportFault

  constructor(fault: TransportFault) {
    super(fault.message)
    this.fault = fault
  }
}

interface Token {
  readonly header: string
  readonly endsMs: number
}

/** The tokens of one channel. */
export class Tokens {
  private readonly authority: Authority
  private token: Token | null = null
  private asking: Promise<string> | null = null
  private readonly through: (made: Destination) => Destination

  /** `through`: adds the channel's proxy to a destination. */
  constructor(authority: Authority, through = (made: Destination) => made) {
    this.authority = authority
    this.through = through
  }

  /** The value of `authorization`, at once where a token is kept. Rejects with TokenRefused or TokenMissing. */
  header(dialer: Dialer, nowMs: number): string | Promise<string> {
    const { token } = this
    if (token === null || token.endsMs <= nowMs) return this.ask(dialer, nowMs)
    if (token.endsMs - nowMs < renewMs) {
      // The old token still serves, so a failed renewal matters to nobody yet.
      this.ask(dialer, nowMs).catch(() => undefined)
    }
    return token.header
  }

  /** Drops a token that the vendor refused. */
  drop(header: string): void {
    if (this.token?.header === header) this.token = null
  }

  private ask(dialer: Dialer, nowMs: number): Promise<string> {
    this.asking ??= this.fetched(dialer, nowMs).finally(() => {
      this.asking = null
    })
    return this.asking
  }

  private async fetched(dialer: Dialer, nowMs: number): Promise<string> {
    const { url } = this.authority
    const body = await this.authority.body(nowMs).catch(() => {
      throw new TokenRefused('the private key of the channel cannot be used')
    })
    const destination = this.through(destinationOf(url))
    const reply = await post(dialer, destination, Buffer.from(body, 'utf8'))
    const { header, seconds } = tokenIn(reply)
    this.token = { header, endsMs: nowMs + seconds * 1000 }
    return header
  }
}

interface TokenReply {
  readonly status: number
  readonly body: string
}

/** Reads a token server's reply by RFC 6749, sections 5.1 and 5.2. */
function tokenIn({ status, body }: TokenReply): { header: string; seconds: number } {
  let said: Record<string, unknown> = {}
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null) said = value as Record<string, unknown>
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  const { access_token: token, expires_in: seconds, error, error_description: why } = said
  if (status === 200 && typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) {
    const lasts = typeof seconds === 'number' && seconds > 0 ? seconds : defaultSeconds
    return { header: `Bearer ${token}`, seconds: lasts }
  }
  const reason = [error, why].filter((word) => typeof word === 'string').join(': ')
  const message = `the token server answered ${status}${reason === '' ? '' : ` ${reason}`}`
  if (status >= 400 && status < 500 && status !== 429) throw new TokenRefused(message)
  throw new TokenMissing({ kind: 'unreachable', message, unsent: true })
}

function destinationOf(address: string): Destination {
  const url = new URL(address)
  const tls = url.protocol === 'https:'
  return {
    origin: `${url.protocol}//${url.host}`,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (tls ? 443 : 80) : Number(url.port),
    tls,
    head:
      `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n` +
      'content-type: application/x-www-form-urlencoded\r\naccept: application/json\r\n' +
      'accept-encoding: identity\r\nuser-agent: tollgate\r\ncontent-length: ',
  }
}

function post(dialer: Dialer, destination: Destination, body: Uint8Array): Promise<TokenReply> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let status = 0
    let bytes = 0
    const missing = (fault: TransportFault) => {
      clearTimeout(timer)
      reject(new TokenMissing({ ...fault, message: `the token server: ${fault.message}` }))
    }
    const handler: ReplyHandler = {
      head(replied) {
        status = replied
      },
      bytes(chunk) {
        bytes += chunk.length
        if (bytes <= maxReplyBytes) chunks.push(chunk)
      },
      end() {
        clearTimeout(timer)
        resolve({ status, body: Buffer.from(join(chunks)).toString('utf8') })
      },
      fault: missing,
    }
    const call = {
      destination,
      segments: [body],
      connectMs: askMs,
      sendIdleMs: askMs,
    }
    const exchange = dialer.open(call, handler)
    const timer = setTimeout(() => {
      exchange.abort()
      missing({ kind: 'timeout', message: 'it did not answer in time', unsent: true })
    }, askMs)
  })
}

/** The head with one more field, right behind the request line. */
function withHeader(destination: Destination, header: string): Destination {
  const { head } = destination
  const at = head.indexOf('\r\n') + 2
  return {
    ...destination,
    head: `${head.slice(0, at)}authorization: ${header}\r\n${head.slice(at)}`,
  }
}

/** Reports the refusal as if the vendor itself had refused the key, which has the same meaning. */
function refuse(handler: ReplyHandler, message: string): void {
  const error = { error: { code: 401, message, status: 'UNAUTHENTICATED' } }
  handler.head(401, () => null)
  handler.bytes(Buffer.from(JSON.stringify(error), 'utf8'))
  handler.end()
}

/** Opens the call with the channel's token, at once where one is kept. */
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
    header
      .then((value) => {
        if (this.aborted) return
        this.exchange = open(value)
        if (this.paused) this.exchange.pause()
      })
      .catch((error: unknown) => {
        if (this.aborted) return
        if (error instanceof TokenRefused) refuse(handler, error.message)
        else if (error instanceof TokenMissing) handler.fault(error.fault)
        else {
          reportError(error)
          const message = 'the gateway failed to open the call'
          handler.fault({ kind: 'unreachable', message, unsent: true })
        }
      })
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
