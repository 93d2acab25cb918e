// Refusals outside of a request to a model: in whose shape they are put, and the reply they become.

import { errorTable, type GatewayError } from '../errors.ts'
import { newRequestId } from '../history/request-id.ts'
import type { ClientSide, Dialects } from '../wire/dialect.ts'
import { belowPrefix } from './endpoints.ts'
import type { FrontRooms } from './front-rooms.ts'
import { isGooglePath } from './google.ts'
import { isAnthropic } from './models-read.ts'
import { addCaller, addCors, addRefusal, type Fields, refusalBody } from './respond.ts'

/** Of a URL that may hold nothing but a path, where the client's Host made no sense. */
export function pathOf(url: string): string {
  const scheme = url.indexOf('://')
  const start = scheme === -1 ? 0 : url.indexOf('/', scheme + 3)
  const path = url.slice(start).split('?', 1)[0] ?? '/'
  return path === '' ? '/' : path
}

/** `caller`: who asks, where that is known already. */
export function baseFields(
  rooms: FrontRooms,
  request: Request,
  caller = rooms.callers.of(request.headers, null),
): Fields {
  const fields: Fields = { 'x-request-id': newRequestId(Date.now()) }
  addCaller(fields, caller)
  addCors(fields, request.headers.get('origin'), rooms.server.corsOrigins)
  return fields
}

/** How a refusal is put outside of a dialect's own requests. */
export type Shape = Pick<ClientSide, 'refuse' | 'status' | 'replyHeaders'>

export const openaiShape: Shape = { refuse: refusalBody }

interface Formats {
  readonly dialects: Dialects
}

/** Anthropic's and Google's clients are refused in their own words, also where no model is asked. */
export function shapeFor({ dialects }: Formats, request: Request): Shape {
  const { headers, url } = request
  const path = pathOf(url)
  if (isGooglePath(path)) return dialects.gemini.client
  const asks = isAnthropic(headers) || belowPrefix(path).startsWith('/messages')
  return asks ? dialects['anthropic-messages'].client : openaiShape
}

export function refuse(error: GatewayError, fields: Fields, shape: Shape): Response {
  const requestId = fields['x-request-id'] ?? newRequestId(Date.now())
  Object.assign(fields, { 'x-request-id': requestId }, shape.replyHeaders?.(requestId))
  addRefusal(fields, error)
  return new Response(shape.refuse(error, requestId), {
    status: shape.status?.(error) ?? errorTable[error.code].status,
    headers: fields,
  })
}
