// Queues bytes before a vendor's connection can take them.

import { Buffer } from 'node:buffer'
import type { Payload, Segment } from '../vendors/media.ts'

/** How much of a payload is read at once. */
const stretchBytes = 262_144
/** Shared by all connections: bytes that a socket did not take are read again, or copied. */
const scratch = Buffer.allocUnsafeSlow(stretchBytes)

interface Sink {
  write(bytes: Uint8Array, from: number, length: number): number
}

export class WriteQueue {
  waitingBytes = 0
  private segments: Segment[] = []
  /** How many bytes of the first segment are written. */
  private offset = 0

  /**
   * Sends a head (up to the value of its `content-length`), the rest of it and a small body in one write; queues what
   * the sink does not take. Only for an empty queue.
   */
  writeJoined(
    sink: Sink,
    head: Uint8Array,
    bodyBytes: number,
    body: readonly Segment[],
  ): 'all' | 'some' | 'closed' {
    scratch.set(head, 0)
    let length = putText(String(bodyBytes), head.length)
    length = putText(headEnd, length)
    for (const segment of body) {
      const bytes = segment instanceof Uint8Array ? segment : segment.read(0, segment.size)
      scratch.set(bytes, length)
      length += bytes.length
    }
    const wrote = sink.write(scratch, 0, length)
    if (wrote < 0) return 'closed'
    if (wrote === length) return 'all'
    this.push(Buffer.from(scratch.subarray(wrote, length)))
    return 'some'
  }

  push(segment: Segment): void {
    this.segments.push(segment)
    this.waitingBytes += sizeOf(segment)
  }

  /** Writes what the sink takes. `closed`: the sink is closed, or the queue was cleared meanwhile. */
  flush(sink: Sink): 'all' | 'some' | 'closed' {
    for (;;) {
      const segment = this.segments[0]
      if (segment === undefined) return 'all'
      const isHere = segment instanceof Uint8Array
      const piece = isHere ? segment : stretchOf(segment, this.offset)
      const from = isHere ? this.offset : 0
      // The length is given explicitly: the runtime's default ignores the offset.
      const wrote = sink.write(piece, from, piece.length - from)
      if (wrote < 0 || this.segments.length === 0) return 'closed'
      this.offset += wrote
      this.waitingBytes -= wrote
      if (from + wrote < piece.length) return 'some'
      if (this.offset < sizeOf(segment)) continue
      this.segments.shift()
      this.offset = 0
    }
  }

  clear(): void {
    this.segments = []
    this.offset = 0
    this.waitingBytes = 0
  }
}

export const headEnd = '\r\n\r\n'

/** Writes a short ASCII text into the scratch buffer; returns the offset behind it. */
function putText(text: string, from: number): number {
  for (let at = 0; at < text.length; at++) scratch[from + at] = text.charCodeAt(at)
  return from + text.length
}

export function sizeOf(segment: Segment): number {
  return segment instanceof Uint8Array ? segment.length : segment.size
}

function stretchOf(payload: Payload, from: number): Uint8Array {
  return payload.read(from, Math.min(payload.size, from + stretchBytes), scratch)
}
