// Opens a realtime session: finds the model its URL names, connects to a vendor, and only then to the client.

import { Buffer } from 'node:buffer'
import type { Authorization } from '../../billing/authorization.ts'
import type { Authorizer } from '../../billing/authorize.ts'
import type { RealtimeSettings } from '../../config/types.ts'
import {
  type ErrorCode,
  errorTable,
  type Fault,
  GatewayError,
  invalidRequest,
} from '../../errors.ts'
import { newRequestId } from '../../history/caller.ts'
import { presentedSecret } from '../../identity/authenticate.ts'
import type { Keyring } from '../../identity/principal.ts'
import type { Limiter, LimitScope } from '../../limits/limiter.ts'
import { audioDialects } from '../../wire/openai-audio/dialects.ts'
import { realtime as dialect, peekRealtime } from '../../wire/openai-realtime/dialect.ts'
import { addDialects } from '../../wire/registry.ts'
import type { Address } from '../../wire/request.ts'
import type {
  AdmittedRequest,
  CoreServices,
  Fields,
  Operation,
  ServerSocket,
  SocketLink,
  SocketReply,
} from '../operation.ts'
import { pathUrlOf } from '../path.ts'
import { resolveModel, unknownModel } from '../resolve.ts'
import { type Connected, connectVendor } from './connect.ts'
import { Expectation } from './expected.ts'
import { InputAudio } from './input-audio.ts'
import { RealtimeSession } from './session.ts'
import { SessionBilling } from './session-billing.ts'
import type { ClientSocket } from './session-owner.ts'
import { Transcribers } from './transcribers.ts'

/** Connects a client's socket to its session: passes the runtime's events on. */
class ClientLink implements ClientSocket, SocketLink {
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

  abandoned(): void {
    this.session.abandon()
  }

  send(message: string | Uint8Array): 'taken' | 'waiting' | 'lost' {
    const sent = this.socket?.send(message) ?? 0
    // The number of bytes, which is 0 for an empty message too.
    return sent > 0 || message.length === 0 ? 'taken' : sent === -1 ? 'waiting' : 'lost'
  }

  close(code: number, reason: string): void {
    this.socket?.close(code, reason)
  }

  terminate(): void {
    this.socket?.terminate()
  }
}

// The transcription of input audio is recorded as a transcription.
addDialects({ 'openai-realtime': dialect, ...audioDialects })

const betaProtocol = 'openai-beta.realtime-v1'
const ownProtocol = 'realtime'

export interface RealtimeServices {
  readonly settings: RealtimeSettings
  readonly authorizer: Authorizer
  readonly limiter: Limiter
  readonly keyring: Keyring
  /** Whether the process is about to stop. */
  draining(): boolean
}

interface WithRealtime {
  readonly realtime: RealtimeServices
}

export const realtime: Operation<WithRealtime> = {
  dialect: 'openai-realtime',
  peek({ incoming }) {
    const model = modelIn(pathUrlOf(incoming.url))
    for (const name of ['x-tollgate-max-cost', 'Idempotency-Key']) {
      if (incoming.headers.has(name))
        throw invalidRequest(`${name} is not offered for realtime sessions`, name)
    }
    if (incoming.headers.get('x-tollgate-cost') === 'estimate')
      throw invalidRequest('No estimate is offered for realtime sessions', 'x-tollgate-cost')
    return peekRealtime(model)
  },
  resolve(peeked, services) {
    const resolved = resolveModel(peeked, services)
    if (!resolved.candidates.some(({ identity }) => identity)) throw unknownModel(peeked.peek.model)
    const expected = new Expectation(resolved.model.maxOutput)
    return { ...resolved, usage: expected.with(expected.prompt, expected.replyTokens) }
  },
  relay: (request, authorization, services) => {
    const handshake = new Handshake(request, authorization, services)
    return { run: () => handshake.run(), clientGone: nothing }
  },
}

function modelIn({ searchParams }: URL): string {
  for (const name of ['call_id', 'intent']) {
    if (searchParams.has(name))
      throw invalidRequest(`${name} is not offered by this gateway: name a model`, name)
  }
  if (searchParams.getAll('model').length > 1)
    throw invalidRequest('model may be given only once', 'model')
  const model = searchParams.get('model') ?? ''
  if (model === '') throw invalidRequest('model is required: /v1/realtime?model=NAME', 'model')
  return model
}

/** Opens the vendor's socket first, then the client's. */
class Handshake {
  private readonly request: AdmittedRequest
  private readonly services: WithRealtime & CoreServices
  private readonly billing: SessionBilling
  private readonly protocols: readonly string[]
  private readonly keyHolds: () => boolean
  private ended = false

  constructor(
    request: AdmittedRequest,
    authorization: Authorization,
    services: WithRealtime & CoreServices,
  ) {
    const { principal, model, dialect, peek, options, usage } = request
    const { authorizer, limiter, keyring } = services.realtime
    const { headers } = request.incoming
    const offered = headers.get('sec-websocket-protocol') ?? ''
    this.protocols = offered.split(',').map((name) => name.trim())
    this.request = request
    this.services = services
    const secret = presentedSecret(headers) ?? ''
    this.keyHolds = () => keyring.find(secret, Date.now()) !== null
    this.billing = new SessionBilling(
      {
        relay: services.relay,
        authorizer,
        limiter,
        tokenScopes: tokenScopes(services.modelAccess.scopes(principal)),
        keyHolds: this.keyHolds,
      },
      { ...request, address: this.passed() },
      { principal, model, dialect, peek, options, ...(usage !== undefined && { usage }) },
      authorization,
      new Expectation(model.maxOutput),
    )
  }

  async run(): Promise<SocketReply> {
    try {
      const session = this.session(await this.connect())
      const headers: Fields = {}
      if (this.protocols.includes(ownProtocol)) headers['sec-websocket-protocol'] = ownProtocol
      return { socket: new ClientLink(session), headers }
    } catch (error) {
      const code = error instanceof GatewayError ? error.code : 'server_error'
      this.fail(errorTable[code].status, code, null)
      throw error
    }
  }

  private passed(): Address {
    const { headers = {} } = this.request.address
    const isBeta = this.protocols.includes(betaProtocol) && headers['openai-beta'] === undefined
    return { headers: { ...headers, ...(isBeta && { 'openai-beta': 'realtime=v1' }) } }
  }

  private async connect(): Promise<Connected> {
    const { billing, services } = this
    const { signal } = this.request.incoming
    const { maxMessageBytes } = services.realtime.settings
    const made = await connectVendor(services.relay, billing.request, signal, maxMessageBytes)
    const { attempts, failedAttempts, candidate, connected, fault } = made
    billing.reach({ attempts, failedAttempts, candidate })
    if (connected !== null) return connected
    const error = made.error ?? new GatewayError('service_unavailable', 'No channel answered.')
    this.fail(errorTable[error.code].status, error.code, fault)
    throw error
  }

  /** Ends a session that never began; does nothing more where it has ended already. */
  private fail(status: number, errorCode: ErrorCode, fault: Fault | null): void {
    if (this.ended) return
    const { billing, request } = this
    billing.close(
      request.incoming.signal.aborted
        ? { ...clientGone, fault: null }
        : { status, errorCode, fault, drained: false },
    )
    this.over(status)
  }

  private session(connected: Connected): RealtimeSession {
    const { request, services, billing } = this
    const { relay, modelAccess } = services
    const { principal, requestId, peek, options } = request
    const { channelId } = connected.candidate
    const transcriptions = relay.dialects['openai-transcriptions']
    const transcribers = new Transcribers((name) => {
      const { model, candidates } = modelAccess.find(principal, name, transcriptions)
      const own = candidates.find((candidate) => candidate.channelId === channelId)
      return own === undefined ? null : { model, candidate: own, dialect: transcriptions }
    })
    return new RealtimeSession(
      {
        relay,
        settings: services.realtime.settings,
        sessionBilling: billing,
        transcribers,
        inputAudio: new InputAudio(),
        keyHolds: this.keyHolds,
        draining: () => services.realtime.draining(),
        newEventId: () => newRequestId(Date.now()).replace('req_', 'event_'),
        over: () => this.over(200),
      },
      { requestId, model: peek.model, showCost: options.showCost },
      connected,
    )
  }

  /** Frees the session's slot of admission; its responses have counted their own tokens. */
  private over(status: number): void {
    this.ended = true
    this.request.clientSlot.giveBack({ tokens: 0, status })
  }
}

function tokenScopes(scopes: readonly LimitScope[]): readonly LimitScope[] {
  return scopes.flatMap(({ id, limits: { tokensPerMinute } }) =>
    tokensPerMinute === undefined ? [] : [{ id, limits: { tokensPerMinute } }],
  )
}

const nothing = (): void => undefined
const clientGone = { status: 499, errorCode: 'client_closed_request', drained: false } as const
