// The types of a row of the endpoint table. A row must declare its access to compile.

import type { KeyPrincipal, Principal } from '../identity/principal.ts'
import type { ClientRequest, Fields, Operation, Reading, Reply } from '../operations/operation.ts'
import type { Services } from '../operations/services.ts'
import type { Address } from '../wire/request.ts'
import type { FrontServices } from './front.ts'

interface Place {
  readonly path: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Prefixes before the path; the API's prefixes where left out. */
  readonly prefixes?: readonly string[]
}

/** Asks a model. */
interface OperationEndpoint extends Place {
  readonly access: 'key'
  readonly operation: Operation<Services>
}

/** Asks a model by an operation that is loaded at the first request. */
export interface LaterEndpoint extends Place {
  readonly access: 'key'
  load(): Promise<Operation<Services>>
  /** The refusal of requests that do not ask for a WebSocket, where the path serves nothing else. */
  readonly socketOnly?: string
}

/** Asks a model by an operation that the path determines. Throws GatewayError; a refusal carries `fields`. */
interface AddressedEndpoint extends Place {
  readonly access: 'key'
  operationAt(
    request: ClientRequest,
    fields: Fields,
  ): { readonly operation: Operation<Services>; readonly address: Address }
}

type Read<P extends Principal> = (
  reading: Reading<P>,
  services: FrontServices,
) => Reply | Promise<Reply>

/** Reads or changes what the gateway itself knows, for a caller with a key. */
interface KeyEndpoint extends Place {
  readonly access: 'key'
  readonly read: Read<KeyPrincipal>
}

/** Does so for any authenticated principal: a key or a session. */
interface AnyEndpoint extends Place {
  readonly access: 'any'
  readonly read: Read<Principal>
}

/** Throws GatewayError; a refusal carries `fields`. */
export type PublicHandle = (
  request: ClientRequest,
  fields: Fields,
  services: FrontServices,
) => Reply | Promise<Reply>

/** Needs no authentication. */
interface PublicEndpoint extends Place {
  readonly access: 'public'
  readonly handle: PublicHandle
}

export type Endpoint =
  | OperationEndpoint
  | LaterEndpoint
  | AddressedEndpoint
  | KeyEndpoint
  | AnyEndpoint
  | PublicEndpoint
