// Reads the head of one HTTP/1.1 reply, strictly: what two parsers could read in two ways is refused.

import type { Buffer } from 'node:buffer'

/** How the length of the body is known (RFC 9112, section 6.3). */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' }

export interface ReplyHead {
  readonly status: number
  readonly framing: Framing
  readonly keepAlive: boolean
  /** Lower case; null when absent or `identity`. */
  readonly contentEncoding: string | null
  /** Looks a header up by lower-case name; repeated ones are joined by a comma. */
  header(name: string): string | null
}

/** A head that cannot be trusted; the message says why. */
export class HeadError extends Error {}

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\r\n]*)?$/
const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const maxFields = 256
const maxLengthDigits = 15

/**
 * Parses the bytes before the blank line. Throws HeadError on folding, bare line ends, doubtful
 * lengths, or a length beside a transfer coding: each has served to smuggle replies.
 */
export function parseHead(bytes: Buffer, end: number): ReplyHead {
  const lines = bytes.toString('latin1', 0, end).split('\r\n')
  const first = statusLine.exec(lines[0] ?? '')
  if (first === null) throw new HeadError('the reply does not begin with an HTTP/1.1 status line')
  if (lines.length > maxFields) throw new HeadError('the reply has too many header fields')
  const fields = new Map<string, string>()
  for (let at = 1; at < lines.length; at++) addField(fields, lines[at] ?? '')
  const status = Number(first[2])
  const connection = fields.get('connection')?.toLowerCase() ?? ''
  const framing = framingOf(status, fields)
  const persistent =
    first[1] === '1' ? !connection.includes('close') : connection.includes('keep-alive')
  const coding = fields.get('content-encoding')?.trim().toLowerCase() ?? null
  return {
    status,
    framing,
    keepAlive: persistent && framing.kind !== 'until-close',
    contentEncoding: coding === 'identity' || coding === '' ? null : coding,
    header: (name) => fields.get(name) ?? null,
  }
}

function addField(fields: Map<string, string>, line: string): void {
  const colon = line.indexOf(':')
  const name = colon > 0 ? line.slice(0, colon) : ''
  if (!fieldName.test(name)) throw new HeadError('the reply has a malformed header field')
  const value = line.slice(colon + 1).trim()
  if (value.includes('\n') || value.includes('\r') || value.includes('\0')) {
    throw new HeadError('the reply has a control character in a header field')
  }
  const key = name.toLowerCase()
  const before = fields.get(key)
  if (before === undefined) fields.set(key, value)
  else if (key === 'content-length') {
    if (before !== value) throw new HeadError('the reply gives two different lengths')
  } else fields.set(key, `${before}, ${value}`)
}

function framingOf(status: number, fields: Map<string, string>): Framing {
  const coding = fields.get('transfer-encoding')
  const length = fields.get('content-length')
  if (coding !== undefined && length !== undefined) {
    throw new HeadError('the reply gives a length beside a transfer coding')
  }
  if (status < 200 || status === 204 || status === 304) return { kind: 'none' }
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked')
      throw new HeadError('the reply uses an unknown transfer coding')
    return { kind: 'chunked' }
  }
  if (length === undefined) return { kind: 'until-close' }
  if (!/^\d+$/.test(length) || length.length > maxLengthDigits) {
    throw new HeadError('the reply gives a malformed length')
  }
  return { kind: 'length', bytes: Number(length) }
}
