// One request to a model, whatever the operation: admit, read, resolve, authorize, relay; the relay settles.

import type { Authorization, RequestOptions } from '../billing/authorization.ts'
import type { Opening } from '../billing/authorize.ts'
import { boundedBy } from '../billing/reply-bound.ts'
import { GatewayError } from '../errors.ts'
import { type Caller, newRequestId } from '../history/caller.ts'
import { authenticate } from '../identity/authenticate.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import type {
  AdmittedRequest,
  ClientRequest,
  Fields,
  Operation,
  Passage,
  Reply,
  Resolved,
  SocketLink,
  SocketReply,
  Work,
} from '../operations/operation.ts'
import { resolveModel, unknownModel } from '../operations/resolve.ts'
import type { Services } from '../operations/services.ts'
import { Call } from '../relay/call.ts'
import { refusalStatus } from '../relay/final-error.ts'
import type { ClientSlot, Ended, ResponseTransform } from '../relay/request.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import type { Reframe } from '../wire/reply.ts'
import type { Address, Peek } from '../wire/request.ts'
import { checkHeaderBytes, headersOf } from './body/head.ts'
import { type Content, Incoming } from './body/incoming.ts'
import { estimateReply } from './estimate.ts'
import type { Front } from './front.ts'
import type { HttpReply } from './reply.ts'
import { originOf } from './request.ts'
import { checkTag, type ReadOptions, readRequestOptions } from './request-options.ts'
import {
  addCaller,
  addCors,
  addRefusal,
  idleSeconds,
  plainReply,
  refusalOf,
  relayedReply,
} from './respond.ts'

/** Longest wait for the body of a refused request, from which only the record's model name is read. */
const namingMs = 500
/** The longest names in use are resource names of clouds, below 300. */
const maxModelCharacters = 512
const shownModelCharacters = 100
const none: readonly never[] = []
/** For requests whose path and query name neither a model nor anything else. */
const nowhere: Address = {}

/** The client's connection, as the listener or the runtime's server provides it. */
export interface ClientConnection {
  /** The client's address; null where the connection is closed already. */
  readonly address: string | null
  /** How long the connection may stay without any bytes moving; 0: for ever. */
  setIdleSeconds(seconds: number): void
  /** Makes the request a WebSocket; false where the client has left or this listener serves no WebSockets. */
  upgrade(link: SocketLink, fields: Readonly<Fields>): boolean
}

export class Admission implements ClientSlot {
  private readonly front: Front
  private readonly operation: Operation<Services>
  private readonly dialect: ClientDialect
  private readonly request: ClientRequest
  private readonly connection: ClientConnection
  private readonly startedMs = performance.now()
  private readonly at = Date.now()
  private readonly requestId: string
  private readonly caller: Caller
  private readonly fields: Fields
  private readonly incoming: Incoming
  private address: Address
  private principal: KeyPrincipal | null = null
  private peek: Peek | null = null
  /** The body, where no peek could be made of it. */
  private unread: Uint8Array | null = null
  private stage: 'arrived' | 'entered' | 'read' = 'arrived'
  /** What the hooks returned for this request; each is notified when the request ends. */
  private passages: readonly Passage[] = none
  private relay: Operation<Services>['relay']
  /** Once it exists, it settles the request, writes its record and gives the client slot back. */
  private work: Work | null = null

  /** `address`: what the request's path and query say, for formats that name the model there. */
  constructor(
    front: Front,
    operation: Operation<Services>,
    request: ClientRequest,
    connection: ClientConnection,
    address: Address = nowhere,
  ) {
    const dialect = front.services.relay.dialects[operation.dialect]
    this.front = front
    this.operation = operation
    this.relay = operation.relay
    this.dialect = dialect
    this.request = request
    this.connection = connection
    const said = headersOf(dialect, request.headers)
    const isPlain = said === null && operation.address === undefined
    this.address = isPlain ? address : { ...address, ...operation.address, ...said }
    this.requestId = newRequestId(this.at)
    this.caller = front.callers.of(request.headers, connection.address)
    this.fields = { 'x-request-id': this.requestId }
    const { replyHeaders } = dialect.client
    if (replyHeaders !== undefined) Object.assign(this.fields, replyHeaders(this.requestId))
    addCaller(this.fields, this.caller)
    addCors(this.fields, request.headers.get('origin'), front.server.corsOrigins)
    this.incoming = new Incoming(front.bodies, dialect, operation.files ?? null, request)
  }

  /** Always resolves with a reply, refusals included; undefined: the request became a WebSocket. */
  async run(): Promise<HttpReply | undefined> {
    const { front, operation, incoming } = this
    const { hooks, services, observer } = front
    try {
      const principal = this.enter()
      // A body of unstated length is read first: limits of tokens count its bytes.
      const early = incoming.isOfUnstatedLength ? await this.readContent() : null
      const bodyBytes = operation.answer === undefined ? incoming.heldBytes : 0
      const arrival = { requestId: this.requestId, principal, bodyBytes, fields: this.fields }
      for (const hook of hooks) {
        const passage = hook.admit?.(arrival) ?? null
        this.note(passage instanceof Promise ? await passage : passage)
      }
      const reading = early ?? this.readContent()
      const content = reading instanceof Promise ? await reading : reading
      const beganMs = performance.now()
      const found = this.read(content, principal)
      const { peek, options, isEstimate } = found instanceof Promise ? await found : found
      const resolved = this.resolve(peek, principal)
      observer.overhead.route.observe((performance.now() - beganMs) / 1000)
      let request = this.admitted(principal, resolved, options, content)
      if (operation.answer !== undefined) {
        const reply = await operation.answer(request, services)
        this.leave()
        return plainReply(reply, this.fields)
      }
      for (const hook of operation.hooks === undefined ? hooks : [...hooks, ...operation.hooks]) {
        const found = hook.before?.(request, services) ?? null
        const passage = found instanceof Promise ? await found : found
        if (passage?.reply !== undefined) return this.replayed(request, passage.reply)
        if (passage !== null) request = this.pass(passage, request)
      }
      if (isEstimate) {
        const estimate = front.authorizer.estimate(openingOf(request))
        this.leave()
        return plainReply(estimateReply(request.peek.model, estimate), this.fields)
      }
      const opened = front.authorizer.authorize(openingOf(request))
      const authorization = opened instanceof Promise ? await opened : opened
      const begun = this.begin(request, authorization)
      this.work = begun instanceof Promise ? await begun : begun
      return this.reply(await this.work.run(), authorization)
    } catch (error) {
      if (this.stage === 'entered') await this.nameModel()
      return this.refuse(error)
    }
  }

  /** Called once, when the request is over. `ended`: null where no vendor was asked. */
  giveBack(ended: Ended | null): void {
    if (this.incoming.leave()) this.front.observer.underWay(this.dialect, -1)
    for (const passage of this.passages) passage.after?.(ended)
    this.passages = none
  }

  watchClient(): void {
    const { work } = this
    const { signal } = this.request
    if (work === null) return
    if (signal.aborted) queueMicrotask(() => work.clientGone())
    else signal.onabort = () => work.clientGone()
  }

  cutOff(): void {
    this.connection.setIdleSeconds(1)
  }

  /** Makes every check that needs the request's head alone. */
  private enter(): KeyPrincipal {
    const { at, incoming, front, dialect } = this
    const { headers } = this.request
    checkHeaderBytes(headers, front.server.maxHeaderBytes)
    // Clients of formats that name the model in the address may show their key there too.
    const keyed = this.address.model === undefined ? null : this.request.url
    const principal = authenticate(headers, front.keyring, at, this.caller.address, keyed)
    this.principal = principal
    front.keyUses.note(principal.keyId, at, this.caller)
    incoming.enter()
    this.stage = 'entered'
    const { observer } = front
    observer.underWay(dialect, 1)
    observer.overhead.auth.observe((performance.now() - this.startedMs) / 1000)
    return principal
  }

  private note(passage: Passage | null): void {
    if (passage?.after !== undefined) this.passages = [...this.passages, passage]
  }

  /** Applies what a hook returned, and gives the request as later steps see it. */
  private pass(passage: Passage, request: AdmittedRequest): AdmittedRequest {
    this.note(passage)
    if (passage.relay !== undefined) this.relay = passage.relay
    const { request: changed = request, transform } = passage
    if (changed !== request) {
      this.peek = changed.peek
      this.incoming.grow(Math.max(0, changed.peek.body.length - request.peek.body.length))
    }
    if (transform === undefined) return changed
    return { ...changed, transform: inTurn(changed.transform, transform) }
  }

  private readContent(): Content | Promise<Content> {
    this.stage = 'read'
    const content = this.incoming.read(this.request.headers.has('idempotency-key'))
    if (!(content instanceof Promise)) return content
    return content.then((read) => {
      if (read.files !== null) this.address = { ...this.address, files: read.files }
      return read
    })
  }

  private read(content: Content, principal: KeyPrincipal): ReadOptions | Promise<ReadOptions> {
    try {
      const peek = this.peekOf(content.body, principal)
      if (peek instanceof Promise) return peek.then((found) => this.withOptions(found, principal))
      return this.withOptions(peek, principal)
    } catch (error) {
      this.unread = content.body
      throw error
    }
  }

  private peekOf(body: Uint8Array, principal: KeyPrincipal): Peek | Promise<Peek> {
    const { dialect, address, operation, request } = this
    if (operation.peek === undefined) return withShortName(dialect.client.peek(body, address))
    const unread = { dialect, principal, body, address, incoming: request }
    const peek = operation.peek(unread, this.front.services)
    return peek instanceof Promise ? peek.then(withShortName) : withShortName(peek)
  }

  private withOptions(peek: Peek, principal: KeyPrincipal): ReadOptions {
    this.peek = peek
    checkTag(this.caller)
    const again = (bytes: Uint8Array) => this.dialect.client.peek(bytes, this.address)
    const read = readRequestOptions(this.request.headers, again, peek, principal.showCost)
    this.peek = read.peek
    return read
  }

  private resolve(peek: Peek, principal: KeyPrincipal): Resolved {
    const { dialect, address, operation } = this
    const { services } = this.front
    const read = { dialect, principal, address, peek }
    const resolved = operation.resolve?.(read, services) ?? resolveModel(read, services)
    this.peek = resolved.peek
    return resolved
  }

  private admitted(
    principal: KeyPrincipal,
    { peek, model, candidates, usage }: Resolved,
    options: RequestOptions,
    { media, body, digests }: Content,
  ): AdmittedRequest {
    const { requestId, at, startedMs, dialect, address, caller, request } = this
    const admitted = {
      requestId,
      at,
      startedMs,
      dialect,
      principal,
      caller,
      peek,
      model,
      candidates,
      clientSlot: this,
      address,
      options,
      incoming: request,
      // An operation with its own `peek` changes the body on reading; the idempotency hash is made from what it read.
      body: this.operation.peek === undefined ? body : peek.body,
      digests,
    }
    if (usage === undefined && media === null) return admitted
    return {
      ...admitted,
      ...(usage !== undefined && { usage }),
      ...(media !== null && { media, origin: originOf(request, this.front.server) }),
    }
  }

  private begin(request: AdmittedRequest, authorization: Authorization): Work | Promise<Work> {
    const { relay, front } = this
    if (relay === undefined) {
      const asked = { ...request, authorization }
      return new Call(front.services.relay, asked, this.operation.upstream)
    }
    return released(authorization, () => relay(request, authorization, front.services))
  }

  private reply(result: WorkResult, authorization: Authorization): HttpReply | undefined {
    const { fields } = this
    if ('socket' in result) return upgraded(this.connection, result, fields)
    fields['x-tollgate-price-version'] = String(authorization.rate.version)
    if ('vendorMs' in result)
      return relayedReply(result, fields, this.reframe(result.stream), this.startedMs)
    // Once a stream has begun, only the runtime's idle timeout cuts off a client that stops reading.
    if (result.stream === true) this.connection.setIdleSeconds(idleSeconds)
    return plainReply(result, fields)
  }

  private reframe(stream: boolean): Reframe | null {
    return stream ? (this.dialect.client.reframe?.(this.address) ?? null) : null
  }

  /** The reply of a hook, such as an idempotent replay. */
  private replayed(request: AdmittedRequest, reply: Reply): HttpReply {
    const { requestId, at, principal, caller, dialect, peek } = request
    const { status = 200, stream = false } = reply
    const durationMs = performance.now() - this.startedMs
    this.leave()
    const asked = { requestId, at, principal, caller, dialect, peek }
    this.front.observer.replayed({ ...asked, status, durationMs })
    return plainReply(reply, this.fields, this.reframe(stream))
  }

  /** Gives back the slot and files of a request that never reached the relay. */
  private leave(): void {
    this.giveBack(null)
    this.incoming.closeSpool()
  }

  /** Reads which model a request asked for that is refused before its body was read: its record names the model. */
  private async nameModel(): Promise<void> {
    if (!this.incoming.isShort || this.principal === null) return
    const late = Promise.withResolvers<null>()
    const timer = setTimeout(() => late.resolve(null), namingMs)
    try {
      const content = await Promise.race([this.readContent(), late.promise])
      if (content !== null) this.peek = await this.peekOf(content.body, this.principal)
    } catch (error) {
      // Further faults of the body are ignored: they are not the reason of the refusal.
      if (!(error instanceof GatewayError)) this.front.observer.crashed(error)
    } finally {
      clearTimeout(timer)
    }
  }

  private refuse(thrown: unknown): HttpReply {
    const error = refusalOf(thrown)
    const status = refusalStatus(this.dialect, error)
    const durationMs = performance.now() - this.startedMs
    if (this.work === null) {
      this.leave()
      const { requestId, at, principal, caller, dialect, peek, request, unread: body } = this
      const { observer } = this.front
      const cause = thrown === error ? null : thrown
      const asked = { requestId, at, principal, caller, dialect, peek }
      const free = this.operation.answer !== undefined
      const isKeyed = request.headers.has('idempotency-key')
      observer.refused({ ...asked, status, error, cause, durationMs, free, isKeyed })
      observer.turnedAway({
        ...asked,
        request,
        status,
        error,
        body,
        format: this.operation.dialect,
      })
    }
    addRefusal(this.fields, error)
    this.fields['openai-processing-ms'] = String(Math.round(durationMs))
    const body = this.dialect.client.refuse(error, this.requestId)
    return { status, fields: this.fields, body }
  }
}

/** Throws GatewayError where the model's name is longer than any: what is kept by name is bounded by count alone. */
function withShortName(peek: Peek): Peek {
  const { model } = peek
  if (model.length <= maxModelCharacters) return peek
  throw unknownModel(`${model.slice(0, shownModelCharacters)}…`)
}

type WorkResult = Awaited<ReturnType<Work['run']>>

function inTurn(
  first: ResponseTransform | undefined,
  second: ResponseTransform,
): ResponseTransform {
  if (first === undefined) return second
  return (bytes, kind, origin) => second(first(bytes, kind, origin), kind, origin)
}

function openingOf(request: AdmittedRequest): Opening {
  const { principal, model, dialect, at, options, usage, candidates } = request
  const peek = boundedBy(candidates, request.peek, dialect)
  const opening = { principal, model, dialect, peek, at, options }
  if (usage !== undefined) return { ...opening, usage }
  if (peek.attachments === undefined) return opening
  return { ...opening, servedBy: candidates.map((each) => each.model) }
}

/** Releases the hold where the work cannot begin, so that the request costs nothing. */
async function released(
  authorization: Authorization,
  begin: () => Work | Promise<Work>,
): Promise<Work> {
  try {
    return await begin()
  } catch (error) {
    authorization.release()
    throw error
  }
}

function upgraded(
  connection: ClientConnection,
  { socket, headers }: SocketReply,
  fields: Fields,
): undefined {
  if (connection.upgrade(socket, { ...fields, ...headers })) return
  socket.abandoned()
  throw new GatewayError('invalid_request_error', 'The request is not a WebSocket handshake.')
}
