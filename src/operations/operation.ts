// The interfaces between admission and the operations: plain data, independent of the server.

import type { Authorization, RequestOptions } from '../billing/authorization.ts'
import type { KeyPrincipal, Principal } from '../identity/principal.ts'
import type { RequestHeaders } from '../identity/request-headers.ts'
import type { RelayOperation } from '../relay/operation.ts'
import type {
  Answer,
  ClientSlot,
  Ended,
  RelayRequest,
  RelayRooms,
  ResponseTransform,
} from '../relay/request.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import type { ClientDialectId } from '../wire/formats.ts'
import type { Usage } from '../wire/ir.ts'
import type { Address, Peek } from '../wire/request.ts'
import type { ModelAccess, ModelRoute } from './model-access.ts'

/** Header fields of one reply; a plain object, so that the runtime takes them all at once. */
export type Fields = Record<string, string>

/** A request as its listener provides it; the runtime's own `Request` is one. */
export interface ClientRequest
  extends Pick<Request, 'method' | 'url' | 'signal' | 'body' | 'bytes'> {
  readonly headers: RequestHeaders
  /** The whole body, where it has already arrived. */
  readonly arrived?: Uint8Array | null
}

/** A request with a known caller, a read body and a served model; only its money is not held yet. */
export interface AdmittedRequest extends Omit<RelayRequest, 'authorization'> {
  readonly principal: KeyPrincipal
  readonly options: RequestOptions
  readonly address: Address
  /** The listener's request, for its headers, its URL and its signal that the client left. Its body is read. */
  readonly incoming: ClientRequest
  /** The body as it arrived, and SHA-256 of its files, which are not in it: both together identify the request. */
  readonly body: Uint8Array
  readonly digests: readonly string[]
  /** The usage to hold money for, where that is not derived from the request itself. */
  readonly usage?: Usage
}

/** A request whose body is not parsed yet. */
interface Unread {
  readonly dialect: ClientDialect
  readonly principal: KeyPrincipal
  readonly body: Uint8Array
  readonly address: Address
  readonly incoming: ClientRequest
}

/** A request whose body is parsed, and whose model is not looked up yet. */
export interface Peeked {
  readonly dialect: ClientDialect
  readonly principal: KeyPrincipal
  readonly address: Address
  readonly peek: Peek
}

/** The channels to ask, and the request as it is sent to them. */
export interface Resolved extends ModelRoute {
  readonly peek: Peek
  readonly usage?: Usage
}

/** A request for data that the gateway itself has. */
export interface Reading<P extends Principal = Principal> {
  readonly principal: P
  readonly url: URL
  readonly headers: RequestHeaders
  readonly method: string
  /** Counts the request as under way, and lets its connection idle, until the result is called. Throws GatewayError. */
  hold(): () => void
}

/** The answer of an operation, a hook or a read. */
export interface Reply {
  readonly body: string | Uint8Array | AsyncGenerator<Uint8Array> | ReadableStream | Blob | null
  /** The body is a stream of events. */
  readonly stream?: boolean
  readonly status?: number
  /** Includes `content-type` where the body is neither JSON nor a stream of events. */
  readonly headers?: Readonly<Fields>
}

/** The handler of a client's WebSocket, called by the server. */
export interface SocketLink {
  opened(socket: ServerSocket): void
  received(message: string | Buffer): void
  drained(): void
  closed(code: number, reason: string): void
  /** The client left before its socket was open. */
  abandoned(): void
}

/** A client's WebSocket, as the server provides it. */
export interface ServerSocket {
  /** The bytes sent; -1: queued; 0: dropped. */
  send(message: string | Uint8Array): number
  close(code?: number, reason?: string): void
  terminate(): void
}

/** The reply that upgrades the request to a WebSocket. */
export interface SocketReply {
  readonly socket: SocketLink
  readonly headers: Readonly<Fields>
}

/** Paid work: it settles the authorization, writes the record and frees the client's slot, however it ends. */
export interface Work {
  run(): Promise<Answer | Reply | SocketReply>
  /** Called after `ClientSlot.watchClient`, when the client leaves. */
  clientGone(): void
}

/**
 * How one kind of request differs from a plain chat, which has only a dialect. `S`: the services it works with,
 * replaced when the configuration changes.
 */
export interface Operation<in S = unknown> {
  readonly dialect: ClientDialectId
  /** Parameters that its path implies. */
  readonly address?: Address
  /** The request or the reply may contain files; the kind says which files a form may have. */
  readonly files?: FilesTaken
  /** Parses the request in place of its dialect. Throws GatewayError that names the field. */
  peek?(unread: Unread, services: S & CoreServices): Peek | Promise<Peek>
  /** Finds the channels, and fills in what depends on the model; `resolveModel` by default. Throws GatewayError. */
  resolve?(peeked: Peeked, services: S & CoreServices): Resolved
  /** How its requests are sent to vendors, where that differs from text. */
  readonly upstream?: RelayOperation
  /** Run after the hooks that every operation has. */
  readonly hooks?: readonly Hook<S>[]
  /** Makes the call; a plain one by default. Before it returns nothing has begun: if it throws, nothing is charged. */
  relay?(
    request: AdmittedRequest,
    authorization: Authorization,
    services: S & CoreServices,
  ): Work | Promise<Work>
  /** Answers for free and without a record, in place of all later steps: hooks' `before`, authorization and relay. */
  answer?(request: AdmittedRequest, services: S & CoreServices): Promise<Reply>
}

/** The kind of files that a form may have. */
export type FilesTaken = 'pictures' | 'sounds'

/** Services that every operation may use. */
export interface CoreServices {
  readonly modelAccess: ModelAccess
  readonly relay: RelayRooms
}

/** What is known of a request before its body is parsed; a body of stated length is not even read. */
export interface Arrival {
  readonly requestId: string
  readonly principal: KeyPrincipal
  /** The length of a body of JSON; 0: it is a form, or no model is asked. */
  readonly bodyBytes: number
  /** Headers of the reply, also of an error: hooks may add some. */
  readonly fields: Fields
}

/**
 * A step that every request passes, or every request of an operation. Each method returns what it does with this
 * request, or null for nothing.
 * A guardrail decodes the request in `before` (`dialect.client.hub`) and refuses by throwing, or returns another
 * request; it checks replies by a `transform`. A cache collects replies by a `transform` and stores them in `after`. It
 * answers free of charge by a `reply`, whole or as a stream of events; where its answer has a price, by a `relay`, for
 * which the request is authorized, and which settles it by the usage it reports: as cached input, for instance.
 */
export interface Hook<in S = unknown> {
  /** The caller is known, and the body is not read yet. Throws GatewayError to refuse. */
  admit?(arrival: Arrival): Passage | null | Promise<Passage | null>
  /** The request is known in full, and no money is held for it yet. Throws GatewayError to refuse. */
  before?(
    request: AdmittedRequest,
    services: S & CoreServices,
  ): Passage | null | Promise<Passage | null>
}

/** What a hook does with one request. */
export interface Passage {
  /** Sent to the client in place of the relay's answer: nothing is authorized. */
  readonly reply?: Reply
  /** The request that replaces this one. */
  readonly request?: AdmittedRequest
  /** Applied to what goes to the client, after the transforms of earlier hooks. */
  readonly transform?: ResponseTransform | undefined
  /** Makes the call in place of the operation's `relay`. */
  relay?(request: AdmittedRequest, authorization: Authorization): Work | Promise<Work>
  /** Called once with how the request ended; null: no vendor was asked. */
  after?(ended: Ended | null): void
}

/** A slot for work that goes on when its client leaves. */
export function slotWithoutClient(clientSlot: ClientSlot): ClientSlot {
  const nothing = (): void => undefined
  return { giveBack: (ended) => clientSlot.giveBack(ended), watchClient: nothing, cutOff: nothing }
}
