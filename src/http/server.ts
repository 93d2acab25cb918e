// The server: a listener of the gateway's own for plain requests, the runtime's server behind it, and how both are left.

import { GatewayError } from '../errors.ts'
import type { SocketLink } from '../operations/operation.ts'
import { Departure } from './departure.ts'
import type { DirectHandle } from './direct/connection.ts'
import { DirectListener } from './direct/listener.ts'
import { endpoints } from './endpoints.ts'
import { fallback } from './fallback.ts'
import { handleOf } from './handle.ts'
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
  /** Other processes listen there too, and the system divides the connections. */
  readonly sharePort: boolean
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

/** What clients get to take the last bytes of their replies. */
const lastBytesMs = 2_000

/** The runtime tells nobody when its last reply has left: it is asked. */
async function settled(isSo: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + lastBytesMs
  while (!isSo() && performance.now() < deadlineMs)
    await new Promise<void>((resolve) => setTimeout(resolve, 5))
}

/**
 * The gateway's own listener takes all connections and answers plain requests of the endpoint table; all others are
 * answered by the runtime's server behind it, which listens on the loopback address. Throws where the port is taken.
 */
export function listen(options: ListenOptions): Listener {
  const departure = new Departure()
  const rows = tableRows()
  let direct: DirectListener | null = null
  // Of whom nothing is known came past the listener.
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
    // The bound of the configuration is checked at admission, which answers in JSON.
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
      // What it said last is on its way through this process.
      await settled(() => direct.count('tunnelling') === 0)
      direct.terminate()
      await health?.stop(true)
    },
  }
}

/** Each row of the endpoint table at each of its paths. */
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
  // Of a path with names in it the runtime's server knows which row it is.
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
    crashed: (error) => crashed(options, error),
  })
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
  return Bun.serve<SocketLink>({
    hostname: host,
    port: healthPort,
    development: false,
    routes: healthRoutes(options, peerOf, readiness),
    websocket: socketHandlers(maxMessageBytes),
    fetch: (request, server) => asResponse(fallback(options, request, peerOf(request, server))),
  })
}

/** Throws where somebody listens there: processes that share a port would join in without noticing. */
export async function checkPort(host: string, port: number): Promise<void> {
  const server = Bun.serve({ hostname: host, port, fetch: () => Response.error() })
  await server.stop(true)
}
