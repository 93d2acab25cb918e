// What an operation is to admission, and what the two hand each other: plain data, and nothing of the server.

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

/** Header fields of one reply; plain, so that the runtime takes them in one go. */
export type Fields = Record<string, string>

/** A request as its listener has it; the runtime's own is one. */
export interface ClientRequest
  extends Pick<Request, 'method' | 'url' | 'signal' | 'body' | 'bytes'> {
  readonly headers: RequestHeaders
  /** The whole body, where it is here already. */
  readonly arrived?: Uint8Array | null
}

/** A request whose caller is known, whose body is read and whose model is served: all but its money. */
export interface AdmittedRequest extends Omit<RelayRequest, 'authorization'> {
  readonly principal: KeyPrincipal
  readonly options: RequestOptions
  readonly address: Address
  /** As the runtime has it, for its headers, its address and the client's leaving. Its body is read. */
  readonly incoming: ClientRequest
  /** As it came, and SHA-256 of its files, which are not in it: what tells the request from others. */
  readonly body: Uint8Array
  readonly digests: readonly string[]
  /** What its money is to cover, where that is not worked out from the request itself. */
  readonly usage?: Usage
}

/** A body that is not read yet. */
interface Unread {
  readonly dialect: ClientDialect
  readonly principal: KeyPrincipal
  readonly body: Uint8Array
  readonly address: Address
  readonly incoming: ClientRequest
}

/** A request that is read, and whose model is not looked up yet. */
export interface Peeked {
  readonly dialect: ClientDialect
  readonly principal: KeyPrincipal
  readonly address: Address
  readonly peek: Peek
}

/** The channels to ask, and the request as they are asked it. */
export interface Resolved extends ModelRoute {
  readonly peek: Peek
  readonly usage?: Usage
}

/** Something is asked that the gateway itself knows. */
export interface Reading<P extends Principal = Principal> {
  readonly principal: P
  readonly url: URL
  readonly headers: RequestHeaders
  readonly method: string
  /** It counts as under way, and its connection may rest, until what this returns is called. Throws GatewayError. */
  hold(): () => void
}

/** What an operation, a hook or a read answers with. */
export interface Reply {
  readonly body: string | Uint8Array | AsyncGenerator<Uint8Array> | ReadableStream | Blob | null
  /** It is a stream of events. */
  readonly stream?: boolean
  readonly status?: number
  /** Also `content-type`, where it is neither JSON nor such a stream. */
  readonly headers?: Readonly<Fields>
}

/** The client's end of a socket, as the runtime tells of it. */
export interface SocketLink {
  opened(socket: ServerSocket): void
  received(message: string | Buffer): void
  drained(): void
  closed(code: number, reason: string): void
  /** The client was gone before it had its socket. */
  abandoned(): void
}

/** The runtime's side of a client's socket. */
export interface ServerSocket {
  /** Bytes sent; -1: taken, and waits; 0: not taken. */
  send(message: string | Uint8Array): number
  close(code?: number, reason?: string): void
  terminate(): void
}

/** The request is to become a socket. */
export interface SocketReply {
  readonly socket: SocketLink
  readonly headers: Readonly<Fields>
}

/** Work that is paid for: it settles the authorization, leaves the record and gives the client's slot back, however it ends. */
export interface Work {
  run(): Promise<Answer | Reply | SocketReply>
  /** Told once `ClientSlot.watchClient` was called. */
  clientGone(): void
}

/**
 * What one kind of request does otherwise than a plain chat, which has nothing but its dialect. `S`: the services it
 * works with, replaced when the configuration changes.
 */
export interface Operation<in S = unknown> {
  readonly dialect: ClientDialectId
  /** What its path says of the request. */
  readonly address?: Address
  /** What is asked or answered may be files; of a form's, these are taken. */
  readonly files?: FilesTaken
  /** Reads the request in place of its dialect. Throws GatewayError naming the field. */
  peek?(unread: Unread, services: S & CoreServices): Peek | Promise<Peek>
  /** Finds the channels, and fills in what the model decides; unless given, `resolveModel`. Throws GatewayError. */
  resolve?(peeked: Peeked, services: S & CoreServices): Resolved
  /** How its requests go to vendors and back, where that is not how text does. */
  readonly upstream?: RelayOperation
  /** Run behind those that every operation has. */
  readonly hooks?: readonly Hook<S>[]
  /** Makes the call, unless given a plain one. Until it returns nothing has begun: what it throws costs nothing. */
  relay?(
    request: AdmittedRequest,
    authorization: Authorization,
    services: S & CoreServices,
  ): Work | Promise<Work>
  /** Answers for free, in place of all that follows: `before` of hooks, authorizing, relaying. Leaves no record. */
  answer?(request: AdmittedRequest, services: S & CoreServices): Promise<Reply>
}

/** What the files of forms are. */
export type FilesTaken = 'pictures' | 'sounds'

/** What every operation may use. */
export interface CoreServices {
  readonly modelAccess: ModelAccess
  readonly relay: RelayRooms
}

/** What is known of a request before its body is read. */
export interface Arrival {
  readonly requestId: string
  readonly principal: KeyPrincipal
  /** Of the body, as far as it says; 0: nothing is asked of a model. */
  readonly bodyBytes: number
  /** Headers of the reply, refusals included: some may be added. */
  readonly fields: Fields
}

/**
 * A step that every request passes, or every one of an operation. Each part gives back what it does with this request,
 * or null, which costs nothing.
 *
 * A guardrail decodes the request in `before` (`dialect.client.hub`) and refuses by throwing, or gives back another; what
 * it says of replies is a `transform`. A cache learns replies by a `transform` and keeps them in `after`. It answers at no
 * charge by a `reply`, whole or as a stream of events; where it has a price, by a `relay`, for which the request is
 * authorized, and which settles it by the usage it reports: as cached input, for instance.
 */
export interface Hook<in S = unknown> {
  /** The caller is known and nothing of the body is read. Throws GatewayError to refuse. */
  admit?(arrival: Arrival): Passage | null | Promise<Passage | null>
  /** The request is known whole, and nothing is set aside for it. Throws GatewayError to refuse. */
  before?(
    request: AdmittedRequest,
    services: S & CoreServices,
  ): Passage | null | Promise<Passage | null>
}

/** What a hook does with one request. */
export interface Passage {
  /** Given to the client in place of the relay's: nothing is authorized. */
  readonly reply?: Reply
  /** The request as it goes on. */
  readonly request?: AdmittedRequest
  /** What goes to the client goes through it, behind those of hooks before. */
  readonly transform?: ResponseTransform | undefined
  /** Makes the call in place of the operation's `relay`. */
  relay?(request: AdmittedRequest, authorization: Authorization): Work | Promise<Work>
  /** Told once how it ended; null: no vendor was asked. */
  after?(ended: Ended | null): void
}

/** For work whose client need not stay. */
export function slotWithoutClient(clientSlot: ClientSlot): ClientSlot {
  const nothing = (): void => undefined
  return { giveBack: (ended) => clientSlot.giveBack(ended), watchClient: nothing, cutOff: nothing }
}
