// Decodes the body of an HTTP/1.1 reply from its framing, piece by piece, without copying.

import type { Buffer } from 'node:buffer'
import type { Framing } from './head.ts'
import { noteRead } from './read-memory.ts'

/** Receives the decoded bytes of the body. */
interface BodySink {
  bytes(chunk: Uint8Array): void
}

/** The body violates its framing; the message says how. */
export class BodyError extends Error {}

const carriageReturn = 0x0d
const lineFeed = 0x0a
const maxSizeLineBytes = 1024
const maxTrailerBytes = 16_384
const maxSizeDigits = 8

/** States of the chunked coding's decoder (RFC 9112, section 7.1). */
const place = { size: 0, data: 1, dataEnd: 2, trailer: 3 } as const

/** The value of a hexadecimal digit; -1 for any other byte. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** Decodes one body. `push` returns how many bytes of the chunk belonged to it. */
export class BodyDecoder {
  done: boolean
  private readonly framing: Framing
  private readonly sink: BodySink
  private left: number
  private where: 0 | 1 | 2 | 3 = place.size
  private line = ''
  private trailerBytes = 0

  constructor(framing: Framing, sink: BodySink) {
    this.framing = framing
    this.sink = sink
    this.left = framing.kind === 'length' ? framing.bytes : 0
    this.done = framing.kind === 'none' || (framing.kind === 'length' && framing.bytes === 0)
  }

  /** Throws BodyError where the bytes violate the framing. */
  push(chunk: Buffer, from: number): number {
    if (this.framing.kind === 'chunked') return this.pushChunked(chunk, from)
    if (this.framing.kind === 'until-close') {
      this.sink.bytes(from === 0 ? chunk : chunk.subarray(from))
      return chunk.length - from
    }
    const take = Math.min(this.left, chunk.length - from)
    this.left -= take
    this.done = this.left === 0
    if (take > 0) {
      const bytes = chunk.subarray(from, from + take)
      // A head in front of these bytes was copied, so nothing else needs the memory of this read.
      noteRead(bytes)
      this.sink.bytes(bytes)
    }
    return take
  }

  private pushChunked(chunk: Buffer, from: number): number {
    let at = from
    while (at < chunk.length && !this.done) {
      if (this.where === place.data) {
        const take = Math.min(this.left, chunk.length - at)
        this.left -= take
        // The state is set before the sink runs: an abort inside it must find the decoder consistent.
        if (this.left === 0) this.where = place.dataEnd
        this.sink.bytes(chunk.subarray(at, at + take))
        at += take
      } else {
        const next = this.readShort(chunk, at)
        at = next < 0 ? this.readLine(chunk, at) : next
      }
    }
    return at - from
  }

  /** Reads a line that is whole and without extensions directly in the chunk; -1: `readLine` has to take it. */
  private readShort(chunk: Buffer, from: number): number {
    if (this.line !== '' || this.where === place.trailer) return -1
    let size = 0
    let at = from
    if (this.where === place.size) {
      for (; at - from < maxSizeDigits; at++) {
        const digit = digitOf(chunk[at] ?? 0)
        if (digit < 0) break
        size = size * 16 + digit
      }
      if (at === from) return -1
    }
    if (chunk[at] !== carriageReturn || chunk[at + 1] !== lineFeed) return -1
    if (this.where === place.dataEnd) this.where = place.size
    else {
      this.left = size
      this.where = size === 0 ? place.trailer : place.data
    }
    return at + 2
  }

  /** Collects one line, which may be split anywhere, and acts on it when it is complete. */
  private readLine(chunk: Buffer, from: number): number {
    const end = chunk.indexOf(lineFeed, from)
    const stop = end === -1 ? chunk.length : end + 1
    const piece = chunk.toString('latin1', from, stop)
    this.line = this.line === '' ? piece : this.line + piece
    if (this.line.length > maxSizeLineBytes) throw new BodyError('a chunk size line is too long')
    if (end === -1) return stop
    const line = this.line
    this.line = ''
    if (line.length < 2 || line.charCodeAt(line.length - 2) !== carriageReturn) {
      throw new BodyError('a chunk line does not end in CRLF')
    }
    this.takeLine(line.slice(0, -2))
    return stop
  }

  private takeLine(line: string): void {
    if (this.where === place.size) {
      const semicolon = line.indexOf(';')
      const size = (semicolon === -1 ? line : line.slice(0, semicolon)).trimEnd()
      if (!/^[0-9A-Fa-f]{1,8}$/.test(size)) throw new BodyError('a chunk size is malformed')
      this.left = Number.parseInt(size, 16)
      this.where = this.left === 0 ? place.trailer : place.data
    } else if (this.where === place.dataEnd) {
      if (line !== '') throw new BodyError('a chunk is longer than its size says')
      this.where = place.size
    } else if (line === '') this.done = true
    else {
      this.trailerBytes += line.length
      if (this.trailerBytes > maxTrailerBytes) throw new BodyError('the trailer is too long')
    }
  }
}
