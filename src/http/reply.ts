// A reply before it is put into bytes: by the gateway's own listener, or by the runtime's server.

import type { Fields, Reply } from '../operations/operation.ts'
import type { ByteSink, ReplyStream } from '../relay/backpressure-queue.ts'

export interface HttpReply {
  /** Where none is said it is 200, and the runtime answers ranges of files by itself. */
  readonly status?: number
  readonly fields: Fields
  readonly body: Reply['body'] | ReplyStream
}

/** A body that is written as it comes, with no promise for a piece. */
export function isReplyStream(body: HttpReply['body']): body is ReplyStream {
  return body !== null && typeof body === 'object' && 'pipe' in body
}

/**
 * From this size on the runtime sends a reply that was waited for in as many pieces as its head has names, values and
 * marks between them (oven-sh/bun#41341).
 */
const piecemealBytes = 15_360

/** The same for the runtime's server. */
export function asResponse({ status, fields, body }: HttpReply): Response {
  const init = { headers: fields, ...(status !== undefined && { status }) }
  return new Response(shownBody(body), init)
}

function shownBody(body: HttpReply['body']): BodyInit | null {
  if (isReplyStream(body)) return asItComes(body)
  if (body instanceof Uint8Array && body.length >= piecemealBytes) return inOneWrite(body)
  return body as BodyInit | null
}

/** The connection is written to with no promise and no iterator's step between; what one turn writes leaves together. */
function asItComes(body: ReplyStream): ReadableStream {
  return directStream({ pull: (sink) => body.pipe(sink), cancel: () => body.leave() })
}

/** A body that leaves in one write with its head, which says its length. */
function inOneWrite(body: Uint8Array): ReadableStream {
  const pull = (sink: ByteSink) => {
    sink.write(body)
    sink.end()
  }
  // Room for all of it: what does not fit goes out before its length is known.
  return directStream({ pull }, body.length + 1)
}

interface DirectSource {
  pull(sink: ByteSink): Promise<void> | void
  cancel?(): void
}

function directStream(source: DirectSource, highWaterMark?: number): ReadableStream {
  // The DOM's types know no direct source.
  const direct = { ...source, type: 'direct' } as unknown as UnderlyingSource
  return new ReadableStream(direct, highWaterMark === undefined ? undefined : { highWaterMark })
}
