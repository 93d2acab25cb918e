// A realtime session at the front door: who asks, for which model, a vendor that takes it; only then the client's socket.

import { Buffer } from 'node:buffer'
import type { RequestOptions } from '../../billing/authorization.ts'
import { errorTable, GatewayError, invalidRequest } from '../../errors.ts'
import type { Caller } from '../../history/caller.ts'
import { newRequestId } from '../../history/request-id.ts'
import { checkHeaderBytes, headersOf } from '../../http/body/head.ts'
import type { FrontRooms } from '../../http/front-rooms.ts'
import { readRequestOptions } from '../../http/request-options.ts'
import {
  addCaller,
  addCors,
  addRefusal,
  type Fields,
  idleSeconds,
  refusalOf,
} from '../../http/respond.ts'
import { authenticate, presentedSecret } from '../../identity/authenticate.ts'
import type { KeyPrincipal } from '../../identity/principal.ts'
import { limitHeaders } from '../../limits/headers.ts'
import type { Admitted, LimitScope } from '../../limits/limiter.ts'
import type { RelayRequest } from '../../relay/request.ts'
import type { ClientDialect } from '../../wire/dialect.ts'
import { peekRealtime } from '../../wire/openai-realtime/dialect.ts'
import type { Peek } from '../../wire/request.ts'
import type { ModelRoute } from '../model-access.ts'
import { type Connected, connectVendor } from './connect.ts'
import { Expectation } from './expected.ts'
import { type ClientSocket, RealtimeSession } from './session.ts'
import { SessionBilling } from './session-billing.ts'
import { Transcribers } from './transcribers.ts'

/** The runtime's side of a client's socket. */
export interface ServerSocket {
  /** Bytes sent; -1: taken, and waits; 0: not taken. */
  send(message: string | Uint8Array): number
  close(code?: number, reason?: string): void
  terminate(): void
}

/** A client's socket: what the runtime tells of it goes to its session. */
export class ClientLink implements ClientSocket {
  private readonly session: RealtimeSession
  private socket: ServerSocket | null = null

  constructor(session: RealtimeSession) {
    this.session = session
  }

  opened(socket: ServerSocket): void {
    this.socket = socket
    this.session.start(this)
  }

  received(message: string | Buffer): void {
    const isText = typeof message === 'string'
    this.session.fromClient(isText ? Buffer.from(message, 'utf8') : message, isText)
  }

  drained(): void {
    this.session.clientDrained()
  }

  closed(code: number, reason: string): void {
    this.socket = null
    this.session.clientClosed(code, reason)
  }

  send(message: string | Uint8Array): 'taken' | 'waiting' | 'lost' {
    const sent = this.socket?.send(message) ?? 0
    return sent > 0 ? 'taken' : sent === -1 ? 'waiting' : 'lost'
  }

  close(code: number, reason: string): void {
    this.socket?.close(code, reason)
  }

  terminate(): void {
    this.socket?.terminate()
  }
}

type Linked = ServerSocket & { readonly data: ClientLink }

/** What a session's client has not taken is bounded: past that the session is closed. */
export function socketHandlers(maxMessageBytes: number) {
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

/** Turns the request into a socket; false where its client is gone. */
export type Upgrade = (link: ClientLink, fields: Fields) => boolean

/** Browsers can send no header with a socket: OpenAI's clients put into its protocols what would stand there. */
const keyProtocol = 'openai-insecure-api-key.'
const betaProtocol = 'openai-beta.realtime-v1'
const ownProtocol = 'realtime'

export class RealtimeRequest {
  private readonly rooms: FrontRooms
  private readonly dialect: ClientDialect
  private readonly request: Request
  private readonly upgrade: Upgrade
  private readonly startedMs = performance.now()
  private readonly at = Date.now()
  private readonly requestId: string
  private readonly fields: Fields
  private readonly caller: Caller
  private readonly protocols: readonly string[]
  private principal: KeyPrincipal | null = null
  private secret = ''
  private peek: Peek | null = null
  private admission: Admitted | null = null
  private entered = false
  private settled = false

  /** `peer`: the other end of the client's connection. */
  constructor(
    rooms: FrontRooms,
    dialect: ClientDialect,
    request: Request,
    upgrade: Upgrade,
    peer: string | null,
  ) {
    this.rooms = rooms
    this.dialect = dialect
    this.request = request
    this.upgrade = upgrade
    this.requestId = newRequestId(this.at)
    this.fields = { 'x-request-id': this.requestId }
    this.caller = rooms.callers.of(request.headers, peer)
    addCaller(this.fields, this.caller)
    addCors(this.fields, request.headers.get('origin'), rooms.server.corsOrigins)
    const offered = request.headers.get('sec-websocket-protocol') ?? ''
    this.protocols = offered.split(',').map((name) => name.trim())
  }

  /** `undefined`: the client has its socket. */
  async respond(): Promise<Response | undefined> {
    try {
      const principal = this.enter()
      const scopes = this.rooms.modelAccess.scopes(principal)
      await this.admit(scopes)
      const { peek, options } = this.read(principal)
      const offered = this.rooms.modelAccess.find(principal, peek.model, this.dialect)
      if (!offered.candidates.some(({ identity }) => identity)) throw unknown(peek.model)
      const sessionBilling = await this.open(principal, peek, offered, options, scopes)
      const connected = await this.connect(sessionBilling)
      return this.begin(sessionBilling, connected, principal, options)
    } catch (error) {
      return this.refuse(error)
    }
  }

  private enter(): KeyPrincipal {
    const { headers } = this.request
    const { server, load } = this.rooms
    checkHeaderBytes(headers, server.maxHeaderBytes)
    const credentials = this.credentials(headers)
    const principal = authenticate(credentials, this.rooms.keyring, this.at)
    this.principal = principal
    this.secret = presentedSecret(credentials) ?? ''
    load.enter(0, server)
    this.entered = true
    this.rooms.underWay(this.dialect, 1)
    return principal
  }

  private credentials(headers: Headers): Headers {
    const offered = this.protocols.find((name) => name.startsWith(keyProtocol))
    if (offered === undefined || presentedSecret(headers) !== null) return headers
    return new Headers({ authorization: `Bearer ${offered.slice(keyProtocol.length)}` })
  }

  private async admit(scopes: readonly LimitScope[]): Promise<void> {
    const decision = await this.rooms.limiter.admit(scopes, 0, this.at)
    Object.assign(this.fields, limitHeaders(decision.state))
    if (decision.admitted) {
      this.admission = decision
      return
    }
    this.peek = peekRealtime(new URL(this.request.url).searchParams.get('model') ?? '')
    this.rooms.limited(decision)
    const what =
      decision.kind === 'concurrent' ? 'concurrent requests' : `${decision.kind} per minute`
    throw new GatewayError('rate_limit_exceeded', `Rate limit reached for ${what}; retry later.`, {
      retryAfterMs: decision.retryAfterMs,
    })
  }

  private read(principal: KeyPrincipal): { readonly peek: Peek; readonly options: RequestOptions } {
    const { searchParams } = new URL(this.request.url)
    for (const name of ['call_id', 'intent']) {
      if (searchParams.has(name))
        throw invalidRequest(`${name} is not offered by this gateway: name a model`, name)
    }
    if (searchParams.getAll('model').length > 1)
      throw invalidRequest('model may be given only once', 'model')
    const model = searchParams.get('model') ?? ''
    if (model === '') throw invalidRequest('model is required: /v1/realtime?model=NAME', 'model')
    const peek = peekRealtime(model)
    this.peek = peek
    const { options } = readRequestOptions(
      this.request.headers,
      () => peek,
      peek,
      principal.showCost,
    )
    if (options.capNano !== null) throw notForSessions('x-tollgate-max-cost')
    if (options.idempotencyKey !== null) throw notForSessions('Idempotency-Key')
    return { peek, options }
  }

  private async open(
    principal: KeyPrincipal,
    peek: Peek,
    { model, candidates }: ModelRoute,
    options: RequestOptions,
    scopes: readonly LimitScope[],
  ): Promise<SessionBilling> {
    const { requestId, at, startedMs, dialect, rooms, admission, caller } = this
    const { relay, authorizer, limiter } = rooms
    const expected = new Expectation(model.maxOutput)
    const usage = expected.with(expected.prompt, expected.replyTokens)
    const opening = { principal, model, dialect, peek, options, usage }
    const authorization = await authorizer.open({ ...opening, at })
    if (admission === null) throw new Error('a session without admission')
    const first: Omit<RelayRequest, 'authorization'> = {
      requestId,
      at,
      startedMs,
      dialect,
      peek,
      principal,
      caller,
      model,
      candidates,
      admission,
      clientSlot: { giveBack: nothing, watchClient: nothing, cutOff: nothing },
      address: this.passed(),
    }
    const tokenScopes = scopes.flatMap(({ id, limits: { tokensPerMinute } }) =>
      tokensPerMinute === undefined ? [] : [{ id, limits: { tokensPerMinute } }],
    )
    const keyHolds = () => rooms.keyring.find(this.secret, Date.now()) !== null
    const sessionBillingOptions = { relay, authorizer, limiter, tokenScopes, keyHolds }
    return new SessionBilling(sessionBillingOptions, first, opening, authorization, expected)
  }

  private passed(): NonNullable<RelayRequest['address']> {
    const { headers = {} } = headersOf(this.dialect, this.request.headers)
    const isBeta = this.protocols.includes(betaProtocol) && headers['openai-beta'] === undefined
    return { headers: { ...headers, ...(isBeta && { 'openai-beta': 'realtime=v1' }) } }
  }

  private async connect(sessionBilling: SessionBilling): Promise<Connected> {
    const { relay, realtime } = this.rooms
    const { signal } = this.request
    const made = await connectVendor(
      relay,
      sessionBilling.request,
      signal,
      realtime.maxMessageBytes,
    )
    const { attempts, failedAttempts, candidate, connected, fault } = made
    sessionBilling.reach({ attempts, failedAttempts, candidate })
    if (connected !== null) return connected
    const error = made.error ?? new GatewayError('service_unavailable', 'No channel answered.')
    const gone = signal.aborted
    const { status } = errorTable[error.code]
    sessionBilling.close(
      gone
        ? { ...clientGone, fault: null }
        : { status, errorCode: error.code, fault, drained: false },
    )
    this.settled = true
    throw error
  }

  private begin(
    sessionBilling: SessionBilling,
    connected: Connected,
    principal: KeyPrincipal,
    { showCost }: RequestOptions,
  ): Response | undefined {
    const { rooms, requestId, fields, peek } = this
    const { relay, load, modelAccess } = rooms
    const { channelId } = connected.candidate
    const transcriptions = relay.dialects['openai-transcriptions']
    const transcribers = new Transcribers((name) => {
      const { model, candidates } = modelAccess.find(principal, name, transcriptions)
      const own = candidates.find((candidate) => candidate.channelId === channelId)
      return own === undefined ? null : { model, vendorModel: own.model, dialect: transcriptions }
    })
    const session = new RealtimeSession(
      {
        relay,
        settings: rooms.realtime,
        sessionBilling,
        transcribers,
        draining: () => load.draining,
        newEventId: () => newRequestId(Date.now()).replace('req_', 'event_'),
        over: () => this.giveBack(),
      },
      { requestId, model: peek?.model ?? '', showCost },
      connected,
    )
    if (this.protocols.includes(ownProtocol)) fields['sec-websocket-protocol'] = ownProtocol
    this.settled = true
    if (this.upgrade(new ClientLink(session), fields)) return undefined
    session.abandon()
    throw new GatewayError('invalid_request_error', 'The request is no WebSocket handshake.')
  }

  /** What the session held at the door; once. */
  private giveBack(): void {
    this.admission?.finish(0, Date.now())
    if (!this.entered) return
    this.entered = false
    this.rooms.load.leave(0)
    this.rooms.underWay(this.dialect, -1)
  }

  private refuse(thrown: unknown): Response {
    const error = refusalOf(thrown)
    const { status } = errorTable[error.code]
    this.giveBack()
    if (!this.settled) {
      const { requestId, at, principal, caller, dialect, peek } = this
      const durationMs = performance.now() - this.startedMs
      const cause = thrown === error ? null : thrown
      const asked = { requestId, at, principal, caller, dialect, peek }
      this.rooms.refused({ ...asked, status, error, cause, durationMs })
    }
    addRefusal(this.fields, error)
    delete this.fields['sec-websocket-protocol']
    const body = this.dialect.client.refuse(error, this.requestId)
    return new Response(body, { status, headers: this.fields })
  }
}

const nothing = (): void => undefined
const clientGone = { status: 499, errorCode: 'client_closed_request', drained: false } as const

function unknown(model: string): GatewayError {
  const message = `The model '${model}' does not exist or is not available to this key.`
  return new GatewayError('model_not_found', message, { param: 'model' })
}

function notForSessions(name: string): GatewayError {
  return invalidRequest(`${name} is not offered for realtime sessions`, name)
}
