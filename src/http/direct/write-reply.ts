// Writes replies: a whole body with its length, a stream in the chunked coding (RFC 9112, section 7.1).

import { Buffer } from 'node:buffer'
import type { ByteSink, ReplyStream } from '../../relay/backpressure-queue.ts'
import { type HttpReply, isReplyStream } from '../reply.ts'
import type { Output, Sent } from './output.ts'
import { replyHead } from './reply-head.ts'

/** Bodies up to this size are copied behind their head and sent in one write; copying more is not worth it. */
const joinedBytes = 131_072
const mostFramingBytes = 16_384
/** Room for the size line before a chunk and the line end behind it. */
const sizeLineBytes = 32
/** Shared by all replies: allocating memory for each costs more than the copy. */
const scratch = Buffer.allocUnsafeSlow(joinedBytes + mostFramingBytes)
const chunkEnd = Buffer.from('\r\n', 'latin1')
const lastChunk = Buffer.from('0\r\n\r\n', 'latin1')
const chunked = 'transfer-encoding: chunked\r\n'

/** A streamed reply that is being sent. */
export interface Piped {
  /**
   * Resolves with true when the whole reply is handed over, with false where the client left. Rejects where it breaks
   * off.
   */
  readonly done: Promise<boolean>
  /** Ends the stream because the client is gone. */
  leave(): void
}

/**
 * Sends a whole reply and returns null, or begins a streamed one. Throws Error where a field contains characters that
 * are not allowed; nothing is written then.
 */
export function writeReply(reply: HttpReply, output: Output, closes: boolean): Piped | null {
  const { body, status } = reply
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) {
    const length = lengthOf(body)
    const framing = status === 204 || status === 304 ? '' : `content-length: ${length}\r\n`
    writeWhole(output, replyHead(reply, framing, closes), body, length)
    return null
  }
  const { bodyBytes = null } = reply
  const sink =
    bodyBytes === null
      ? new ChunkedSink(replyHead(reply, chunked, closes), output)
      : new LengthSink(
          replyHead(reply, `content-length: ${bodyBytes}\r\n`, closes),
          bodyBytes,
          output,
        )
  const stream = isReplyStream(body) ? body : streamOf(body)
  const piped = stream.pipe(sink)
  sink.open()
  return { done: piped.then(() => sink.isEnded), leave: () => stream.leave() }
}

/** Cancels the stream of a reply whose client is gone. */
export function abandon({ body }: HttpReply): void {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return
  const stream = isReplyStream(body) ? body : streamOf(body)
  stream.leave()
}

function lengthOf(body: string | Uint8Array | null): number {
  if (body === null) return 0
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length
}

function writeWhole(
  output: Output,
  head: string,
  body: string | Uint8Array | null,
  length: number,
): void {
  if (length > joinedBytes || head.length > mostFramingBytes) {
    output.send(Buffer.from(head, 'latin1'))
    if (body !== null) output.send(typeof body === 'string' ? Buffer.from(body, 'utf8') : body)
    return
  }
  const at = scratch.write(head, 'latin1')
  if (typeof body === 'string') scratch.write(body, at, 'utf8')
  else if (body !== null) scratch.set(body, at)
  output.sendCopy(scratch, at + length)
}

class ChunkedSink implements ByteSink {
  readonly copies = true
  isEnded = false
  private readonly output: Output
  /** Sent with the first bytes; '' once it is sent. */
  private head: string

  constructor(head: string, output: Output) {
    this.head = head
    this.output = output
  }

  write(bytes: Uint8Array): number | Promise<number> {
    if (this.head.length > mostFramingBytes - sizeLineBytes) this.open()
    const before = `${this.head}${bytes.length.toString(16)}\r\n`
    this.head = ''
    const sent = this.framed(before, bytes)
    if (sent === 'closed') return 0
    return sent === 'all' ? bytes.length : this.output.room()
  }

  private framed(before: string, bytes: Uint8Array): Sent {
    const { output } = this
    if (bytes.length > joinedBytes) {
      output.send(Buffer.from(before, 'latin1'))
      output.send(bytes)
      return output.send(chunkEnd)
    }
    const at = scratch.write(before, 'latin1')
    scratch.set(bytes, at)
    scratch.set(chunkEnd, at + bytes.length)
    return output.sendCopy(scratch, at + bytes.length + chunkEnd.length)
  }

  /** Sends the head alone, before any bytes of the body. */
  open(): void {
    if (this.head === '') return
    this.output.send(Buffer.from(this.head, 'latin1'))
    this.head = ''
  }

  end(): void {
    this.open()
    this.isEnded = true
    this.output.send(lastChunk)
  }
}

/** Sends a body whose length its head states. */
class LengthSink implements ByteSink {
  readonly copies = true
  isEnded = false
  private readonly output: Output
  private leftBytes: number
  private head: string

  constructor(head: string, bodyBytes: number, output: Output) {
    this.head = head
    this.leftBytes = bodyBytes
    this.output = output
  }

  write(bytes: Uint8Array): number | Promise<number> {
    this.open()
    this.leftBytes -= bytes.length
    if (this.leftBytes < 0) throw new Error('a reply is longer than its head says')
    const sent = this.output.sendCopy(bytes, bytes.length)
    if (sent === 'closed') return 0
    return sent === 'all' ? bytes.length : this.output.room()
  }

  open(): void {
    if (this.head === '') return
    this.output.send(Buffer.from(this.head, 'latin1'))
    this.head = ''
  }

  end(): void {
    this.open()
    if (this.leftBytes > 0) throw new Error('a reply is shorter than its head says')
    this.isEnded = true
  }
}

/** A reader for web streams, generators and files. */
function streamOf(body: AsyncGenerator<Uint8Array> | ReadableStream | Blob): ReplyStream {
  // The runtime turns generators into streams too.
  const stream = body instanceof ReadableStream ? body : new Response(body as BodyInit).body
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = stream?.getReader()
  return {
    async pipe(sink) {
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true }
        if (done || value === undefined) break
        // An empty chunk would end the chunked coding.
        if (value.length > 0 && (await sink.write(value)) === 0) return
      }
      sink.end()
    },
    leave: () => void reader?.cancel(),
  }
}
