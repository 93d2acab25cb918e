// Puts a reply into bytes: a whole one with its length, one that comes in pieces in the chunked coding (RFC 9112, section 7.1).

import { Buffer } from 'node:buffer'
import type { ByteSink, ReplyStream } from '../../relay/backpressure-queue.ts'
import { type HttpReply, isReplyStream } from '../reply.ts'
import type { Output, Sent } from './output.ts'
import { replyHead } from './reply-head.ts'

/** Up to this size bytes leave in one write with what frames them; more is not worth its copy. */
const joinedBytes = 131_072
const mostFramingBytes = 16_384
/** Room for the line before a piece and the end of the line behind it. */
const sizeLineBytes = 32
/** Every reply's: fresh memory for each costs more than the copy. */
const scratch = Buffer.allocUnsafeSlow(joinedBytes + mostFramingBytes)
const chunkEnd = Buffer.from('\r\n', 'latin1')
const lastChunk = Buffer.from('0\r\n\r\n', 'latin1')
const chunked = 'transfer-encoding: chunked\r\n'

/** A reply on its way, piece by piece. */
export interface Piped {
  /** When all of it is handed over: true; false: the client left before. Rejects where it breaks off. */
  readonly done: Promise<boolean>
  /** Nobody takes it any more. */
  leave(): void
}

/**
 * Hands over a whole reply and returns null, or begins one that comes in pieces. Throws Error where a field has what no
 * field may have; nothing is written then.
 */
export function writeReply(reply: HttpReply, output: Output, closes: boolean): Piped | null {
  const { body, status } = reply
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) {
    const length = lengthOf(body)
    const framing = status === 204 || status === 304 ? '' : `content-length: ${length}\r\n`
    writeWhole(output, replyHead(reply, framing, closes), body, length)
    return null
  }
  const sink = new ChunkedSink(replyHead(reply, chunked, closes), output)
  const stream = isReplyStream(body) ? body : streamOf(body)
  const piped = stream.pipe(sink)
  sink.open()
  return { done: piped.then(() => sink.isEnded), leave: () => stream.leave() }
}

/** Of a reply that nobody is there to take. */
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
  /** Leaves with the first bytes. */
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

  /** The head alone, where no bytes have come yet. */
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

/** What the web's streams, generators and files are read by. */
function streamOf(body: AsyncGenerator<Uint8Array> | ReadableStream | Blob): ReplyStream {
  // The runtime makes streams of generators too.
  const stream = body instanceof ReadableStream ? body : new Response(body as BodyInit).body
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = stream?.getReader()
  return {
    async pipe(sink) {
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true }
        if (done || value === undefined) break
        // Of nothing the coding would make its last chunk.
        if (value.length > 0 && (await sink.write(value)) === 0) return
      }
      sink.end()
    },
    leave: () => void reader?.cancel(),
  }
}
