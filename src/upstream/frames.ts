// WebSocket frames (RFC 6455): builds masked frames as a client, and reads a server's frames strictly.

import { Buffer, isUtf8 } from 'node:buffer'
import { randomFillSync } from 'node:crypto'

export const opcode = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** A payload up to `short` has its length in one byte, up to `medium` in two more, above that in eight more. */
const medium = 65_535
const short = 125
/** The most frames of one message: each costs memory, and empty ones do not count towards its length. */
const maxPieces = 16_384

/** Builds one final frame, masked as a client's must be (section 5.3). */
export function clientFrame(code: number, payload: Uint8Array): Buffer {
  const { length } = payload
  const extended = length <= short ? 0 : length <= medium ? 2 : 8
  const frame = Buffer.allocUnsafe(2 + extended + 4 + length)
  frame[0] = 0x80 | code
  if (extended === 0) frame[1] = 0x80 | length
  else if (extended === 2) {
    frame[1] = 0x80 | 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 0x80 | 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  const mask = 2 + extended
  randomFillSync(frame, mask, 4)
  const start = mask + 4
  for (let at = 0; at < length; at++) {
    frame[start + at] = (payload[at] ?? 0) ^ (frame[mask + (at & 3)] ?? 0)
  }
  return frame
}

/** The payload of a close frame: the code, and as much of the reason as fits. */
export function closePayload(code: number, reason: string): Buffer {
  let text = Buffer.from(reason, 'utf8')
  while (text.length > short - 2) text = Buffer.from(text.toString('utf8').slice(0, -1), 'utf8')
  const payload = Buffer.alloc(2 + text.length)
  payload.writeUInt16BE(code, 0)
  text.copy(payload, 2)
  return payload
}

/** The server violated the protocol; `code` is the close code for it. */
export class FrameFault extends Error {
  override readonly name = 'FrameFault'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

interface FrameSink {
  message(payload: Buffer, isText: boolean): void
  ping(payload: Buffer): void
  pong(): void
  /** `code` is 1005 where the frame has none. */
  close(code: number, reason: string): void
}

interface Head {
  readonly code: number
  readonly isLast: boolean
  readonly length: number
}

/** Assembles messages from a server's bytes, given in any pieces. `push` throws FrameFault. */
export class FrameReader {
  private readonly sink: FrameSink
  private readonly maxMessageBytes: number
  private chunks: Buffer[] = []
  private haveBytes = 0
  /** Bytes needed before the next head or payload can be read. */
  private neededBytes = 2
  private head: Head | null = null
  private parts: Buffer[] = []
  private partBytes = 0
  private pieces = 0
  /** The type of the message under way; null between two messages. */
  private isText: boolean | null = null
  private stopped = false

  constructor(sink: FrameSink, maxMessageBytes: number) {
    this.sink = sink
    this.maxMessageBytes = maxMessageBytes
  }

  /** Ignores everything that follows. */
  stop(): void {
    this.stopped = true
    this.chunks = []
    this.parts = []
  }

  push(chunk: Buffer): void {
    if (this.stopped) return
    this.chunks.push(chunk)
    this.haveBytes += chunk.length
    if (this.haveBytes < this.neededBytes) return
    let bytes = this.chunks.length === 1 ? chunk : Buffer.concat(this.chunks)
    while (!this.stopped && bytes.length >= this.neededBytes) {
      const used = this.take(bytes)
      if (used > 0) bytes = bytes.subarray(used)
    }
    this.chunks = this.stopped || bytes.length === 0 ? [] : [bytes]
    this.haveBytes = bytes.length
  }

  /** Reads a head or a payload; returns the bytes consumed, 0 where more of a head is needed. */
  private take(bytes: Buffer): number {
    const { head } = this
    if (head !== null) {
      this.head = null
      this.neededBytes = 2
      this.whole(head, bytes.subarray(0, head.length))
      return head.length
    }
    const first = bytes[0] ?? 0
    const second = bytes[1] ?? 0
    const stated = second & 0x7f
    const headBytes = 2 + (stated === 126 ? 2 : stated === 127 ? 8 : 0)
    if (bytes.length < headBytes) {
      this.neededBytes = headBytes
      return 0
    }
    if ((first & 0x70) !== 0)
      throw new FrameFault(1002, 'a frame uses an extension nobody asked for')
    if ((second & 0x80) !== 0) throw new FrameFault(1002, 'a frame of the server is masked')
    const length = lengthIn(bytes, stated)
    this.head = this.judged({ code: first & 0x0f, isLast: (first & 0x80) !== 0, length })
    this.neededBytes = length
    return headBytes
  }

  private judged(head: Head): Head {
    const { code, isLast, length } = head
    if (code >= opcode.close) {
      const known = code <= opcode.pong
      if (!known || !isLast || length > short) throw new FrameFault(1002, 'a broken control frame')
      return head
    }
    if (code > opcode.binary) throw new FrameFault(1002, 'a frame of an unknown kind')
    if ((code === opcode.more) === (this.isText === null)) {
      throw new FrameFault(1002, 'the frames of two messages are mixed')
    }
    if (this.partBytes + length > this.maxMessageBytes) {
      throw new FrameFault(1009, 'a message is too long')
    }
    return head
  }

  private whole({ code, isLast }: Head, payload: Buffer): void {
    if (code === opcode.ping) this.sink.ping(payload)
    else if (code === opcode.pong) this.sink.pong()
    else if (code === opcode.close) this.closed(payload)
    else this.part(code, isLast, payload)
  }

  private part(code: number, isLast: boolean, payload: Buffer): void {
    if (code !== opcode.more) this.isText = code === opcode.text
    const isText = this.isText === true
    if (!isLast) {
      // A copy: the chunk that it is a view of may be much larger.
      if (payload.length > 0) this.parts.push(Buffer.from(payload))
      this.partBytes += payload.length
      if (++this.pieces > maxPieces) throw new FrameFault(1008, 'a message is in too many pieces')
      return
    }
    const message = this.parts.length === 0 ? payload : Buffer.concat([...this.parts, payload])
    this.parts = []
    this.partBytes = 0
    this.pieces = 0
    this.isText = null
    if (isText && !isUtf8(message)) throw new FrameFault(1007, 'a text is not UTF-8')
    this.sink.message(message, isText)
  }

  private closed(payload: Buffer): void {
    if (payload.length === 0) {
      this.sink.close(1005, '')
      return
    }
    const reason = payload.subarray(2)
    if (payload.length === 1 || !isUtf8(reason)) throw new FrameFault(1002, 'a broken close frame')
    this.sink.close(payload.readUInt16BE(0), reason.toString('utf8'))
  }
}

function lengthIn(bytes: Buffer, stated: number): number {
  if (stated < 126) return stated
  if (stated === 126) return bytes.readUInt16BE(2)
  const length = bytes.readBigUInt64BE(2)
  // Exceeds every limit on messages, and is still a safe number.
  return length > 0xffff_ffff_ffffn ? Number.MAX_SAFE_INTEGER : Number(length)
}
