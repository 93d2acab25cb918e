// The WebSocket handshake (RFC 6455, section 4): makes the key, and checks the vendor's answer.

import { Buffer } from 'node:buffer'
import { createHash, randomBytes } from 'node:crypto'
import { BodyDecoder } from './body.ts'
import { HeadError, HeadReader, type ReplyHead } from './head.ts'

/** Appended to the key before hashing (section 4.2.2). */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const maxRefusalBytes = 65_536

export class Handshake {
  readonly key = randomBytes(16).toString('base64')
  /** The head of a vendor's refusal; its body may still be under way. */
  refusal: ReplyHead | null = null
  private readonly heads = new HeadReader()
  private body: BodyDecoder | null = null
  private readonly pieces: Uint8Array[] = []
  private keptBytes = 0

  /** The bytes behind an accepting answer; null while the answer is incomplete. Throws HeadError and BodyError. */
  accepted(chunk: Buffer): Buffer | null {
    if (this.body !== null) {
      this.refuse(this.body, chunk, 0)
      return null
    }
    const head = this.heads.take(chunk, 0)
    if (head === null) return null
    if (head.status === 101) {
      const due = createHash('sha1')
        .update(this.key + acceptSuffix)
        .digest('base64')
      if (head.header('sec-websocket-accept') !== due)
        throw new HeadError('the vendor did not prove that it speaks WebSocket')
      return Buffer.from(chunk.subarray(this.heads.next))
    }
    this.refusal = head
    this.body = new BodyDecoder(head.framing, { bytes: (piece) => this.keep(piece) })
    this.refuse(this.body, chunk, this.heads.next)
    return null
  }

  /** The refusal has arrived completely. */
  get over(): boolean {
    return this.body?.done === true
  }

  /** The body of the refusal, as far as it has arrived. */
  text(): string {
    return Buffer.concat(this.pieces).toString('utf8')
  }

  private refuse(body: BodyDecoder, chunk: Buffer, from: number): void {
    if (!body.done && chunk.length > from) body.push(chunk, from)
  }

  private keep(piece: Uint8Array): void {
    if (this.keptBytes < maxRefusalBytes) this.pieces.push(Buffer.from(piece))
    this.keptBytes += piece.length
  }
}
