// What a row of the endpoint table says. Without a declared access there is none.

import type { KeyPrincipal, Principal } from '../identity/principal.ts'
import type { ClientRequest, Fields, Operation, Reading, Reply } from '../operations/operation.ts'
import type { Services } from '../operations/services.ts'
import type { Address } from '../wire/request.ts'
import type { FrontServices } from './front.ts'

interface Place {
  readonly path: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** What stands before the path; unless given, those of the API. */
  readonly prefixes?: readonly string[]
}

/** Sends a request to a model. */
interface OperationEndpoint extends Place {
  readonly access: 'key'
  readonly operation: Operation<Services>
}

/** The same with an operation that is loaded at its first request. */
export interface LaterEndpoint extends Place {
  readonly access: 'key'
  load(): Promise<Operation<Services>>
  /** What is told to who asks for it in another way than to become a socket. */
  readonly socketOnly?: string
}

/** The same where the address says which operation it is. Throws GatewayError; `fields` goes with the refusal. */
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

/** Reads or changes what the gateway itself knows, of a caller by key. */
interface KeyEndpoint extends Place {
  readonly access: 'key'
  readonly read: Read<KeyPrincipal>
}

/** The same for whoever is known, by key or signed in. */
interface AnyEndpoint extends Place {
  readonly access: 'any'
  readonly read: Read<Principal>
}

/** Throws GatewayError; `fields` goes with the refusal. */
export type PublicHandle = (
  request: ClientRequest,
  fields: Fields,
  services: FrontServices,
) => Reply | Promise<Reply>

/** For everybody. */
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
