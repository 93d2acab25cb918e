// Parses request heads in the usual form; a head that could be read in two ways is left to the runtime's server.

import type { Buffer } from 'node:buffer'
import type { RequestHeaders } from '../../identity/request-headers.ts'

/** `more`: the head is incomplete. `unusual`: the runtime's server must judge it, whether it is valid or not. */
type Reading = RequestHead | 'more' | 'unusual'

/** Longer heads are left to the runtime's server. */
const mostHeadBytes = 16_384
const headEnd = '\r\n\r\n'
const requestLine = /^(GET|POST|DELETE) (\/[!"$-~]*) HTTP\/1\.1$/
/**
 * All header fields (RFC 9112, section 5), each with its line end: no folding, bare line ends, unusual names, control
 * characters or bytes outside ASCII.
 */
const wellFormed = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e]*\r\n)*$/
const oneHost = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/
const oneLength = /^\d{1,12}$/
/** Each of these changes what follows the head, or what the client waits for. */
const unusualFields = ['transfer-encoding', 'expect', 'upgrade', 'trailer'] as const

export class RequestHead implements RequestHeaders {
  readonly method: string
  /** The path and query, as the request line has them. */
  readonly target: string
  readonly host: string
  /** Length of the body; 0: there is none. */
  readonly bodyBytes: number
  /** Whether the client asks to close the connection after this request. */
  readonly closes: boolean
  /** Length of the head, its last line end included. */
  readonly headBytes: number
  private readonly fields: Fields

  constructor(line: RegExpExecArray, fields: Fields, framing: Framing, headBytes: number) {
    const [, method = '', target = ''] = line
    this.method = method
    this.target = target
    this.host = framing.host
    this.bodyBytes = framing.bodyBytes
    this.closes = framing.closes
    this.headBytes = headBytes
    this.fields = fields
  }

  get(name: string): string | null {
    return valueOf(this.fields, name)
  }

  /** A form is left to the runtime's server, which streams its files to disk. */
  get isForm(): boolean {
    return this.get('content-type')?.toLowerCase().startsWith('multipart/') === true
  }

  has(name: string): boolean {
    return valueOf(this.fields, name) !== null
  }

  *values(): Generator<string, void, void> {
    for (const [, value] of this) yield value
  }

  *[Symbol.iterator](): Generator<[string, string], void, void> {
    const { text, places } = this.fields
    for (let at = 0; at < places.length; at += 3) {
      const colon = places[at + 1] ?? 0
      yield [
        text.slice(places[at], colon).toLowerCase(),
        text.slice(colon + 1, places[at + 2]).trim(),
      ]
    }
  }
}

export function readHead(bytes: Buffer): Reading {
  const end = bytes.indexOf(headEnd, 0, 'latin1')
  if (end > mostHeadBytes || (end < 0 && bytes.length > mostHeadBytes)) return 'unusual'
  if (end < 0) return mayBegin(bytes) ? 'more' : 'unusual'
  const text = bytes.toString('latin1', 0, end + 2)
  const lineEnd = text.indexOf('\r\n')
  const line = requestLine.exec(text.slice(0, lineEnd))
  const rest = text.slice(lineEnd + 2)
  if (line === null || !wellFormed.test(rest)) return 'unusual'
  const fields = { text: rest, places: placesIn(rest) }
  const framing = framingOf(fields, line[1] === 'POST')
  return framing === null ? 'unusual' : new RequestHead(line, fields, framing, end + headEnd.length)
}

const beginnings = ['GET /', 'POST /', 'DELETE /'] as const

/** Whether the bytes may begin a request: a client of another protocol may wait for an answer to its first bytes. */
function mayBegin(bytes: Buffer): boolean {
  const begun = bytes.toString('latin1', 0, 8)
  return beginnings.some((each) => each.startsWith(begun.slice(0, each.length)))
}

interface Fields {
  readonly text: string
  readonly places: readonly number[]
}

interface Framing {
  readonly host: string
  readonly bodyBytes: number
  readonly closes: boolean
}

function placesIn(text: string): number[] {
  const places: number[] = []
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\r\n', at)
    places.push(at, text.indexOf(':', at), end)
    at = end + 2
  }
  return places
}

function valueOf({ text, places }: Fields, name: string): string | null {
  const initial = name.charCodeAt(0)
  let value: string | null = null
  for (let at = 0; at < places.length; at += 3) {
    const start = places[at] ?? 0
    const colon = places[at + 1] ?? 0
    // A cheap test first: most fields differ in length or first letter.
    if (colon - start !== name.length || (text.charCodeAt(start) | 0x20) !== initial) continue
    if (text.slice(start, colon).toLowerCase() !== name) continue
    const found = text.slice(colon + 1, places[at + 2]).trim()
    value = value === null ? found : `${value}, ${found}`
  }
  return value
}

/** null where the framing is not what clients usually send. */
function framingOf(fields: Fields, mayHaveBody: boolean): Framing | null {
  for (const name of unusualFields) if (valueOf(fields, name) !== null) return null
  const host = valueOf(fields, 'host')
  if (host === null || !oneHost.test(host)) return null
  const connection = valueOf(fields, 'connection')?.toLowerCase() ?? 'keep-alive'
  if (connection !== 'keep-alive' && connection !== 'close') return null
  const length = valueOf(fields, 'content-length')
  if (mayHaveBody ? length === null || !oneLength.test(length) : (length ?? '0') !== '0')
    return null
  return { host, bodyBytes: Number(length), closes: connection === 'close' }
}
