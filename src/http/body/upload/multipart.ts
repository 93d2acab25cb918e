// Splits a form (multipart/form-data; RFC 7578, RFC 2046 section 5.1) into parts as it arrives, in pieces of any size.

import { Buffer } from 'node:buffer'
import { type GatewayError, invalidRequest } from '../../../errors.ts'
import { safeName } from './file-name.ts'

/** The head of a part, before its bytes. */
export interface PartHead {
  readonly name: string
  /** null: the part is no file. Holds no path, no control characters and at most 255 bytes; may be empty. */
  readonly fileName: string | null
  /** Media type in lower case, without parameters; empty where the client declares none. */
  readonly type: string
}

export interface PartSink {
  begin(head: PartHead): void
  bytes(chunk: Uint8Array): void
  end(): void
}

const maxParts = 100
const maxHeadBytes = 16_384
const lineEnd = Buffer.from('\r\n', 'latin1')
const headEnd = Buffer.from('\r\n\r\n', 'latin1')
const carriageReturn = 0x0d
const dash = 0x2d
const empty = Buffer.alloc(0)

/** Where in the form the parser is. */
const place = { preamble: 0, delimiter: 1, head: 2, body: 3, epilogue: 4 } as const

export class MultipartParser {
  private readonly delimiter: Buffer
  private readonly sink: PartSink
  private where: 0 | 1 | 2 | 3 | 4 = place.preamble
  /** Received bytes that need more bytes to be judged. Begins with a line end: a form may begin with its boundary. */
  private rest: Buffer = lineEnd
  private parts = 0
  /** Bytes of the part's head that are still before the body. */
  private headLeft = 0
  private name: string | null = null

  constructor(boundary: string, sink: PartSink) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.sink = sink
  }

  /** Throws GatewayError where the form is malformed, or what the sink throws. */
  push(chunk: Uint8Array): void {
    if (this.where === place.epilogue) return
    const given = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const bytes = this.rest.length === 0 ? given : Buffer.concat([this.rest, given])
    this.rest = empty
    let at = 0
    while (at < bytes.length) {
      const next = this.step(bytes, at)
      if (next === null) {
        // A copy, so that the few bytes left do not keep the whole chunk in memory.
        this.rest = Buffer.from(bytes.subarray(at))
        return
      }
      at = next
    }
  }

  /** Throws GatewayError where the form is incomplete. */
  end(): void {
    if (this.where === place.epilogue) return
    if (this.where === place.preamble)
      throw malformed(
        'its boundary is not in the body; is the content-type the one it was made with?',
      )
    throw malformed('it ends before its closing boundary', this.name)
  }

  /** Returns the position to continue at; null: more bytes are needed. */
  private step(bytes: Buffer, at: number): number | null {
    switch (this.where) {
      case place.preamble:
        return this.inPreamble(bytes, at)
      case place.delimiter:
        return this.afterDelimiter(bytes, at)
      case place.head:
        return this.inHead(bytes, at)
      case place.body:
        return this.inBody(bytes, at)
      case place.epilogue:
        return bytes.length
    }
  }

  private inPreamble(bytes: Buffer, at: number): number | null {
    const found = bytes.indexOf(this.delimiter, at)
    if (found === -1) {
      const kept = this.maybeDelimiter(bytes, at)
      return kept === at ? null : kept
    }
    this.where = place.delimiter
    return found + this.delimiter.length
  }

  /** After a boundary comes the end of its line, or two dashes that close the form. */
  private afterDelimiter(bytes: Buffer, at: number): number | null {
    const left = bytes.length - at
    if (bytes[at] === dash && (left < 2 || bytes[at + 1] === dash)) {
      if (left < 2) return null
      this.where = place.epilogue
      return bytes.length
    }
    let end = at
    while (bytes[end] === 0x20 || bytes[end] === 0x09) end++
    if (end - at > maxHeadBytes) throw malformed('a boundary is followed by too many blanks')
    if (end >= bytes.length || (end + 1 === bytes.length && bytes[end] === carriageReturn))
      return null
    if (bytes[end] !== carriageReturn || bytes[end + 1] !== 0x0a)
      throw malformed('a boundary is followed by something else than a line end', this.name)
    if (++this.parts > maxParts) throw malformed(`it has more than ${maxParts} parts`)
    this.where = place.head
    // The line end is kept: it ends the head of a part without headers.
    return end
  }

  private inHead(bytes: Buffer, at: number): number | null {
    const end = bytes.indexOf(headEnd, at)
    if (end - at > maxHeadBytes || (end === -1 && bytes.length - at > maxHeadBytes))
      throw malformed(`the head of a part is longer than ${maxHeadBytes} bytes`)
    if (end === -1) return null
    const head = readHead(bytes.toString('utf8', at, end))
    this.name = head.name
    this.where = place.body
    this.sink.begin(head)
    // The last line end is kept: where a part has no body, it belongs to the next boundary.
    this.headLeft = lineEnd.length
    return end + lineEnd.length
  }

  private inBody(bytes: Buffer, at: number): number | null {
    const { delimiter, sink } = this
    const found = bytes.indexOf(delimiter, at)
    const stop = found === -1 ? this.maybeDelimiter(bytes, at) : found
    if (stop > at) {
      const from = at + this.headLeft
      this.headLeft = 0
      if (stop > from) sink.bytes(bytes.subarray(from, stop))
    }
    if (found === -1) return stop === at ? null : stop
    sink.end()
    this.where = place.delimiter
    return found + delimiter.length
  }

  /** The position where an incomplete boundary may begin at the end of the bytes. */
  private maybeDelimiter(bytes: Buffer, from: number): number {
    const { delimiter } = this
    let at = bytes.indexOf(carriageReturn, Math.max(from, bytes.length - delimiter.length + 1))
    while (at !== -1) {
      if (bytes.compare(delimiter, 0, bytes.length - at, at) === 0) return at
      at = bytes.indexOf(carriageReturn, at + 1)
    }
    return bytes.length
  }
}

function malformed(why: string, field: string | null = null): GatewayError {
  return invalidRequest(`The form cannot be read: ${why}.`, field)
}

/** Reads the header lines of a part, each with its line end before it. */
function readHead(text: string): PartHead {
  let disposition: string | null = null
  let type = ''
  for (const line of text.split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    if (colon <= 0) throw malformed('the head of a part has a line without a colon')
    const value = line.slice(colon + 1).trim()
    switch (line.slice(0, colon).trimEnd().toLowerCase()) {
      case 'content-disposition':
        if (disposition !== null) throw malformed('a part has two content-dispositions')
        disposition = value
        break
      case 'content-type':
        type = (value.split(';', 1)[0] ?? '').trim().toLowerCase()
        break
      case 'content-transfer-encoding':
        // RFC 7578, section 4.7: senders should not use this header.
        if (!/^(7bit|8bit|binary)$/i.test(value))
          throw malformed(`a part has the content-transfer-encoding ${shown(value)}`)
        break
    }
  }
  if (disposition === null || !/^form-data\s*(;|$)/i.test(disposition))
    throw malformed('a part has no content-disposition of form-data')
  return { ...namesOf(disposition), type }
}

function namesOf(disposition: string): Pick<PartHead, 'name' | 'fileName'> {
  const parameters = parametersOf(disposition)
  const name = decodedQuote(parameters.get('name') ?? '')
  if (name === '') throw malformed('a part has no name')
  const extended = decodedExtended(parameters.get('filename*'))
  const given = extended ?? parameters.get('filename')
  return { name, fileName: given === undefined ? null : safeName(decodedQuote(given)) }
}

/** Parameters of `form-data; name="a"; filename=b` by lower-case name; the first of each counts. */
function parametersOf(disposition: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const pattern = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/gs
  for (const [, name = '', quoted, plain] of disposition.matchAll(pattern)) {
    const key = name.toLowerCase()
    // Only quotes and backslashes are escaped: old browsers send paths with plain backslashes.
    const value = quoted?.replace(/\\(["\\])/g, '$1') ?? plain ?? ''
    if (!found.has(key)) found.set(key, value)
  }
  return found
}

/** Decodes what browsers write for characters not allowed in quotes (WHATWG HTML, multipart/form-data encoding). */
function decodedQuote(text: string): string {
  return text.replace(/%22/g, '"').replace(/%0D/gi, '\r').replace(/%0A/gi, '\n')
}

/** Decodes an extended value of RFC 5987, such as `UTF-8''na%C3%AFve.png`. */
function decodedExtended(text: string | undefined): string | null {
  const found = /^utf-8'[^']*'(.*)$/is.exec(text ?? '')
  if (found === null) return null
  try {
    return decodeURIComponent(found[1] ?? '')
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}

function shown(text: string): string {
  return text.slice(0, 40).replace(/[^\x21-\x7e]/g, '?')
}
