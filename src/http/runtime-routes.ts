// Routes of the runtime's server: endpoint table, control API, console and health paths, each with its checks.

import { invalidRequest } from '../errors.ts'
import { newRequestId } from '../history/caller.ts'
import type { Fields, ServerSocket, SocketLink } from '../operations/operation.ts'
import type { ClientConnection } from './admission.ts'
import { hasTwoHosts } from './body/head.ts'
import type { Departure } from './departure.ts'
import { unknownEndpoint } from './endpoints.ts'
import { type FallbackOptions, fallback, refuseMethod } from './fallback.ts'
import { type Handle, handleOf } from './handle.ts'
import { type Health, healthPaths, readyPaths, respondHealth } from './health.ts'
import { baseFields, refuse, shapeFor } from './refuse.ts'
import { asResponse, isStreamed } from './reply.ts'
import { idleSeconds } from './respond.ts'
import type { Endpoint } from './row.ts'

export interface RouteOptions extends FallbackOptions {
  readonly health: Health
  /** Answers below `/api`, and the API's documents. `peer`: the client's address. Never rejects. */
  readonly control: (request: Request, peer: string | null) => Promise<Response>
  /**
   * Answers `/` and paths below `/console`; resolves null for a path that is not the console's. null: there is no
   * console.
   */
  readonly console: ((request: Request, peer: string | null) => Promise<Response | null>) | null
  /** Answers paths below `/paysim`, where payments are simulated; resolves null while they are not. */
  readonly simulator: (request: Request) => Promise<Response | null>
  /** Called for each request; the promise it gives must settle before the request is handled. null: no wait. */
  readonly arrived: () => Promise<void> | null
}

export type Serving = Bun.Server<SocketLink>
type Handler = (
  request: Request,
  server: Serving,
) => Response | undefined | Promise<Response | undefined>

/** A row of the endpoint table at one of its full paths. */
export interface Route {
  readonly path: string
  readonly method: Endpoint['method']
  readonly handle: Handle
}

/** `performance.now()` when readiness was last asked for; null: never. */
export interface Readiness {
  askedMs: number | null
}

/** The client's address for a request; null where the connection is closed already. */
export type PeerOf = (request: Request, server: Serving) => string | null

/** Paths of the control API; rows of the endpoint table below them take precedence. */
const controlPaths = ['/api', '/api/*', '/openapi.json', '/llms.txt', '/docs', '/docs/*'] as const

const consolePaths = ['/', '/console', '/console/*'] as const

/** `rows`: the endpoint table. */
export function routesOf(
  options: RouteOptions,
  departure: Departure,
  rows: readonly Route[],
  peerOf: PeerOf,
  readiness: Readiness,
) {
  const routes: Record<string, Handler> = {}
  for (const [path, handlers] of handlersByPath(options, rows, peerOf)) {
    routes[path] = methodGuard(options, handlers, peerOf)
  }
  for (const path of controlPaths) {
    routes[path] = (request, server) => options.control(request, peerOf(request, server))
  }
  routes['/paysim/*'] = async (request, server) =>
    (await options.simulator(request)) ??
    asResponse(fallback(options, request, peerOf(request, server)))
  for (const [path, handle] of Object.entries(routes)) routes[path] = awaited(options, handle)
  const { console } = options
  if (console !== null)
    for (const path of consolePaths) routes[path] = consoleHandler(options, console, peerOf)
  Object.assign(routes, healthRoutes(options, peerOf, readiness))
  for (const [path, handle] of Object.entries(routes))
    routes[path] = departure.ending(ofOneHost(options, handle))
  const unknown: Handler = awaited(options, (request: Request, server: Serving) =>
    unknownPath(options, request, server, peerOf),
  )
  return { routes, unknown: departure.ending(ofOneHost(options, unknown)) }
}

/** Delays the handler for as long as `arrived` asks. */
export function awaited<Incoming, Connected, Reply>(
  { arrived }: Pick<RouteOptions, 'arrived'>,
  handle: (request: Incoming, connected: Connected) => Reply | Promise<Reply>,
): (request: Incoming, connected: Connected) => Reply | Promise<Reply> {
  return (request, connected) => {
    const waking = arrived()
    if (waking === null) return handle(request, connected)
    return waking.then(() => handle(request, connected))
  }
}

/** Refuses other methods, and answers unknown paths as everywhere else. */
function consoleHandler(
  options: RouteOptions,
  answer: NonNullable<RouteOptions['console']>,
  peerOf: PeerOf,
) {
  return async (request: Request, server: Serving): Promise<Response> => {
    const peer = peerOf(request, server)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return asResponse(refuseMethod(options.front(), request, 'GET, HEAD, OPTIONS', peer))
    return (await answer(request, peer)) ?? asResponse(fallback(options, request, peer))
  }
}

/** Sets `readiness` when readiness is asked for. */
export function healthRoutes(
  { health, front }: RouteOptions,
  peerOf: PeerOf,
  readiness: Readiness,
): Record<string, Handler> {
  const routes: Record<string, Handler> = {}
  for (const path of healthPaths) {
    const isReadiness = readyPaths.includes(path)
    routes[path] = (request, server) => {
      if (isReadiness) readiness.askedMs = performance.now()
      const clientAddress = peerOf(request, server)
      const reply = respondHealth(path, request, health, clientAddress ?? '')
      if (reply.status === 401) {
        const reason = 'The metrics token is missing or wrong.'
        const requestId = newRequestId(Date.now())
        front().observer.denied({ requestId, path, clientAddress, keyPrefix: null, reason })
      }
      return reply
    }
  }
  return routes
}

class Connection implements ClientConnection {
  private readonly request: Request
  private readonly server: Serving
  private readonly peerOf: PeerOf

  constructor(request: Request, server: Serving, peerOf: PeerOf) {
    this.request = request
    this.server = server
    this.peerOf = peerOf
  }

  get address(): string | null {
    return this.peerOf(this.request, this.server)
  }

  setIdleSeconds(seconds: number): void {
    this.server.timeout(this.request, seconds)
  }

  upgrade(data: SocketLink, headers: Readonly<Fields>): boolean {
    return this.server.upgrade(this.request, { data, headers })
  }
}

type Linked = ServerSocket & { readonly data: SocketLink }

/** Bounds the bytes that a WebSocket's client has not read: past that the session is closed. */
export function socketHandlers(maxMessageBytes: number) {
  return {
    maxPayloadLength: maxMessageBytes,
    backpressureLimit: maxMessageBytes,
    // A client that answers no ping within this time counts as gone.
    idleTimeout: idleSeconds,
    perMessageDeflate: false,
    open: (socket: Linked) => socket.data.opened(socket),
    message: (socket: Linked, message: string | Buffer) => socket.data.received(message),
    drain: (socket: Linked) => socket.data.drained(),
    close: (socket: Linked, code: number, reason: string) => socket.data.closed(code, reason),
  }
}

interface Handlers {
  GET?: Handler
  POST?: Handler
  DELETE?: Handler
}

/** Joins rows that share a path and differ in method. */
function handlersByPath(
  options: RouteOptions,
  rows: readonly Route[],
  peerOf: PeerOf,
): Map<string, Handlers> {
  const found = new Map<string, Handlers>()
  for (const { path, method, handle } of rows)
    found.set(path, { ...found.get(path), [method]: handlerOf(options, handle, peerOf) })
  return found
}

function handlerOf({ front }: RouteOptions, handle: Handle, peerOf: PeerOf): Handler {
  return async (request, server) => {
    const connection = new Connection(request, server, peerOf)
    const reply = await handle(front(), request, connection)
    // Whoever sends no more, before or behind the reply, is not waited for.
    if (reply !== undefined && !isStreamed(reply.body)) connection.setIdleSeconds(idleSeconds)
    return reply && asResponse(reply)
  }
}

/** Answers a path that no route takes. */
function unknownPath(options: RouteOptions, request: Request, server: Serving, peerOf: PeerOf) {
  const endpoint = unknownEndpoint(request)
  if (endpoint === null) return asResponse(fallback(options, request, peerOf(request, server)))
  return handlerOf(options, handleOf(endpoint), peerOf)(request, server)
}

/** Refuses a request with several Host headers before anything else is checked. */
function ofOneHost(options: RouteOptions, handle: Handler): Handler {
  return (request, server) => {
    if (!hasTwoHosts(request.headers)) return handle(request, server)
    const front = options.front()
    const error = invalidRequest('The request has more than one Host.', 'Host')
    return asResponse(refuse(error, baseFields(front, request), shapeFor(front, request)))
  }
}

/** Refuses methods that the path lacks before anything else is checked; answers CORS preflights. */
function methodGuard(options: RouteOptions, handlers: Handlers, peerOf: PeerOf): Handler {
  const { GET, POST, DELETE } = handlers
  const names = [GET && 'GET, HEAD', POST && 'POST', DELETE && 'DELETE', 'OPTIONS']
  const allow = names.filter((name) => name !== undefined).join(', ')
  return (request, server) => {
    const { method } = request
    const handle = method === 'HEAD' ? GET : isHandled(method) ? handlers[method] : undefined
    return handle === undefined
      ? asResponse(refuseMethod(options.front(), request, allow, peerOf(request, server)))
      : handle(request, server)
  }
}

function isHandled(method: string): method is keyof Handlers {
  return method === 'GET' || method === 'POST' || method === 'DELETE'
}
