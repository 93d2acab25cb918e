// Parses the head of an HTTP/1.1 reply, strictly: a head that two parsers could read differently is refused.

import { Buffer } from 'node:buffer'

/** How the length of the body is determined (RFC 9112, section 6.3). */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' }

/** A malformed or ambiguous head; the message says why. */
export class HeadError extends Error {}

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\r\n]*)?$/
const maxFields = 256
const maxHeadBytes = 65_536
const headEnd = Buffer.from('\r\n\r\n')
const empty = Buffer.alloc(0)
const maxLengthDigits = 15

const none: Framing = { kind: 'none' }
const chunked: Framing = { kind: 'chunked' }
const untilClose: Framing = { kind: 'until-close' }

/** All fields (RFC 9112, section 5): no folding, bare line ends, odd names or NUL, all known from request smuggling. */
const wellFormed = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*(?:\r\n|$))*$/

/** The head of one reply. Fields are validated at once, but parsed only when one is asked for. */
export class ReplyHead {
  readonly status: number
  readonly framing: Framing
  readonly keepAlive: boolean
  /** In lower case; null when absent or `identity`. */
  readonly contentEncoding: string | null
  private readonly text: string
  /** Offsets in `text`, three for each field: the name's start and end, and the value's end. */
  private readonly places: number[] = []

  /** `text` is the head without its blank line, one character per byte. Throws HeadError. */
  constructor(text: string) {
    const firstEnd = text.indexOf('\r\n')
    const first = statusLine.exec(firstEnd === -1 ? text : text.slice(0, firstEnd))
    if (first === null) throw new HeadError('the reply does not begin with an HTTP/1.1 status line')
    this.text = firstEnd === -1 ? '' : text.slice(firstEnd + 2)
    this.status = Number(first[2])
    this.findFields()
    this.framing = this.framingOf()
    const connection = this.header('connection')?.toLowerCase() ?? ''
    const persistent =
      first[1] === '1' ? !connection.includes('close') : connection.includes('keep-alive')
    this.keepAlive = persistent && this.framing !== untilClose
    const coding = this.header('content-encoding')?.toLowerCase() ?? null
    this.contentEncoding = coding === 'identity' || coding === '' ? null : coding
  }

  /** The value of a header by its lower-case name; repeated ones are joined by a comma. */
  readonly header = (name: string): string | null => {
    const { text, places } = this
    let value: string | null = null
    for (let at = 0; at < places.length; at += 3) {
      const start = places[at] ?? 0
      const end = places[at + 1] ?? 0
      if (end - start !== name.length || !isNamed(text, start, name)) continue
      const found = text.slice(end + 1, places[at + 2]).trim()
      value = value === null ? found : this.joined(name, value, found)
    }
    return value
  }

  private joined(name: string, before: string, found: string): string {
    if (name !== 'content-length') return `${before}, ${found}`
    if (before !== found) throw new HeadError('the reply gives two different lengths')
    return before
  }

  private findFields(): void {
    const { text, places } = this
    if (!wellFormed.test(text)) throw new HeadError('the reply has a malformed header field')
    let at = 0
    while (at < text.length) {
      const colon = text.indexOf(':', at)
      const end = text.indexOf('\r\n', colon)
      const stop = end === -1 ? text.length : end
      places.push(at, colon, stop)
      at = end === -1 ? text.length : end + 2
    }
    if (places.length > 3 * maxFields) throw new HeadError('the reply has too many header fields')
  }

  private framingOf(): Framing {
    const coding = this.header('transfer-encoding')
    const length = this.header('content-length')
    if (coding !== null && length !== null) {
      throw new HeadError('the reply gives a length beside a transfer coding')
    }
    if (this.status < 200 || this.status === 204 || this.status === 304) return none
    if (coding !== null) {
      if (coding.toLowerCase() !== 'chunked')
        throw new HeadError('the reply uses an unknown transfer coding')
      return chunked
    }
    if (length === null) return untilClose
    if (!/^\d+$/.test(length) || length.length > maxLengthDigits) {
      throw new HeadError('the reply gives a malformed length')
    }
    return { kind: 'length', bytes: Number(length) }
  }
}

/** Compares a field's name with one of a-z, 0-9 and hyphens, to which `| 0x20` maps no other name character. */
function isNamed(text: string, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++)
    if ((text.charCodeAt(start + at) | 0x20) !== name.charCodeAt(at)) return false
  return true
}

/** Parses the head in the bytes before the blank line at `end`. Throws HeadError. */
export function parseHead(bytes: Buffer, end: number): ReplyHead {
  return new ReplyHead(bytes.toString('latin1', 0, end))
}

/** Collects heads, which may be split anywhere. */
export class HeadReader {
  /** The offset in the last chunk of the first byte after the head. */
  next = 0
  private carry: Buffer = empty

  /** Part of a head has arrived. */
  get begun(): boolean {
    return this.carry.length > 0
  }

  /** Returns null before the head is complete. Throws HeadError. */
  take(chunk: Buffer, from: number): ReplyHead | null {
    const whole =
      !this.begun && from === 0 ? chunk : Buffer.concat([this.carry, chunk.subarray(from)])
    const end = whole.indexOf(headEnd)
    if (end > maxHeadBytes || (end === -1 && whole.length > maxHeadBytes)) {
      throw new HeadError('the reply head is too long')
    }
    this.carry = end === -1 ? whole : empty
    this.next = end === -1 ? chunk.length : chunk.length - (whole.length - end - headEnd.length)
    return end === -1 ? null : parseHead(whole, end)
  }
}
