// Builds every reply of the front door: headers that all share, refusals in the client's own format.

import { errorTable, GatewayError } from '../errors.ts'
import type { Caller } from '../history/caller.ts'
import type { Fields } from '../operations/operation.ts'

export const jsonType = 'application/json'
export const streamType = 'text/event-stream; charset=utf-8'

const exposed =
  'x-request-id, x-client-request-id, request-id, openai-processing-ms, retry-after, retry-after-ms, x-should-retry, server-timing, ' +
  'x-ratelimit-limit-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-requests, ' +
  'x-tollgate-cost, x-tollgate-price-version, x-tollgate-dropped, idempotent-replayed, x-tollgate-original-request, ' +
  'x-ratelimit-remaining-tokens, x-ratelimit-reset-requests, x-ratelimit-reset-tokens'

/** Connections on which nothing moves are closed after this; the runtime allows no more than 255. */
export const idleSeconds = 120

/** Proxies on the way must pass a stream on as it comes. */
export function addStreamFields(fields: Fields): void {
  fields['cache-control'] = 'no-cache'
  fields['x-accel-buffering'] = 'no'
}

/** The client's own name for its request, given back. */
export function addCaller(fields: Fields, { requestId }: Caller): void {
  if (requestId !== null) fields['x-client-request-id'] = requestId
}

/** Adds what a browser asks for, where its page's origin is allowed. */
export function addCors(fields: Fields, origin: string | null, allowed: readonly string[]): void {
  if (origin === null) return
  const any = allowed.includes('*')
  if (!any && !allowed.includes(origin)) return
  fields['access-control-allow-origin'] = any ? '*' : origin
  if (!any) fields['vary'] = 'origin'
  fields['access-control-expose-headers'] = exposed
}

/** Answers a browser's question before its request (fetch standard, CORS preflight). */
export function preflight(
  origin: string | null,
  allowed: readonly string[],
  asked: string | null,
  methods: string,
): Response {
  const fields: Fields = { allow: methods }
  addCors(fields, origin, allowed)
  if (fields['access-control-allow-origin'] !== undefined) {
    fields['access-control-allow-methods'] = methods
    fields['access-control-allow-headers'] = asked ?? 'authorization, content-type'
    fields['access-control-max-age'] = '86400'
  }
  return new Response(null, { status: 204, headers: fields })
}

/** Any error as a refusal; what is not one of ours is our own fault and tells the caller nothing. */
export function refusalOf(error: unknown): GatewayError {
  return error instanceof GatewayError
    ? error
    : new GatewayError('server_error', 'The gateway failed to handle this request.')
}

/** Headers that go with a refusal. */
export function addRefusal(fields: Fields, error: GatewayError): void {
  const row = errorTable[error.code]
  fields['content-type'] = jsonType
  fields['x-should-retry'] = String(error.detail.retry ?? row.retry)
  const waitMs = error.detail.retryAfterMs
  if (waitMs === undefined) return
  fields['retry-after'] = String(Math.max(1, Math.ceil(waitMs / 1000)))
  fields['retry-after-ms'] = String(Math.max(1, Math.ceil(waitMs)))
}

/** The OpenAI shape of a refusal, for paths that belong to no dialect. */
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
