// The listener: turns the endpoint table into routes, guards hosts and methods, and takes leave of connections.

import { GatewayError, invalidRequest } from '../errors.ts'
import { newRequestId } from '../history/caller.ts'
import type { Fields, ServerSocket, SocketLink } from '../operations/operation.ts'
import type { ClientConnection } from './admission.ts'
import { hasTwoHosts } from './body/head.ts'
import { Departure } from './departure.ts'
import { endpoints, unknownEndpoint } from './endpoints.ts'
import { type FallbackOptions, fallback, refuseMethod } from './fallback.ts'
import { type Answered, type Handle, handleOf } from './handle.ts'
import { type Health, healthPaths, readyPaths, respondHealth } from './health.ts'
import { baseFields, refuse, shapeFor, usualShape } from './refuse.ts'
import { idleSeconds } from './respond.ts'

interface ListenOptions extends FallbackOptions {
  readonly host: string
  readonly port: number
  /** Other processes listen there too, and the system divides the connections. */
  readonly sharePort: boolean
  readonly health: Health
  /** Answers below `/api`, and with what describes it. `peer`: the other end of the connection. Never rejects. */
  readonly control: (request: Request, peer: string | null) => Promise<Response>
  /** Answers at `/` and below `/console` with null where the path is none of its own; null: there is no console. */
  readonly console: ((request: Request, peer: string | null) => Promise<Response | null>) | null
  /** Answers below `/paysim`; null: there is none now. */
  readonly simulator: (request: Request) => Promise<Response | null>
  /** Told of each request; what it must wait for before it is looked at, or null. */
  readonly arrived: () => Promise<void> | null
  /** Largest message of a socket's client. */
  readonly maxMessageBytes: number
  /** Where the health paths alone are answered too, by nobody but this process; null: nowhere. */
  readonly healthPort: number | null
  /** A mistake in the gateway: for the log. */
  readonly onCrash: (error: unknown) => void
}

export interface Listener {
  readonly url: string
  readonly port: number
  /** `performance.now()` when readiness was last asked for; null: never. */
  readonly askedReadyMs: number | null
  /** From now on a reply ends its connection, which clients then open elsewhere. */
  leave(): void
  /** Listens no longer once nobody is about to send anything; requests under way go on. After `leave`. */
  close(): Promise<void>
  /** Lets replies under way reach their clients for a moment, then closes what is left. */
  stop(): Promise<void>
}

type Serving = Bun.Server<SocketLink>
type Handler = (request: Request, server: Serving) => Answered | Promise<Answered>

/** The runtime tells nobody when its last reply has left: it is asked. */
const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 5))

/** What clients get to take the last bytes of their replies. */
const lastBytesMs = 2_000

/** Listens. Throws where the port is taken. */
export function listen(options: ListenOptions): Listener {
  const departure = new Departure()
  const { routes, health, readiness } = routesOf(options, departure)
  const server = Bun.serve<SocketLink>({
    hostname: options.host,
    port: options.port,
    reusePort: options.sharePort,
    idleTimeout: idleSeconds,
    // The bound of the configuration is checked at admission, which answers in JSON.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    routes,
    websocket: socketHandlers(options.maxMessageBytes),
    fetch: departure.ending(
      ofOneHost(
        options,
        awaited(options, (request, server) => unknownPath(options, request, server)),
      ),
    ),
    error: (error) => {
      options.onCrash(error)
      const refusal = new GatewayError('server_error', 'The gateway failed to handle this request.')
      return refuse(refusal, {}, usualShape)
    },
  })
  const healthServer = serveHealth(options, health)
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${server.port}`,
    port: server.port ?? options.port,
    get askedReadyMs() {
      return readiness.askedMs
    },
    leave: () => departure.begin(),
    async close() {
      await departure.quiet()
      void server.stop(false)
    },
    async stop() {
      const deadlineMs = performance.now() + lastBytesMs
      void server.stop(false)
      while (server.pendingRequests > 0 && performance.now() < deadlineMs) await tick()
      await server.stop(true)
      await healthServer?.stop(true)
    },
  }
}

function serveHealth(options: ListenOptions, routes: Record<string, Handler>) {
  const { host, healthPort } = options
  if (healthPort === null) return null
  return Bun.serve({
    hostname: host,
    port: healthPort,
    development: false,
    routes,
    websocket: socketHandlers(options.maxMessageBytes),
    fetch: (request, server) => fallback(options, request, addressOf(request, server)),
  })
}

/** Of the control API; what the endpoint table has below them comes first. */
const controlPaths = ['/api', '/api/*', '/openapi.json', '/docs', '/docs/*'] as const

const consolePaths = ['/', '/console', '/console/*'] as const

function routesOf(options: ListenOptions, departure: Departure) {
  const routes: Record<string, Handler> = {}
  for (const [path, handlers] of handlersByPath(options)) {
    routes[path] = methodGuard(options, handlers)
  }
  for (const path of controlPaths) {
    routes[path] = (request, server) => options.control(request, addressOf(request, server))
  }
  routes['/paysim/*'] = async (request, server) =>
    (await options.simulator(request)) ?? fallback(options, request, addressOf(request, server))
  for (const [path, handle] of Object.entries(routes)) routes[path] = awaited(options, handle)
  const { console } = options
  if (console !== null)
    for (const path of consolePaths) routes[path] = consoleHandler(options, console)
  const { routes: health, readiness } = healthRoutes(options)
  Object.assign(routes, health)
  for (const [path, handle] of Object.entries(routes))
    routes[path] = departure.ending(ofOneHost(options, handle))
  return { routes, health, readiness }
}

/** The same handler, once what requests are judged by is up to date. */
function awaited({ arrived }: ListenOptions, handle: Handler): Handler {
  return (request, server) => {
    const waking = arrived()
    return waking === null ? handle(request, server) : waking.then(() => handle(request, server))
  }
}

/** Other methods are refused as everywhere; what it does not have is answered as any unknown path. */
function consoleHandler(options: ListenOptions, answer: NonNullable<ListenOptions['console']>) {
  return async (request: Request, server: Serving): Promise<Response> => {
    const peer = addressOf(request, server)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuseMethod(options.front(), request, 'GET, HEAD, OPTIONS', peer)
    return (await answer(request, peer)) ?? fallback(options, request, peer)
  }
}

function healthRoutes({ health, front }: ListenOptions) {
  const routes: Record<string, Handler> = {}
  const readiness: { askedMs: number | null } = { askedMs: null }
  for (const path of healthPaths) {
    const isReadiness = readyPaths.includes(path)
    routes[path] = (request, server) => {
      if (isReadiness) readiness.askedMs = performance.now()
      const clientAddress = addressOf(request, server)
      const reply = respondHealth(path, request, health, clientAddress ?? '')
      if (reply.status === 401) {
        const reason = 'The metrics token is missing or wrong.'
        const requestId = newRequestId(Date.now())
        front().observer.denied({ requestId, path, clientAddress, keyPrefix: null, reason })
      }
      return reply
    }
  }
  return { routes, readiness }
}

/** Throws where somebody listens there: processes that share a port would join in without noticing. */
export async function checkPort(host: string, port: number): Promise<void> {
  const server = Bun.serve({ hostname: host, port, fetch: () => Response.error() })
  await server.stop(true)
}

function addressOf(request: Request, server: Serving): string | null {
  return server.requestIP(request)?.address ?? null
}

class Connection implements ClientConnection {
  private readonly request: Request
  private readonly server: Serving

  constructor(request: Request, server: Serving) {
    this.request = request
    this.server = server
  }

  get address(): string | null {
    return addressOf(this.request, this.server)
  }

  setIdleSeconds(seconds: number): void {
    this.server.timeout(this.request, seconds)
  }

  upgrade(data: SocketLink, headers: Readonly<Fields>): boolean {
    return this.server.upgrade(this.request, { data, headers })
  }
}

type Linked = ServerSocket & { readonly data: SocketLink }

/** What a socket's client has not taken is bounded: past that the session is closed. */
function socketHandlers(maxMessageBytes: number) {
  return {
    maxPayloadLength: maxMessageBytes,
    backpressureLimit: maxMessageBytes,
    // One whose client answers no ping is taken for gone.
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

/** Rows of one path may take different methods. */
function handlersByPath(options: ListenOptions): Map<string, Handlers> {
  const found = new Map<string, Handlers>()
  for (const endpoint of endpoints) {
    const handler = handlerOf(options, handleOf(endpoint))
    for (const prefix of endpoint.prefixes) {
      const path = prefix + endpoint.path
      found.set(path, { ...found.get(path), [endpoint.method]: handler })
    }
  }
  return found
}

function handlerOf({ front }: ListenOptions, handle: Handle): Handler {
  return (request, server) => handle(front(), request, new Connection(request, server))
}

/** What no route took. */
function unknownPath(options: ListenOptions, request: Request, server: Serving) {
  const endpoint = unknownEndpoint(request)
  if (endpoint === null) return fallback(options, request, addressOf(request, server))
  return handlerOf(options, handleOf(endpoint))(request, server)
}

/** Refuses a request that names several hosts before anything else is looked at. */
function ofOneHost(options: ListenOptions, handle: Handler): Handler {
  return (request, server) => {
    if (!hasTwoHosts(request.headers)) return handle(request, server)
    const front = options.front()
    const error = invalidRequest('The request has more than one Host.', 'Host')
    return refuse(error, baseFields(front, request), shapeFor(front, request))
  }
}

/** Refuses other methods before anything is looked at; answers a browser's preflight. */
function methodGuard(options: ListenOptions, handlers: Handlers): Handler {
  const { GET, POST, DELETE } = handlers
  const names = [GET && 'GET, HEAD', POST && 'POST', DELETE && 'DELETE', 'OPTIONS']
  const allow = names.filter((name) => name !== undefined).join(', ')
  return (request, server) => {
    const { method } = request
    const handle = method === 'HEAD' ? GET : isHandled(method) ? handlers[method] : undefined
    return handle === undefined
      ? refuseMethod(options.front(), request, allow, addressOf(request, server))
      : handle(request, server)
  }
}

function isHandled(method: string): method is keyof Handlers {
  return method === 'GET' || method === 'POST' || method === 'DELETE'
}
