// Counts how often a text stands in bytes that pass by in pieces.

import { Buffer } from 'node:buffer'

export class Occurrences {
  count = 0
  private readonly text: Buffer
  /** The end of what passed, shorter than the text: it may be the beginning of one. */
  private carried: Buffer = Buffer.alloc(0)

  /** A text that cannot overlap itself. */
  constructor(text: string) {
    this.text = Buffer.from(text, 'utf8')
  }

  push(chunk: Uint8Array): void {
    const { text } = this
    const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const most = text.length - 1
    const seam = Buffer.concat([this.carried, piece.subarray(0, most)])
    if (this.carried.length > 0) this.count += countIn(seam, text)
    this.count += countIn(piece, text)
    this.carried =
      piece.length >= most
        ? Buffer.from(piece.subarray(piece.length - most))
        : seam.subarray(Math.max(0, seam.length - most))
  }
}

function countIn(bytes: Buffer, text: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) count++
  return count
}
