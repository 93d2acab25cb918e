// Cuts AWS binary event streams into messages ("Amazon Event Stream Specification", smithy.io).

import { FrameError, type FrameSource } from './reply.ts'

const preludeBytes = 12
const checksumBytes = 4
/** The specification's limits: 128 KiB of headers and 24 MiB of payload. */
const maxHeaderBytes = 131_072
const maxMessageBytes = 25_297_936

const crcTable = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** CRC-32 of ISO 3309, as gzip uses it. */
export function crc32(bytes: Uint8Array, start: number, end: number): number {
  let value = -1
  for (let at = start; at < end; at++) {
    value = (value >>> 8) ^ (crcTable[(value ^ (bytes[at] ?? 0)) & 0xff] ?? 0)
  }
  return (value ^ -1) >>> 0
}

/** Sizes of header values by type; values of other types carry their own length. */
const valueBytes: Readonly<Record<number, number>> = {
  0: 0,
  1: 0,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  8: 8,
  9: 16,
}
const bytesType = 6
const stringType = 7

const decoder = new TextDecoder()

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The headers whose values are text. Throws FrameError where they cannot be read. */
function headersIn(bytes: Uint8Array): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const view = viewOf(bytes)
  const textAt = (at: number, length: number): string =>
    decoder.decode(bytes.subarray(at, at + length))
  let at = 0
  while (at < bytes.length) {
    const nameBytes = view.getUint8(at)
    const typeAt = at + 1 + nameBytes
    if (typeAt >= bytes.length) throw tooLong()
    const name = textAt(at + 1, nameBytes)
    const type = bytes[typeAt] ?? 0
    at = typeAt + 1
    const sized = type === bytesType || type === stringType
    if (sized && at + 2 > bytes.length) throw tooLong()
    const length = sized ? view.getUint16(at) : valueBytes[type]
    if (length === undefined) throw new FrameError('an event has a header of an unknown type')
    if (sized) at += 2
    if (at + length > bytes.length) throw tooLong()
    if (type === stringType) found.set(name, textAt(at, length))
    at += length
  }
  return found
}

function tooLong(): FrameError {
  return new FrameError("an event's headers exceed their stated length")
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

/** One message as JSON: `{"EVENT": payload}`, with exceptions and errors under their own names. */
function dataOf(headers: ReadonlyMap<string, string>, payload: Uint8Array): SeenEvent {
  if (headers.get(':message-type') === 'error') {
    const code = headers.get(':error-code') ?? ''
    const message = headers.get(':error-message') ?? ''
    return { type: 'error', data: JSON.stringify({ error: { code, message } }) }
  }
  const type = headers.get(':exception-type') ?? headers.get(':event-type') ?? ''
  const text = payload.length === 0 ? '{}' : decoder.decode(payload)
  return { type, data: `{${JSON.stringify(type)}:${text}}` }
}

interface SeenEvent {
  readonly type: string
  readonly data: string
}

export class AwsEventFrames implements FrameSource {
  done = false
  readonly mustEnd = true
  private readonly isLast: (seen: ReadonlySet<string>) => boolean
  private readonly seen = new Set<string>()
  private held: Uint8Array[] = []
  private heldBytes = 0
  /** Bytes needed before the next step: a prelude, or the message that it announced. */
  private neededBytes = preludeBytes
  private begun = false
  /** The last message's headers, as bytes and decoded. */
  private headers = new Uint8Array()
  private texts: ReadonlyMap<string, string> = new Map()

  /** `isLast`: whether a stream with these events may end here, for the format itself has no terminator. */
  constructor(isLast: (seen: ReadonlySet<string>) => boolean) {
    this.isLast = isLast
  }

  push(chunk: Uint8Array): readonly string[] {
    this.held.push(chunk)
    this.heldBytes += chunk.length
    if (this.heldBytes < this.neededBytes) return []
    return this.cut(this.joined())
  }

  /** Throws FrameError where the last message is incomplete. */
  end(): readonly string[] {
    if (this.heldBytes > 0) throw new FrameError('the stream ended inside an event')
    this.done = this.isLast(this.seen)
    return []
  }

  /** Most events repeat the headers of the one before, so they are decoded only where they differ. */
  private message(bytes: Uint8Array, view: DataView, start: number): SeenEvent {
    const end = start + this.neededBytes - checksumBytes
    if (view.getUint32(end) !== crc32(bytes, start, end)) {
      throw new FrameError('an event of the stream does not fit its checksum')
    }
    const headersEnd = start + preludeBytes + view.getUint32(start + 4)
    const headers = bytes.subarray(start + preludeBytes, headersEnd)
    if (!isSame(headers, this.headers)) {
      this.texts = headersIn(headers)
      this.headers = headers.slice()
    }
    return dataOf(this.texts, bytes.subarray(headersEnd, end))
  }

  private joined(): Uint8Array {
    const [first] = this.held
    if (this.held.length === 1 && first !== undefined) return first
    const bytes = new Uint8Array(this.heldBytes)
    let at = 0
    for (const piece of this.held) {
      bytes.set(piece, at)
      at += piece.length
    }
    return bytes
  }

  private cut(bytes: Uint8Array): readonly string[] {
    const found: string[] = []
    const view = viewOf(bytes)
    let start = 0
    while (bytes.length - start >= this.neededBytes) {
      if (!this.begun) {
        this.neededBytes = announced(bytes, view, start)
        this.begun = true
        continue
      }
      const { type, data } = this.message(bytes, view, start)
      this.seen.add(type)
      found.push(data)
      start += this.neededBytes
      this.neededBytes = preludeBytes
      this.begun = false
    }
    const rest = bytes.subarray(start)
    this.held = rest.length === 0 ? [] : [rest]
    this.heldBytes = rest.length
    return found
  }
}

/** The length of the message whose prelude is at `start`. Throws FrameError where it is impossible. */
function announced(bytes: Uint8Array, view: DataView, start: number): number {
  const messageBytes = view.getUint32(start)
  const headerBytes = view.getUint32(start + 4)
  if (view.getUint32(start + 8) !== crc32(bytes, start, start + 8)) {
    throw new FrameError("an event's prelude does not fit its checksum")
  }
  const least = preludeBytes + headerBytes + checksumBytes
  if (headerBytes > maxHeaderBytes || messageBytes > maxMessageBytes || messageBytes < least) {
    throw new FrameError('an event of the stream has an impossible length')
  }
  return messageBytes
}
