// Server-sent events as bytes: cuts a stream into frames and reads one frame (WHATWG HTML, 9.2.6).

import { textOf } from './json/scan.ts'

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const COLON = 0x3a

/** Longest frame accepted unless said otherwise: 8 MiB, as some vendors send a picture in an event of a chat. */
const maxFrameBytes = 8 << 20
/** The same for formats whose events may hold a whole picture or document as base64: 64 MiB. */
export const maxFileFrameBytes = 67_108_864
/** What `push` and `end` return when a frame is longer than the bound. */
export const frameTooLong = -1

const empty = new Uint8Array(0)

/**
 * Cuts a byte stream, given in any pieces, into frames with LF line ends: CR and CRLF are rewritten and
 * a byte order mark is dropped, because some clients split on exactly two LF. After `push`, frame `i` is
 * `bytes[starts[i], ends[i])`, its blank line included; the next call overwrites the lists but never the
 * bytes, which the caller may keep.
 */
export class FrameSplitter {
  bytes: Uint8Array = empty
  /** The next piece of the long frame in progress, which precedes `starts` and `ends`; null if none is. */
  part: Uint8Array | null = null
  /** Whether the long frame ends with `part`. */
  partEnds = false
  /** The beginning of a long frame that follows the frames of `starts` and `ends`. */
  opened: Uint8Array | null = null
  readonly starts: number[] = []
  readonly ends: number[] = []
  private readonly maxBytes: number
  private readonly longBytes: number
  /** Bytes given away of the long frame in progress; 0: there is none. */
  private passedBytes = 0
  private lineFeedLast = false
  /** The incomplete frame so far: `tail[0, tailLength)`. */
  private tail: Uint8Array = empty
  private tailLength = 0
  /** Whether `tail` may be written to; false where it is a view into bytes the caller may keep. */
  private tailOwned = false
  /** No frame ends in the tail before this offset. */
  private searched = 0
  private afterCarriageReturn = false
  /** Whether a byte order mark may still come. */
  private beginning = true

  /** A frame longer than `longBytes` is given in pieces as they arrive, and not held. */
  constructor(maxBytes: number = maxFrameBytes, longBytes = Number.POSITIVE_INFINITY) {
    this.maxBytes = maxBytes
    this.longBytes = longBytes
  }

  /** Takes the next piece; gives the number of frames it completed, or `frameTooLong`. */
  push(chunk: Uint8Array): number {
    let piece = chunk
    if (this.afterCarriageReturn || piece.indexOf(CR) >= 0) piece = this.withLineFeeds(piece)
    this.part = null
    this.opened = null
    if (piece.length === 0) return this.none()
    return this.passedBytes === 0 ? this.gather(piece) : this.pass(piece)
  }

  private gather(piece: Uint8Array): number {
    const bytes = this.tailLength === 0 ? piece : this.append(piece)
    const length = this.tailLength === 0 ? piece.length : this.tailLength
    return this.cut(bytes, length)
  }

  /** Ends the stream; gives 1 where the last frame lacked its blank line and is now complete, else 0. */
  end(): number {
    if (this.passedBytes > 0) return this.push(new Uint8Array(this.lineFeedLast ? 1 : 2).fill(LF))
    this.part = null
    this.opened = null
    if (this.tailLength === 0) return this.none()
    const missing = this.tail[this.tailLength - 1] === LF ? 1 : 2
    return this.push(new Uint8Array(missing).fill(LF))
  }

  /** Gives the next piece of a long frame, up to its blank line; the rest is cut into frames again. */
  private pass(piece: Uint8Array): number {
    const end = this.blankLineEnd(piece)
    const until = end < 0 ? piece.length : end
    this.passedBytes += until
    if (this.passedBytes > this.maxBytes) return frameTooLong
    this.part = piece.subarray(0, until)
    this.partEnds = end >= 0
    this.lineFeedLast = piece[until - 1] === LF
    if (end < 0) return this.none()
    this.passedBytes = 0
    return until === piece.length ? this.none() : this.gather(piece.subarray(until))
  }

  /** Offset after the line feed that ends a blank line; -1 where there is none. */
  private blankLineEnd(piece: Uint8Array): number {
    if (this.lineFeedLast && piece[0] === LF) return 1
    for (let at = piece.indexOf(LF); at >= 0; at = piece.indexOf(LF, at + 1))
      if (piece[at + 1] === LF) return at + 2
    return -1
  }

  private none(): number {
    this.starts.length = 0
    this.ends.length = 0
    return 0
  }

  private cut(bytes: Uint8Array, length: number): number {
    let at = this.skipMark(bytes, length)
    if (at < 0) return this.keep(bytes, 0, length)
    let count = 0
    let from = Math.max(at, this.searched)
    // Not the part of a growing buffer that is not filled yet: small pieces would have it searched again and again.
    const filled = length === bytes.length ? bytes : bytes.subarray(0, length)
    for (;;) {
      while (bytes[at] === LF && at < length) at++
      const lineEnd = filled.indexOf(LF, Math.max(from, at))
      if (lineEnd < 0 || lineEnd + 1 >= length) break
      from = lineEnd + 1
      if (bytes[from] !== LF) continue
      from++
      if (from - at > this.maxBytes) return frameTooLong
      this.starts[count] = at
      this.ends[count] = from
      count++
      at = from
    }
    this.starts.length = count
    this.ends.length = count
    if (length - at > this.maxBytes) return frameTooLong
    this.bytes = bytes
    if (length - at > this.longBytes) this.open(bytes.subarray(at, length))
    else this.keepTail(bytes, at, length, count)
    return count
  }

  private open(beginning: Uint8Array): void {
    this.opened = beginning
    this.passedBytes = beginning.length
    this.lineFeedLast = beginning[beginning.length - 1] === LF
    this.tail = empty
    this.tailLength = 0
    this.tailOwned = false
    this.searched = 0
  }

  /** Where the first frame begins; -1 while a byte order mark may still be incomplete. */
  private skipMark(bytes: Uint8Array, length: number): number {
    if (!this.beginning) return 0
    if (bytes[0] === 0xef && length < 3) return -1
    this.beginning = false
    return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  }

  private keep(bytes: Uint8Array, at: number, length: number): number {
    this.keepTail(bytes, at, length, 0)
    return this.none()
  }

  /** Keeps `bytes[at, length)`; as a view if frames in the same buffer (`given`) were handed out. */
  private keepTail(bytes: Uint8Array, at: number, length: number, given: number): void {
    if (given === 0 && at === 0 && this.tailOwned) {
      this.tailLength = length
    } else {
      this.tail = at === length ? empty : bytes.subarray(at, length)
      this.tailLength = length - at
      this.tailOwned = false
    }
    // The last byte may be the first of the two line feeds that end a frame.
    this.searched = Math.max(0, this.tailLength - 1)
  }

  /** The tail with `piece` behind it, in a buffer that grows by doubling. */
  private append(piece: Uint8Array): Uint8Array {
    const length = this.tailLength + piece.length
    if (!this.tailOwned || length > this.tail.length) {
      const grown = new Uint8Array(Math.max(length, this.tailLength * 2, 1024))
      grown.set(this.tail.subarray(0, this.tailLength))
      this.tail = grown
      this.tailOwned = true
    }
    this.tail.set(piece, this.tailLength)
    this.tailLength = length
    return this.tail
  }

  /** Copies what stands between carriage returns as a whole: events have few of them, and may have megabytes. */
  private withLineFeeds(chunk: Uint8Array): Uint8Array {
    const out = new Uint8Array(chunk.length)
    let length = 0
    let from = this.afterCarriageReturn && chunk[0] === LF ? 1 : 0
    for (;;) {
      const at = chunk.indexOf(CR, from)
      const until = at < 0 ? chunk.length : at
      if (until > from) out.set(chunk.subarray(from, until), length)
      length += until - from
      if (at < 0) break
      out[length++] = LF
      from = chunk[at + 1] === LF ? at + 2 : at + 1
    }
    if (chunk.length > 0) this.afterCarriageReturn = chunk[chunk.length - 1] === CR
    return out.subarray(0, length)
  }
}

interface FrameText {
  /** The data lines joined with LF; null where the frame has none (a comment, say). */
  readonly data: string | null
  readonly event: string | null
}

/** Reads one frame with LF line ends. */
export function frameData(bytes: Uint8Array, start: number, end: number): FrameText {
  let data: string | null = null
  let event: string | null = null
  let at = start
  while (at < end) {
    let lineEnd = bytes.indexOf(LF, at)
    if (lineEnd < 0 || lineEnd > end) lineEnd = end
    let colon = at
    while (colon < lineEnd && bytes[colon] !== COLON) colon++
    if (colon > at) {
      const field = textOf(bytes, at, colon)
      const value = bytes[colon + 1] === SPACE ? colon + 2 : colon + 1
      if (field === 'data') {
        const line = textOf(bytes, Math.min(value, lineEnd), lineEnd)
        data = data === null ? line : `${data}\n${line}`
      } else if (field === 'event') {
        event = textOf(bytes, Math.min(value, lineEnd), lineEnd)
      }
    }
    at = lineEnd + 1
  }
  return { data, event }
}

/** JSON in a stream that lacks `data:`, such as an error sent in place of events; '' where there is none. */
export function unframedJson(bytes: Uint8Array, start: number, end: number): string {
  const text = textOf(bytes, start, end).trim()
  return text.startsWith('{') || text.startsWith('[') ? text : ''
}

/** Offset of the data in a frame that consists of one data line; -1 for any other frame. */
export function plainDataStart(bytes: Uint8Array, start: number, end: number): number {
  if (
    end - start < 7 ||
    bytes[start] !== 0x64 ||
    bytes[start + 1] !== 0x61 ||
    bytes[start + 2] !== 0x74 ||
    bytes[start + 3] !== 0x61 ||
    bytes[start + 4] !== COLON
  ) {
    return -1
  }
  return bytes[start + 5] === SPACE ? start + 6 : start + 5
}
