// One request to a model at the front door: who asks, whether they may, what they ask, and the reply.

import { Buffer } from 'node:buffer'
import type { Authorization, RequestOptions } from '../billing/authorization.ts'
import type { Model } from '../catalog/model.ts'
import { GatewayError, invalidRequest } from '../errors.ts'
import type { Caller } from '../history/caller.ts'
import { newRequestId } from '../history/request-id.ts'
import { authenticate } from '../identity/authenticate.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import { limitHeaders } from '../limits/headers.ts'
import type { Admitted, Refused } from '../limits/limiter.ts'
import { judgedImages } from '../operations/images/request.ts'
import type { ModelRoute } from '../operations/model-access.ts'
import { relayed } from '../operations/relayed.ts'
import { prepareCompaction } from '../operations/responses/compact.ts'
import { follow } from '../operations/responses/live.ts'
import { type Prepared, prepareResponse, type Queued } from '../operations/responses/request.ts'
import type { FlowStart, OperationFlow } from '../operations/videos/request.ts'
import { Call } from '../relay/call.ts'
import { refusalStatus } from '../relay/final-error.ts'
import type { Answer, ClientSlot } from '../relay/request.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import type { ClientDialectId } from '../wire/formats.ts'
import { join } from '../wire/json/splice.ts'
import type { Reframe } from '../wire/reply.ts'
import type { Address, Peek } from '../wire/request.ts'
import { checkHeaderBytes, headersOf } from './body/head.ts'
import { type Content, Incoming } from './body/incoming.ts'
import type { FrontRooms } from './front-rooms.ts'
import { hashOf, takeKey } from './idempotency.ts'
import { originOf } from './origin.ts'
import { type ReadOptions, readRequestOptions } from './request-options.ts'
import {
  addCaller,
  addCors,
  addRefusal,
  addStreamFields,
  type Fields,
  idleSeconds,
  jsonType,
  refusalOf,
  streamType,
} from './respond.ts'

/** About four bytes of English text make a token; corrected by what the vendor reports. */
const bytesPerToken = 4
const maxDroppedChars = 1_024
/** A body that is not there by then is not waited for to name a refused request's model. */
const namingMs = 500
/** What a format's requests need before they are asked, where responses are kept. */
const prepares: Partial<Record<ClientDialectId, typeof prepareResponse>> = {
  'openai-responses': prepareResponse,
  'openai-compaction': prepareCompaction,
}

/** The client's connection, as the runtime has it. */
export interface ClientConnection {
  /** Its other end; null where it is gone. */
  readonly address: string | null
  /** How long it may be without progress; 0: for ever. */
  setIdleSeconds(seconds: number): void
}

export class ModelRequest {
  private readonly rooms: FrontRooms
  private readonly dialect: ClientDialect
  private readonly request: Request
  private readonly startedMs = performance.now()
  private readonly at = Date.now()
  private readonly requestId: string
  private readonly fields: Fields
  private principal: KeyPrincipal | null = null
  private peek: Peek | null = null
  private admission: Admitted | null = null
  private call: Call | null = null
  /** Taken for this request, until the relay has it. */
  private idempotencyKey: string | null = null

  private readonly connection: ClientConnection
  private readonly caller: Caller
  private readonly incoming: Incoming
  private address: Address
  private readonly flow: OperationFlow | null

  /**
   * `address` is what the request's path says, for formats that keep the model there. `course`: what this one does otherwise than others.
   */
  constructor(
    rooms: FrontRooms,
    dialect: ClientDialect,
    request: Request,
    connection: ClientConnection,
    address: Address = {},
    flow: OperationFlow | null = null,
  ) {
    this.flow = flow
    this.rooms = rooms
    this.address = { ...address, ...headersOf(dialect, request.headers) }
    this.connection = connection
    this.caller = rooms.callers.of(request.headers, connection.address)
    this.dialect = dialect
    this.request = request
    this.incoming = new Incoming(rooms, dialect, request)
    this.requestId = newRequestId(this.at)
    this.fields = {
      'x-request-id': this.requestId,
      ...dialect.client.replyHeaders?.(this.requestId),
    }
    addCaller(this.fields, this.caller)
    addCors(this.fields, request.headers.get('origin'), rooms.server.corsOrigins)
  }

  async respond(): Promise<Response> {
    try {
      const principal = this.enter()
      const { overhead } = this.rooms
      overhead.auth.observe((performance.now() - this.startedMs) / 1000)
      const decision = this.rooms.limiter.admit(
        this.rooms.modelAccess.scopes(principal),
        Math.ceil(this.incoming.heldBytes / bytesPerToken),
        this.at,
      )
      const judged = decision instanceof Promise ? await decision : decision
      if (!judged.admitted) await this.readModel()
      const admission = this.admit(judged)
      const content = await this.readContent()
      const { body } = content
      const routedMs = performance.now()
      const { peek: asks, options } = this.read(body, principal)
      const resolved = this.resolve(principal, asks)
      const imaged = judgedImages(asks, this.dialect, content.files, resolved.candidates)
      const { peek, route } = this.planned(imaged, resolved)
      overhead.route.observe((performance.now() - routedMs) / 1000)
      const { idempotencyKey } = options
      if (idempotencyKey !== null) {
        const kept = await this.replayed(
          principal,
          peek,
          idempotencyKey,
          hashOf(this.dialect, this.address, body, content.digests),
        )
        if (kept !== null) return kept
      }
      const prepare = prepares[this.dialect.id]
      const prepared =
        prepare === undefined ? null : await this.prepare(prepare, principal, peek, route)
      const asked = prepared?.peek ?? peek
      const opened = this.open(principal, asked, route, options)
      const authorization = opened instanceof Promise ? await opened : opened
      const start = this.startOf(principal, asked)
      const call = this.callOf(
        principal,
        asked,
        route,
        admission,
        authorization,
        start ?? prepared,
        content,
      )
      if (prepared?.background)
        return await this.inBackground(prepared.background, call, authorization)
      this.call = call
      const answer = await (start === null ? call.run() : Promise.race([call.run(), start.lost]))
      this.showPrice(answer, authorization)
      return this.reply(answer)
    } catch (error) {
      return this.refuse(error)
    }
  }

  /** Gives back what the request held at the door; called once, when nothing more will come of it. */
  giveBack(): void {
    if (this.incoming.leave()) this.rooms.underWay(this.dialect, -1)
  }

  watchClient(): void {
    const { call } = this
    const { signal } = this.request
    if (call === null) return
    if (signal.aborted) queueMicrotask(() => call.clientGone())
    else signal.onabort = () => call.clientGone()
  }

  cutOff(): void {
    this.connection.setIdleSeconds(1)
  }

  /** All that is judged before the body is read. */
  private enter(): KeyPrincipal {
    const { headers } = this.request
    const { server } = this.rooms
    checkHeaderBytes(headers, server.maxHeaderBytes)
    // Clients of formats that name the model in the address may show their key there too.
    const url = this.address.model === undefined ? null : this.request.url
    const principal = authenticate(headers, this.rooms.keyring, this.at, url)
    this.principal = principal
    this.incoming.enter()
    this.rooms.underWay(this.dialect, 1)
    return principal
  }

  private admit(decision: Admitted | Refused): Admitted {
    for (const [name, value] of limitHeaders(decision.state)) this.fields[name] = value
    if (decision.admitted) {
      this.admission = decision
      return decision
    }
    this.rooms.limited(decision)
    throw new GatewayError(
      'rate_limit_exceeded',
      `Rate limit reached for ${decision.kind === 'concurrent' ? 'concurrent requests' : `${decision.kind} per minute`}; retry later.`,
      { retryAfterMs: decision.retryAfterMs },
    )
  }

  /** For the record of a request that is refused whatever its body says: which model it asked for. */
  private async readModel(): Promise<void> {
    if (!this.incoming.isShort) return
    const late = Promise.withResolvers<null>()
    const timer = setTimeout(() => late.resolve(null), namingMs)
    try {
      const content = await Promise.race([this.readContent(), late.promise])
      if (content !== null) this.peek = this.dialect.client.peek(content.body, this.address)
    } catch (error) {
      // What else is amiss with it is not what it is refused for.
      if (!(error instanceof GatewayError)) throw error
    } finally {
      clearTimeout(timer)
    }
  }

  private async readContent(): Promise<Content> {
    const content = await this.incoming.read(this.request.headers.has('idempotency-key'))
    const { files } = content
    if (files !== null) this.address = { ...this.address, files }
    return content
  }

  private read(body: Uint8Array, principal: KeyPrincipal): ReadOptions {
    const peek = this.dialect.client.peek(body, this.address)
    this.peek = peek
    const chosen = readRequestOptions(
      this.request.headers,
      (bytes) => this.dialect.client.peek(bytes, this.address),
      peek,
      principal.showCost,
    )
    this.peek = chosen.peek
    return chosen
  }

  /** The reply this key had before; null: it is this request's now. */
  private async replayed(
    principal: KeyPrincipal,
    peek: Peek,
    key: string,
    bodyHash: string,
  ): Promise<Response | null> {
    const { requestId, rooms, dialect, at, caller } = this
    const { account } = principal
    const kept = await takeKey(rooms.idempotency, { account, key, bodyHash, requestId })
    if (kept === null) {
      this.idempotencyKey = key
      return null
    }
    const { status, contentType, body } = kept.reply
    const durationMs = performance.now() - this.startedMs
    this.admission?.finish(0, at)
    this.giveBack()
    this.incoming.closeSpool()
    rooms.replayed({ requestId, at, principal, caller, dialect, peek, status, durationMs })
    this.fields['idempotent-replayed'] = 'true'
    this.fields['x-tollgate-original-request'] = kept.requestId
    if (peek.stream) addStreamFields(this.fields)
    const reframe = peek.stream ? (dialect.client.reframe?.(this.address) ?? null) : null
    this.fields['content-type'] = reframe?.contentType ?? contentType
    const shown =
      reframe === null ? body : join([reframe.push(Buffer.from(body, 'utf8')), reframe.end()])
    return new Response(shown as BodyInit, { status, headers: this.fields })
  }

  private open(
    principal: KeyPrincipal,
    peek: Peek,
    { model, candidates }: ModelRoute,
    options: RequestOptions,
  ): Authorization | Promise<Authorization> {
    const { dialect, at } = this
    const opening = { principal, model, dialect, peek, at, options }
    if (peek.attachments === undefined) return this.rooms.authorizer.open(opening)
    return this.rooms.authorizer.open({
      ...opening,
      servedBy: candidates.map((each) => each.model),
    })
  }

  private showPrice(answer: Answer, authorization: Authorization): void {
    this.fields['x-tollgate-price-version'] = String(authorization.rate.version)
    if (answer.cost !== null) this.fields['x-tollgate-cost'] = answer.cost
    if (answer.dropped.length > 0) this.fields['x-tollgate-dropped'] = namesOf(answer.dropped)
  }

  private resolve(principal: KeyPrincipal, peek: Peek): ModelRoute {
    const { model, candidates } = this.rooms.modelAccess.find(principal, peek.model, this.dialect)
    if (candidates.length === 0) {
      throw new GatewayError(
        'model_not_found',
        `The model '${peek.model}' does not exist or is not available to this key.`,
        { param: 'model' },
      )
    }
    checkVision(peek, model)
    return { model, candidates }
  }

  private planned(peek: Peek, route: ModelRoute) {
    const { flow } = this
    if (flow === null) return { peek, route }
    const planned = flow.plan(peek, route)
    this.peek = planned.peek
    return planned
  }

  private startOf(principal: KeyPrincipal, peek: Peek): FlowStart | null {
    const { requestId, at, flow } = this
    return flow?.start({ requestId, at, principal, peek }) ?? null
  }

  /** What was kept before it goes before its input, and its reply will be kept. */
  private async prepare(
    prepare: typeof prepareResponse,
    principal: KeyPrincipal,
    peek: Peek,
    route: ModelRoute,
  ): Promise<Prepared> {
    const { requestId, at, rooms, dialect } = this
    const { account } = principal
    const { candidates, model } = route
    const asking = { account, requestId, at, dialect, peek, candidates }
    const prepared = await prepare(rooms.responses, asking)
    if (!prepared.rebuilt) return prepared
    this.peek = prepared.peek
    checkVision(prepared.peek, model)
    this.incoming.grow(Math.max(0, prepared.peek.body.length - peek.body.length))
    return prepared
  }

  private callOf(
    principal: KeyPrincipal,
    peek: Peek,
    route: ModelRoute,
    admission: Admitted,
    authorization: Authorization,
    prepared: Prepared | FlowStart | null,
    { media }: Content,
  ): Call {
    const { requestId, at, startedMs, dialect, address, caller } = this
    const { model, candidates } = route
    const start = prepared !== null && 'settle' in prepared ? prepared : null
    const kept = prepared !== null && 'rebuilt' in prepared ? prepared : null
    // A job that was begun is its account's, also where the client has left meanwhile.
    const stays = start === null && !kept?.background
    const asked = {
      requestId,
      at,
      startedMs,
      dialect,
      principal,
      caller,
      peek,
      model,
      candidates,
      admission,
      clientSlot: stays ? this : slotWithoutClient(this),
      authorization,
      address,
      ...(kept !== null && { rebuilt: kept.rebuilt }),
      ...(start !== null && { settle: start.settle }),
      ...(prepared?.transform && { transform: prepared.transform }),
      ...(media !== null && { media, origin: originOf(this.request, this.rooms.server) }),
    }
    return new Call(this.rooms.relay, asked, relayed[dialect.operation])
  }

  /** The client has its answer before the work begins, and may leave. */
  private async inBackground(
    queued: Queued,
    call: Call,
    authorization: Authorization,
  ): Promise<Response> {
    const { keeper, background } = this.rooms.responses
    try {
      await keeper.change({ kind: 'keep', row: queued.row })
    } catch (error) {
      authorization.release()
      throw error
    }
    this.call = call
    const live = background.start(queued, call)
    this.fields['x-tollgate-price-version'] = String(authorization.rate.version)
    if (call.request.peek.stream) {
      // Nobody cuts off a client that takes nothing any more but the runtime.
      this.connection.setIdleSeconds(idleSeconds)
      this.fields['content-type'] = streamType
      addStreamFields(this.fields)
      const { heartbeat } = this.dialect.client
      const { heartbeatMs } = this.rooms.responses
      const events = follow(live, { after: -1, heartbeat, heartbeatMs })
      return new Response(events as unknown as BodyInit, { headers: this.fields })
    }
    this.fields['content-type'] = jsonType
    const response = { ...queued.response, status: 'queued' }
    return new Response(JSON.stringify(response), { headers: this.fields })
  }

  private reply(answer: Answer): Response {
    const { fields } = this
    const elapsedMs = performance.now() - this.startedMs
    fields['openai-processing-ms'] = String(Math.round(elapsedMs))
    const gatewayMs = Math.max(0, elapsedMs - answer.vendorMs)
    fields['server-timing'] =
      `gateway;dur=${hundredths(gatewayMs)}, vendor;dur=${hundredths(answer.vendorMs)}`
    const reframe = answer.stream ? (this.dialect.client.reframe?.(this.address) ?? null) : null
    const plain = answer.stream ? streamType : (answer.type ?? jsonType)
    fields['content-type'] = reframe?.contentType ?? plain
    if (answer.stream) addStreamFields(fields)
    Object.assign(fields, answer.headers)
    const { body } = answer
    const shown = reframe === null || body instanceof Uint8Array ? body : reframed(body, reframe)
    // The runtime takes an async generator as a body; the DOM's types do not know of it.
    return new Response(shown as BodyInit, { headers: fields })
  }

  private refuse(thrown: unknown): Response {
    const error = refusalOf(thrown)
    const status = refusalStatus(this.dialect, error)
    const durationMs = performance.now() - this.startedMs
    // Once the relay had the request, it settled it and gave back what was held.
    if (this.call === null) {
      this.admission?.finish(0, this.at)
      this.giveBack()
      this.incoming.closeSpool()
      const { requestId, at, principal, caller, dialect, peek, idempotencyKey } = this
      if (idempotencyKey !== null && principal !== null)
        this.rooms.idempotency.forget(principal.account, idempotencyKey, requestId)
      const cause = thrown === error ? null : thrown
      this.rooms.refused({
        requestId,
        at,
        principal,
        caller,
        dialect,
        peek,
        status,
        error,
        cause,
        durationMs,
      })
    }
    addRefusal(this.fields, error)
    this.fields['openai-processing-ms'] = String(Math.round(durationMs))
    const body = this.dialect.client.refuse(error, this.requestId)
    return new Response(body, { status, headers: this.fields })
  }
}

function checkVision(peek: Peek, model: Model): void {
  if (peek.imageParam === null || model.vision) return
  throw invalidRequest(`The model '${peek.model}' does not accept images.`, peek.imageParam)
}

/** For work whose client need not stay. */
function slotWithoutClient(clientSlot: ClientSlot): ClientSlot {
  const nothing = (): void => undefined
  return { giveBack: () => clientSlot.giveBack(), watchClient: nothing, cutOff: nothing }
}

/** A reply that breaks off in error stays without its end. */
async function* reframed(
  body: AsyncGenerator<Uint8Array, void, void>,
  reframe: Reframe,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of body) {
    const shown = reframe.push(chunk)
    if (shown.length > 0) yield shown
  }
  yield reframe.end()
}

/** What a header may hold of them: a client's own names may be anything. */
function namesOf(dropped: readonly string[]): string {
  const names = [...new Set(dropped)].map((name) => name.replace(/[^\x21-\x7e]/g, '?'))
  return names.join(', ').slice(0, maxDroppedChars)
}

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100
}
