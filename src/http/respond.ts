// Builds replies: the headers they share, the results of the relay, operations and hooks, and refusals.

import { Buffer } from 'node:buffer'
import { errorTable, GatewayError } from '../errors.ts'
import type { Caller } from '../history/caller.ts'
import type { Fields, Reply } from '../operations/operation.ts'
import type { ByteSink, ReplyStream } from '../relay/backpressure-queue.ts'
import type { Answer } from '../relay/request.ts'
import { isStoreAway } from '../store/away.ts'
import { join } from '../wire/json/splice.ts'
import type { Reframe } from '../wire/reply.ts'
import type { HttpReply } from './reply.ts'

const maxDroppedChars = 1_024
/** Names of one shape are listed one by one up to this number. */
const maxAlike = 4
export const jsonType = 'application/json'
const streamType = 'text/event-stream; charset=utf-8'

const exposed =
  'x-request-id, x-client-request-id, request-id, openai-processing-ms, retry-after, retry-after-ms, x-should-retry, server-timing, ' +
  'x-ratelimit-limit-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-requests, ' +
  'x-tollgate-cost, x-tollgate-price-version, x-tollgate-dropped, idempotent-replayed, x-tollgate-original-request, ' +
  'x-ratelimit-remaining-tokens, x-ratelimit-reset-requests, x-ratelimit-reset-tokens'

/** A connection without activity is closed after this many seconds; the runtime allows no more than 255. */
export const idleSeconds = 120

/** Tells proxies on the way not to buffer the stream. */
function addStreamFields(fields: Fields): void {
  fields['cache-control'] = 'no-cache'
  fields['x-accel-buffering'] = 'no'
}

/** Returns the client's own request id. */
export function addCaller(fields: Fields, { requestId }: Caller): void {
  if (requestId !== null) fields['x-client-request-id'] = requestId
}

/** Adds the CORS headers where the page's origin is allowed. */
export function addCors(fields: Fields, origin: string | null, allowed: readonly string[]): void {
  if (origin === null) return
  const any = allowed.includes('*')
  if (!any && !allowed.includes(origin)) return
  fields['access-control-allow-origin'] = any ? '*' : origin
  if (!any) fields['vary'] = 'origin'
  fields['access-control-expose-headers'] = exposed
}

/** Answers a browser's CORS preflight (Fetch standard). */
export function preflight(
  origin: string | null,
  allowed: readonly string[],
  asked: string | null,
  methods: string,
): HttpReply {
  const fields: Fields = { allow: methods }
  addCors(fields, origin, allowed)
  if (fields['access-control-allow-origin'] !== undefined) {
    fields['access-control-allow-methods'] = methods
    fields['access-control-allow-headers'] = asked ?? 'authorization, content-type'
    fields['access-control-max-age'] = '86400'
  }
  return { status: 204, fields, body: null }
}

const storeAwayRetryMs = 2_000

/**
 * Any error as a refusal; an error that is no GatewayError is the gateway's own fault, of which the caller learns
 * nothing but whether the store could not be reached.
 */
export function refusalOf(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  return isStoreAway(error)
    ? new GatewayError(
        'service_unavailable',
        'The gateway cannot reach its store at present; retry shortly.',
        { retryAfterMs: storeAwayRetryMs },
      )
    : new GatewayError('server_error', 'The gateway failed to handle this request.')
}

/** Adds the headers of a refusal. */
export function addRefusal(fields: Fields, error: GatewayError): void {
  const row = errorTable[error.code]
  fields['content-type'] = jsonType
  fields['x-should-retry'] = String(error.detail.retry ?? row.retry)
  const waitMs = error.detail.retryAfterMs
  if (waitMs === undefined) return
  fields['retry-after'] = String(Math.max(1, Math.ceil(waitMs / 1000)))
  fields['retry-after-ms'] = String(Math.max(1, Math.ceil(waitMs)))
}

/** A refusal in OpenAI's format, for paths that belong to no dialect. */
export function refusalBody(error: GatewayError): string {
  const row = errorTable[error.code]
  return JSON.stringify({
    error: {
      message: error.message,
      type: row.type,
      param: error.detail.param ?? null,
      code: error.detail.shownCode ?? error.code,
    },
  })
}

/** Adds the reply's headers to `fields`. `sinceMs`: `performance.now()` when the request arrived. */
export function relayedReply(
  answer: Answer,
  fields: Fields,
  reframe: Reframe | null,
  sinceMs: number,
): HttpReply {
  const elapsedMs = performance.now() - sinceMs
  fields['openai-processing-ms'] = String(Math.round(elapsedMs))
  const gatewayMs = Math.max(0, elapsedMs - answer.vendorMs)
  fields['server-timing'] =
    `gateway;dur=${hundredths(gatewayMs)}, vendor;dur=${hundredths(answer.vendorMs)}`
  if (answer.cost !== null) fields['x-tollgate-cost'] = answer.cost
  if (answer.dropped.length > 0) fields['x-tollgate-dropped'] = namesOf(answer.dropped)
  const plain = answer.stream ? streamType : (answer.type ?? jsonType)
  fields['content-type'] = reframe?.contentType ?? plain
  if (answer.stream) addStreamFields(fields)
  for (const name in answer.headers) fields[name] = answer.headers[name] ?? ''
  const { body, bodyBytes } = answer
  if (reframe === null || body instanceof Uint8Array) return { fields, body, bodyBytes }
  return { fields, body: reframedStream(body, reframe) }
}

function reframedStream(body: ReplyStream, reframe: Reframe): ReplyStream {
  return { pipe: (sink) => body.pipe(reframing(sink, reframe)), leave: () => body.leave() }
}

/** Where the reply breaks off, the closing bytes of `reframe` are not written. */
function reframing(sink: ByteSink, reframe: Reframe): ByteSink {
  // Writing no bytes must return 1: the sink's 0 would mean that the client has left.
  const write = (shown: Uint8Array) => (shown.length === 0 ? 1 : sink.write(shown))
  return {
    write: (bytes) => write(reframe.push(bytes)),
    end() {
      write(reframe.end())
      return sink.end()
    },
  }
}

export function plainReply(
  { body, stream = false, status, headers }: Reply,
  fields: Fields,
  reframe: Reframe | null = null,
): HttpReply {
  fields['content-type'] = stream ? streamType : jsonType
  if (stream) addStreamFields(fields)
  Object.assign(fields, headers)
  const said = status === undefined ? {} : { status }
  if (reframe === null) return { ...said, fields, body }
  fields['content-type'] = reframe.contentType
  const shown =
    typeof body === 'string'
      ? join([reframe.push(Buffer.from(body, 'utf8')), reframe.end()])
      : reframed(body as AsyncGenerator<Uint8Array, void, void>, reframe)
  return { ...said, fields, body: shown }
}

/** Where the reply breaks off in error, the closing bytes of `reframe` are not written. */
async function* reframed(
  body: AsyncGenerator<Uint8Array, void, void>,
  reframe: Reframe,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of body) {
    const shown = reframe.push(chunk)
    if (shown.length > 0) yield shown
  }
  yield reframe.end()
}

/**
 * The names of dropped fields, made safe for a header: clients choose names freely. Names that differ only in their
 * places become one, such as `messages[*].phase`, where there are many; what does not fit ends in `...`.
 */
function namesOf(dropped: readonly string[]): string {
  const places = new Map<string, Set<string>>()
  for (const name of dropped) {
    const safe = name.replace(/[^\x21-\x7e]/g, '?')
    const shape = safe.replace(/\[\d+\]/g, '[*]')
    places.set(shape, (places.get(shape) ?? new Set()).add(safe))
  }
  const names = [...places].flatMap(([shape, all]) => (all.size > maxAlike ? shape : [...all]))
  let text = ''
  for (const name of names) {
    const longer = text === '' ? name : `${text}, ${name}`
    if (longer.length > maxDroppedChars) return `${text.slice(0, maxDroppedChars - 5)}, ...`
    text = longer
  }
  return text
}

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100
}
