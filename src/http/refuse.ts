// Refuses requests that reach no operation: chooses the format of the refusal and builds the reply.

import { errorTable, type GatewayError } from '../errors.ts'
import { type Caller, newRequestId } from '../history/caller.ts'
import type { ClientRequest, Fields } from '../operations/operation.ts'
import type { ClientSide } from '../wire/dialect.ts'
import { clientFormat } from './endpoints.ts'
import type { Front } from './front.ts'
import type { HttpReply } from './reply.ts'
import { addCaller, addCors, addRefusal, refusalBody } from './respond.ts'

/** `caller`: the caller where it is known already. */
export function baseFields(
  { callers, server }: Pick<Front, 'callers' | 'server'>,
  request: ClientRequest,
  caller = callers.of(request.headers, null),
): Fields {
  const fields: Fields = { 'x-request-id': newRequestId(Date.now()) }
  addCaller(fields, caller)
  addCors(fields, request.headers.get('origin'), server.corsOrigins)
  return fields
}

/** How a refusal is written where no operation's dialect applies. */
type Shape = Pick<ClientSide, 'refuse' | 'status' | 'replyHeaders'>

export const usualShape: Shape = { refuse: refusalBody }

export function shapeFor({ services }: Pick<Front, 'services'>, request: ClientRequest): Shape {
  const format = clientFormat(request)
  return format === null ? usualShape : services.relay.dialects[format].client
}

export function refuse(
  error: GatewayError,
  fields: Fields,
  shape: Shape,
): HttpReply & { readonly status: number } {
  const requestId = fields['x-request-id'] ?? newRequestId(Date.now())
  Object.assign(fields, { 'x-request-id': requestId }, shape.replyHeaders?.(requestId))
  addRefusal(fields, error)
  const status = shape.status?.(error) ?? errorTable[error.code].status
  return { status, fields, body: shape.refuse(error, requestId) }
}

interface Unread {
  readonly caller: Caller
  readonly unrouted?: boolean
}

/** Like `refuse`, in the client's own format, and reports the request to the setup doctor. */
export function turnAway(
  front: Pick<Front, 'observer' | 'services'>,
  request: ClientRequest,
  error: GatewayError,
  fields: Fields,
  unread: Unread,
): HttpReply {
  const reply = refuse(error, fields, shapeFor(front, request))
  const requestId = fields['x-request-id'] ?? ''
  const asked = { request, requestId, at: Date.now(), error, status: reply.status, ...unread }
  front.observer.turnedAway({ ...asked, principal: null, format: null, peek: null, body: null })
  return reply
}
