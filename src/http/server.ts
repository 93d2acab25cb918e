// The listener: turns the endpoint table into routes, and every stray request into a JSON answer.

import { GatewayError, invalidRequest } from '../errors.ts'
import { newRequestId } from '../history/request-id.ts'
import { authenticate } from '../identity/authenticate.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import { countTokens } from '../operations/count-tokens/count-tokens.ts'
import { countResponseTokens } from '../operations/count-tokens/responses.ts'
import { type ClientLink, RealtimeRequest, socketHandlers } from '../operations/realtime/request.ts'
import {
  cancelResponse,
  listInput,
  readResponse,
  removeResponse,
} from '../operations/responses/read.ts'
import { answerVideo } from '../operations/videos/endpoints.ts'
import type { ClientDialectId } from '../wire/formats.ts'
import { checkHeaderBytes, hasTwoHosts } from './body/head.ts'
import { Departure } from './departure.ts'
import {
  apiPrefixes,
  belowPrefix,
  type Endpoint,
  endpoints,
  type VideoEndpoint,
} from './endpoints.ts'
import { type FallbackOptions, fallback, wrongMethod } from './fallback.ts'
import { filePath, readHosted } from './files.ts'
import type { FrontRooms } from './front-rooms.ts'
import { countHere, googleCallOf, isGoogleClient, isGooglePath } from './google.ts'
import { type Health, healthPaths, readyPaths, respondHealth } from './health.ts'
import { mePaths, readMe } from './me.ts'
import { type ClientConnection, ModelRequest } from './model-request.ts'
import { readGoogleModel, readGoogleModels, readModel, readModels } from './models-read.ts'
import { denialOf } from './refusal.ts'
import { baseFields, openaiShape, pathOf, refuse, shapeFor } from './refuse.ts'
import {
  addStreamFields,
  type Fields,
  idleSeconds,
  jsonType,
  refusalOf,
  streamType,
} from './respond.ts'

export interface ListenOptions extends FallbackOptions {
  readonly host: string
  readonly port: number
  /** Other processes listen there too, and the system divides the connections. */
  readonly sharePort: boolean
  readonly health: Health
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

type Serving = Bun.Server<ClientLink>
type Answered = Response | undefined
/** `undefined`: the request has become a socket. */
type Handler = (request: Request, server: Serving) => Answered | Promise<Answered>

/** The runtime tells nobody when its last reply has left: it is asked. */
const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 5))

/** What clients get to take the last bytes of their replies. */
const lastBytesMs = 2_000

/** Listens. Throws where the port is taken. */
export function listen(options: ListenOptions): Listener {
  const departure = new Departure()
  const { routes, health, readiness } = routesOf(options, departure)
  const server = Bun.serve<ClientLink>({
    hostname: options.host,
    port: options.port,
    reusePort: options.sharePort,
    idleTimeout: idleSeconds,
    // The bound of the configuration is checked by the front door, which answers in JSON.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    routes,
    websocket: socketHandlers(options.maxMessageBytes),
    fetch: departure.ending(
      ofOneHost(
        options,
        awaited(options, (request, server) => fallbackCall(options, request, server)),
      ),
    ),
    error: (error) => {
      options.onCrash(error)
      const told = new GatewayError('server_error', 'The gateway failed to handle this request.')
      return refuse(told, {}, openaiShape)
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
    fetch: (request) => fallback(options, request),
  })
}

function routesOf(options: ListenOptions, departure: Departure) {
  const routes: Record<string, Handler> = {}
  for (const [path, handlers] of handlersByPath(options)) {
    routes[path] = methodGuard(options, handlers)
  }
  for (const path of mePaths) {
    routes[path] = methodGuard(options, { GET: readHandler(options, readOfMe) })
  }
  routes[filePath] = methodGuard(options, { GET: fileHandler(options) })
  for (const [path, handle] of Object.entries(routes)) routes[path] = awaited(options, handle)
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

function healthRoutes({ health, rooms }: ListenOptions) {
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
        rooms().denied({ requestId, path, clientAddress, keyPrefix: null, reason })
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

function connectionOf(request: Request, server: Serving): ClientConnection {
  return {
    address: addressOf(request, server),
    setIdleSeconds: (seconds) => server.timeout(request, seconds),
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
    const handle = handlerOf(options, endpoint)
    for (const prefix of endpoint.prefixes ?? apiPrefixes) {
      const path = prefix + endpoint.path
      found.set(path, { ...found.get(path), [endpoint.method]: handle })
    }
  }
  return found
}

function handlerOf(options: ListenOptions, endpoint: Endpoint): Handler {
  switch (endpoint.kind) {
    case 'model':
      return modelHandler(options, endpoint.dialect)
    case 'count-tokens': {
      const dialect = options.dialects[endpoint.dialect]
      return jsonHandler(options, (rooms, request) => countTokens(rooms, dialect, request))
    }
    case 'response':
    case 'response-removal':
    case 'response-cancel':
    case 'response-input': {
      const answer = ofResponses[endpoint.kind]
      return readHandler(options, ({ responses }, { account }, url) =>
        answer(responses, account, url),
      )
    }
    case 'realtime':
      return realtimeHandler(options)
    case 'response-socket':
      return socketHandler(options)
    case 'response-tokens':
      return jsonHandler(options, (rooms, request) =>
        countResponseTokens(rooms, options.dialects['openai-responses'], request),
      )
    case 'not-offered':
      return jsonHandler(options, (_, request) => {
        const path = pathOf(request.url)
        throw new GatewayError('unsupported_endpoint', `${path} is not offered by this gateway.`)
      })
    case 'video-begin':
    case 'videos':
    case 'video':
    case 'video-removal':
    case 'video-content':
    case 'video-remix':
      return videoHandler(options, endpoint.kind)
    case 'models':
      return forGoogle(options, readGoogleModels, readHandler(options, readModels))
    case 'model-by-id':
      return forGoogle(options, readGoogleModel, readHandler(options, readModel))
    case 'google-call':
      return googleHandler(options)
    case 'google-models':
      return readHandler(options, readGoogleModels, 'gemini')
    case 'google-model-by-id':
      return readHandler(options, readGoogleModel, 'gemini')
  }
}

function videoHandler(options: ListenOptions, kind: VideoEndpoint['kind']): Handler {
  return (request, server) => {
    const connection = connectionOf(request, server)
    const answer: Answering = (rooms, _, fields) =>
      answerVideo(rooms, kind, { request, fields, connection })
    return jsonHandler(options, answer)(request, server)
  }
}

const ofResponses = {
  response: readResponse,
  'response-removal': removeResponse,
  'response-cancel': cancelResponse,
  'response-input': listInput,
}

function realtimeHandler(options: ListenOptions): Handler {
  const dialect = options.dialects['openai-realtime']
  return (request, server) => {
    const rooms = options.rooms()
    if (!asksSocket(request)) {
      const fields = { ...baseFields(rooms, request), upgrade: 'websocket' }
      const message =
        'Realtime is served over WebSocket: connect to wss://.../v1/realtime?model=NAME.'
      return refuse(new GatewayError('upgrade_required', message), fields, openaiShape)
    }
    const connection = connectionOf(request, server)
    connection.setIdleSeconds(0)
    const upgrade = (data: ClientLink, headers: Fields) =>
      server.upgrade(request, { data, headers })
    return new RealtimeRequest(rooms, dialect, request, upgrade, connection.address).respond()
  }
}

function asksSocket({ headers }: Request): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket'
}

/** A socket is refused so that its client turns to events at once; there is nothing else to get at this path. */
function socketHandler(options: ListenOptions): Handler {
  return (request) => {
    if (!asksSocket(request)) return wrongMethod(options, request, 'POST, OPTIONS')
    const message = 'Responses are not served over WebSocket here: POST with "stream": true.'
    const fields = baseFields(options.rooms(), request)
    return refuse(new GatewayError('upgrade_required', message), fields, openaiShape)
  }
}

/** Google's newer clients ask for its lists below /v1 too, where they are known by their headers. */
function forGoogle(options: ListenOptions, read: Read, others: Handler): Handler {
  const google = readHandler(options, read, 'gemini')
  return (request, server) =>
    isGoogleClient(request.headers) ? google(request, server) : others(request, server)
}

/** Refuses a request that names several hosts before anything else is looked at. */
function ofOneHost(options: ListenOptions, handle: Handler): Handler {
  return (request, server) => {
    if (!hasTwoHosts(request.headers)) return handle(request, server)
    const fields = baseFields(options.rooms(), request)
    return refuse(
      invalidRequest('The request has more than one Host.', 'Host'),
      fields,
      shapeFor(options, request),
    )
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
    return handle === undefined ? wrongMethod(options, request, allow) : handle(request, server)
  }
}

function isHandled(method: string): method is keyof Handlers {
  return method === 'GET' || method === 'POST' || method === 'DELETE'
}

function modelHandler(options: ListenOptions, dialectId: ClientDialectId): Handler {
  const dialect = options.dialects[dialectId]
  return (request, server) => {
    const connection = connectionOf(request, server)
    // A model may think for longer than the runtime lets a connection rest.
    connection.setIdleSeconds(0)
    return new ModelRequest(options.rooms(), dialect, request, connection).respond()
  }
}

/** JSON, the bytes of an event stream, or a whole reply. */
type Told = string | AsyncGenerator<Uint8Array> | Response

/** `fields`: headers of the reply, to which some may be added. */
type Answering = (rooms: FrontRooms, request: Request, fields: Fields) => Told | Promise<Told>

/** JSON for whoever may have it; `answer` throws GatewayError where it may not be, or is not there. */
function jsonHandler(
  options: ListenOptions,
  answer: Answering,
  dialectId?: ClientDialectId,
): Handler {
  return async (request, server) => {
    const rooms = options.rooms()
    const caller = rooms.callers.of(request.headers, addressOf(request, server))
    const fields = baseFields(rooms, request, caller)
    const shape =
      dialectId === undefined ? shapeFor(options, request) : options.dialects[dialectId].client
    try {
      const told = await answer(rooms, request, fields)
      if (told instanceof Response) return told
      Object.assign(fields, shape.replyHeaders?.(fields['x-request-id'] ?? ''))
      const isText = typeof told === 'string'
      fields['content-type'] = isText ? jsonType : streamType
      if (!isText) addStreamFields(fields)
      // The runtime takes an async generator as a body; the DOM's types do not know of it.
      return new Response(told as BodyInit, { headers: fields })
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal !== error) options.onCrash(error)
      if (refusal.code === 'invalid_api_key') {
        const requestId = fields['x-request-id'] ?? ''
        rooms.denied(denialOf(refusal, requestId, belowPrefix(pathOf(request.url)), caller.address))
      }
      return refuse(refusal, fields, shape)
    }
  }
}

/** Whoever has a signed address has the file. */
function fileHandler(options: ListenOptions): Handler {
  return async (request) => {
    const rooms = options.rooms()
    const fields = baseFields(rooms, request)
    try {
      checkHeaderBytes(request.headers, rooms.server.maxHeaderBytes)
      return await readHosted(rooms.files, request, fields, Date.now())
    } catch (error) {
      if (!(error instanceof GatewayError)) options.onCrash(error)
      return refuse(refusalOf(error), fields, openaiShape)
    }
  }
}

/** What Google's addresses name: a call to a model, or a count of tokens. */
function googleHandler(options: ListenOptions): Handler {
  const { gemini, 'google-embed': embed } = options.dialects
  return (request, server) => {
    const call = googleCallOf(request.url)
    if (call === null) return notOffered(options, request)
    if (call.method === 'count') {
      const count = (rooms: FrontRooms) => countHere(rooms, request, call.model)
      return jsonHandler(options, count, 'gemini')(request, server)
    }
    const connection = connectionOf(request, server)
    connection.setIdleSeconds(0)
    const { address } = call
    const dialect = call.method === 'embed' ? embed : gemini
    return new ModelRequest(options.rooms(), dialect, request, connection, address).respond()
  }
}

/** Below Google's own versions its other methods are known and not offered; elsewhere the path takes no POST. */
function notOffered(options: ListenOptions, request: Request): Response {
  const path = pathOf(request.url)
  if (!isGooglePath(path)) return wrongMethod(options, request, 'GET, HEAD, OPTIONS')
  const message = `This method of the models interface is not offered by this gateway: ${path.slice(path.lastIndexOf('/') + 1)}`
  const error = new GatewayError('unsupported_endpoint', message)
  return refuse(error, baseFields(options.rooms(), request), options.dialects.gemini.client)
}

/** JSON for a known caller; `read` throws GatewayError for what is not there. */
function readHandler(options: ListenOptions, read: Read, dialectId?: ClientDialectId): Handler {
  const known: Answering = (rooms, { headers, url }, fields) => {
    checkHeaderBytes(headers, rooms.server.maxHeaderBytes)
    // Google's clients may put the key in the address; others' addresses are not looked into.
    const keyed = dialectId === undefined ? null : url
    const principal = authenticate(headers, rooms.keyring, Date.now(), keyed)
    return read(rooms, principal, new URL(url), headers, fields)
  }
  return jsonHandler(options, known, dialectId)
}

type Read = (
  rooms: FrontRooms,
  principal: KeyPrincipal,
  url: URL,
  headers: Headers,
  fields: Fields,
) => Told | Promise<Told>

const readOfMe: Read = async (rooms, principal, url) =>
  JSON.stringify(await readMe(rooms.me, principal, url))

/** Some of Google's clients put a model's name with a `/` in it where others say `models/`. */
function fallbackCall(
  options: ListenOptions,
  request: Request,
  server: Serving,
): Answered | Promise<Answered> {
  const isCall =
    request.method === 'POST' &&
    isGooglePath(pathOf(request.url)) &&
    googleCallOf(request.url) !== null
  return isCall ? googleHandler(options)(request, server) : fallback(options, request)
}
