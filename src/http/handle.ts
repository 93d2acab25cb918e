// Makes a row of the endpoint table into a request handler; access is checked here and nowhere else.

import { GatewayError } from '../errors.ts'
import type { Caller } from '../history/caller.ts'
import { authenticate } from '../identity/authenticate.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import type { ClientRequest, Fields, Operation, Reading, Reply } from '../operations/operation.ts'
import { belowPrefix, pathUrlOf } from '../operations/path.ts'
import type { Services } from '../operations/services.ts'
import type { Address } from '../wire/request.ts'
import { Admission, type ClientConnection } from './admission.ts'
import { checkHeaderBytes } from './body/head.ts'
import { mayShowKeyInAddress } from './endpoints.ts'
import type { Front } from './front.ts'
import { denialOf } from './refusal.ts'
import { baseFields, shapeFor, turnAway } from './refuse.ts'
import type { HttpReply } from './reply.ts'
import { asksSocket, pathOf, socketRefusal, socketVersion } from './request.ts'
import { idleSeconds, plainReply, refusalOf } from './respond.ts'
import type { Endpoint, LaterEndpoint } from './row.ts'

/** `undefined`: the request became a WebSocket. */
export type Answered = HttpReply | undefined
export type Handle = (
  front: Front,
  request: ClientRequest,
  connection: ClientConnection,
) => Answered | Promise<Answered>

export function handleOf(endpoint: Endpoint): Handle {
  if ('load' in endpoint) {
    const handle = laterHandle(endpoint)
    return endpoint.socketOnly === undefined ? handle : socketAlone(endpoint.socketOnly, handle)
  }
  if ('operation' in endpoint) {
    const { operation } = endpoint
    return (front, request, connection) => run(front, operation, request, connection)
  }
  if ('operationAt' in endpoint) {
    return (front, request, connection) => {
      const fields = baseFields(front, request)
      try {
        const { operation, address } = endpoint.operationAt(request, fields)
        return run(front, operation, request, connection, address)
      } catch (error) {
        const caller = front.callers.of(request.headers, connection.address)
        return turnAway(front, request, refusalOf(error), fields, { caller })
      }
    }
  }
  return (front, request, connection) =>
    answering(front, request, connection, (fields, caller) => {
      checkHeaderBytes(request.headers, front.server.maxHeaderBytes)
      if (endpoint.access === 'public') return endpoint.handle(request, fields, front.services)
      return endpoint.read(readingOf(front, request, connection, caller), front.services)
    })
}

/** Refuses requests that cannot become a WebSocket, at a path that serves nothing else. */
function socketAlone(message: string, handle: Handle): Handle {
  return (front, request, connection) => {
    const error = asksSocket(request)
      ? socketRefusal(request)
      : new GatewayError('upgrade_required', message)
    if (error === null) return handle(front, request, connection)
    const caller = front.callers.of(request.headers, connection.address)
    const fields = {
      ...baseFields(front, request, caller),
      upgrade: 'websocket',
      'sec-websocket-version': socketVersion,
    }
    return turnAway(front, request, error, fields, { caller })
  }
}

/** Loads the operation at the first request, which waits for that. */
function laterHandle({ load }: LaterEndpoint): Handle {
  let loaded: Operation<Services> | null = null
  return async (front, request, connection) => {
    loaded ??= await load()
    return run(front, loaded, request, connection)
  }
}

function run(
  front: Front,
  operation: Operation<Services>,
  request: ClientRequest,
  connection: ClientConnection,
  address?: Address,
): Promise<Answered> {
  // A model may think for longer than the runtime's idle timeout allows.
  connection.setIdleSeconds(0)
  return new Admission(front, operation, request, connection, address).run()
}

/** Authenticates the caller. Throws GatewayError where it has no access. */
function readingOf(
  front: Front,
  request: ClientRequest,
  connection: ClientConnection,
  caller: Caller,
): Reading<KeyPrincipal> {
  const { load, server, keyring, keyUses } = front
  const { headers, method } = request
  const nowMs = Date.now()
  const keyed = mayShowKeyInAddress(request) ? request.url : null
  const principal = authenticate(headers, keyring, nowMs, caller.address, keyed)
  keyUses.note(principal.keyId, nowMs, caller)
  return {
    principal,
    url: pathUrlOf(request.url),
    headers,
    method,
    hold() {
      load.enter(0, server)
      connection.setIdleSeconds(0)
      return () => load.leave(0)
    },
  }
}

async function answering(
  front: Front,
  request: ClientRequest,
  connection: ClientConnection,
  answer: (fields: Fields, caller: Caller) => Reply | Promise<Reply>,
): Promise<HttpReply> {
  const { callers, observer } = front
  const caller = callers.of(request.headers, connection.address)
  const fields = baseFields(front, request, caller)
  const shape = shapeFor(front, request)
  try {
    const reply = await answer(fields, caller)
    // From here on the idle timeout cuts off a client that stops reading.
    if (reply.body instanceof ReadableStream) connection.setIdleSeconds(idleSeconds)
    Object.assign(fields, shape.replyHeaders?.(fields['x-request-id'] ?? ''))
    return plainReply(reply, fields)
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal !== error) observer.crashed(error)
    if (refusal.code === 'invalid_api_key') {
      const requestId = fields['x-request-id'] ?? ''
      observer.denied(
        denialOf(refusal, requestId, belowPrefix(pathOf(request.url)), caller.address),
      )
    }
    return turnAway(front, request, refusal, fields, { caller })
  }
}
