// The HTTP server: the gateway's own listener for plain requests, the runtime's server behind it, and their shutdown.

import { GatewayError } from '../errors.ts'
import type { SocketLink } from '../operations/operation.ts'
import { Departure } from './departure.ts'
import type { DirectHandle } from './direct/connection.ts'
import { DirectListener } from './direct/listener.ts'
import { mostConnections, readLimits } from './direct/open-files.ts'
import { endpoints } from './endpoints.ts'
import { fallback } from './fallback.ts'
import { handleOf } from './handle.ts'
import { listenOn } from './listening.ts'
import { atCapacity } from './load.ts'
import { refuse, usualShape } from './refuse.ts'
import { asResponse } from './reply.ts'
import { idleSeconds } from './respond.ts'
import {
  awaited,
  healthRoutes,
  type PeerOf,
  type Readiness,
  type Route,
  type RouteOptions,
  routesOf,
  type Serving,
  socketHandlers,
} from './runtime-routes.ts'

interface ListenOptions extends RouteOptions {
  readonly host: string
  readonly port: number
  /** Several processes listen on the port, and the system divides the connections among them. */
  readonly sharePort: boolean
  /** Largest message a WebSocket's client may send. */
  readonly maxMessageBytes: number
  /** A further port that answers the health paths for this process alone; null: there is none. */
  readonly healthPort: number | null
  /** Reports a fault in the gateway itself, for the log. */
  readonly onCrash: (error: unknown) => void
  /** Reports that there are as many connections as this process may open files for. */
  readonly onFull: (connections: number) => void
}

export interface Listener {
  readonly url: string
  readonly port: number
  /** `performance.now()` when readiness was last asked for; null: never. */
  readonly askedReadyMs: number | null
  /** From now on each reply closes its connection, so that clients reconnect to another process. */
  leave(): void
  /** Stops listening once no client is about to send; requests under way continue. To be called after `leave`. */
  close(): Promise<void>
  /** Gives replies under way a moment to reach their clients, then closes all connections. */
  stop(): Promise<void>
}

/** Longest wait for clients to read the last bytes of their replies. */
const lastBytesMs = 2_000

/** Polls: the runtime has no event for the last reply being sent. */
async function settled(isSo: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + lastBytesMs
  while (!isSo() && performance.now() < deadlineMs)
    await new Promise<void>((resolve) => setTimeout(resolve, 5))
}

/**
 * The gateway's own listener takes all connections and answers plain requests of the endpoint table. The runtime's
 * server, which listens on the loopback address behind it, answers all others. Throws where the port is taken.
 */
export function listen(options: ListenOptions): Listener {
  const departure = new Departure()
  const rows = tableRows()
  let direct: DirectListener | null = null
  // null where the connection did not come through the listener, so that the client is unknown.
  const peerOf: PeerOf = (request, server) => {
    const at = server.requestIP(request)
    return at === null ? null : (direct?.clientOf(at.port) ?? null)
  }
  const readiness: Readiness = { askedMs: null }
  const { routes, unknown } = routesOf(options, departure, rows, peerOf, readiness)
  const server = Bun.serve<SocketLink>({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: idleSeconds,
    // Admission enforces the configured bound and refuses in JSON.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    routes,
    websocket: socketHandlers(options.maxMessageBytes),
    fetch: unknown,
    error: (error) => asResponse(crashed(options, error)),
  })
  try {
    direct = listenDirectly(options, departure, rows, server)
  } catch (error) {
    void server.stop(true)
    throw error
  }
  return listenerOf(
    options,
    departure,
    { direct, server, health: serveHealth(options, readiness) },
    readiness,
  )
}

interface Servers {
  readonly direct: DirectListener
  readonly server: Serving
  readonly health: Serving | null
}

function listenerOf(
  { host }: ListenOptions,
  departure: Departure,
  { direct, server, health }: Servers,
  readiness: Readiness,
): Listener {
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${direct.port}`,
    port: direct.port,
    get askedReadyMs() {
      return readiness.askedMs
    },
    leave: () => departure.begin(),
    async close() {
      await departure.quiet()
      direct.stop()
      void server.stop(false)
    },
    async stop() {
      direct.stop()
      void server.stop(false)
      await settled(() => direct.count('answering') + server.pendingRequests === 0)
      await server.stop(true)
      // The server's last bytes still pass through this process.
      await settled(() => direct.count('tunnelling') === 0)
      direct.terminate()
      await health?.stop(true)
    },
  }
}

/** Each row of the endpoint table at each of its full paths. */
function tableRows(): readonly Route[] {
  return endpoints.flatMap((endpoint) => {
    const handle = handleOf(endpoint)
    return endpoint.prefixes.map((prefix) => ({
      path: prefix + endpoint.path,
      method: endpoint.method,
      handle,
    }))
  })
}

function listenDirectly(
  options: ListenOptions,
  departure: Departure,
  rows: readonly Route[],
  server: Serving,
): DirectListener {
  const { host, port, sharePort, front } = options
  const handles = new Map<string, DirectHandle>()
  // Paths with parameters are matched by the runtime's server.
  for (const { path, method, handle } of rows.filter(({ path }) => !/[:*]/.test(path))) {
    const ready: DirectHandle = awaited(options, (request, connection) =>
      handle(front(), request, connection),
    )
    handles.set(`${method} ${path}`, (request, connection) => {
      departure.note()
      return ready(request, connection)
    })
  }
  return new DirectListener({
    host,
    port,
    sharePort,
    serverPort: server.port ?? 0,
    handles,
    maxBodyBytes: () => front().server.maxBodyBytes,
    leaving: () => departure.begun,
    mostConnections: mostConnections(readLimits()),
    onFull: options.onFull,
    unreadable: (status) => refuse(unreadable(status), {}, usualShape),
    full: () => refuse(atCapacity(), {}, usualShape),
    crashed: (error) => crashed(options, error),
  })
}

/** `status`: the runtime's, or 408. */
function unreadable(status: number): GatewayError {
  if (status === 408)
    return new GatewayError('request_timeout', 'The request head did not arrive in time.')
  if (status === 431)
    return new GatewayError(
      'request_headers_too_large',
      'The request headers are too large or too many.',
    )
  return new GatewayError('invalid_request_error', 'The request cannot be read as HTTP/1.1.')
}

function crashed({ onCrash }: ListenOptions, error: unknown) {
  onCrash(error)
  const refusal = new GatewayError('server_error', 'The gateway failed to handle this request.')
  return refuse(refusal, {}, usualShape)
}

function serveHealth(options: ListenOptions, readiness: Readiness) {
  const { host, healthPort, maxMessageBytes } = options
  if (healthPort === null) return null
  const peerOf: PeerOf = (request, server) => server.requestIP(request)?.address ?? null
  return listenOn(host, healthPort, () =>
    Bun.serve<SocketLink>({
      hostname: host,
      port: healthPort,
      development: false,
      routes: healthRoutes(options, peerOf, readiness),
      websocket: socketHandlers(maxMessageBytes),
      fetch: (request, server) => asResponse(fallback(options, request, peerOf(request, server))),
    }),
  )
}

/** Throws ListenError where another server listens on the port: with a shared port, starting there would go unnoticed. */
export async function checkPort(host: string, port: number): Promise<void> {
  const server = listenOn(host, port, () =>
    Bun.serve({ hostname: host, port, fetch: () => Response.error() }),
  )
  await server.stop(true)
}
