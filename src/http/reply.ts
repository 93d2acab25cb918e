// The form of a reply before the gateway's own listener or the runtime's server writes it.

import type { Fields, Reply } from '../operations/operation.ts'
import type { ByteSink, ReplyStream } from '../relay/backpressure-queue.ts'

export interface HttpReply {
  /** Where it is left out the status is 200, and the runtime answers ranges of files by itself. */
  readonly status?: number
  readonly fields: Fields
  readonly body: Reply['body'] | ReplyStream
  /** The length of a body that is a stream, where it is known. */
  readonly bodyBytes?: number | null
}

/** Whether the body is a stream that writes straight to a sink, without a promise for each piece. */
export function isReplyStream(body: HttpReply['body']): body is ReplyStream {
  return body !== null && typeof body === 'object' && 'pipe' in body
}

/** Whether the body is written bit by bit, which may take longer than a connection may be idle. */
export function isStreamed(body: HttpReply['body']): boolean {
  return isReplyStream(body) || body instanceof ReadableStream
}

/**
 * From this size on the runtime sends a reply that a handler resolved later in as many pieces as its head has names,
 * values and separators (oven-sh/bun#41341).
 */
const piecemealBytes = 15_360

/** The reply as the runtime's server takes it. */
export function asResponse({ status, fields, body }: HttpReply): Response {
  const init = { headers: fields, ...(status !== undefined && { status }) }
  return new Response(shownBody(body), init)
}

function shownBody(body: HttpReply['body']): BodyInit | null {
  if (isReplyStream(body)) return asItComes(body)
  if (body instanceof Uint8Array && body.length >= piecemealBytes) return inOneWrite(body)
  return body as BodyInit | null
}

/**
 * Writes to the connection without a promise or iterator step between; what is written in one turn is sent together.
 */
function asItComes(body: ReplyStream): ReadableStream {
  return directStream({ pull: (sink) => body.pipe(sink), cancel: () => body.leave() })
}

/** A body sent in one write with its head, which states the length. */
function inOneWrite(body: Uint8Array): ReadableStream {
  const pull = (sink: ByteSink) => {
    sink.write(body)
    sink.end()
  }
  // Room for the whole body: bytes that do not fit would be sent before their length is known.
  return directStream({ pull }, body.length + 1)
}

interface DirectSource {
  pull(sink: ByteSink): Promise<void> | void
  cancel?(): void
}

function directStream(source: DirectSource, highWaterMark?: number): ReadableStream {
  // The DOM's types lack the runtime's `direct` streams.
  const direct = { ...source, type: 'direct' } as unknown as UnderlyingSource
  return new ReadableStream(direct, highWaterMark === undefined ? undefined : { highWaterMark })
}
