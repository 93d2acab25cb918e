// What the HTTP layer works with, and what it reports of requests that never reached the relay.

import type { Authorizer } from '../billing/authorize.ts'
import type { ServerSettings } from '../config/types.ts'
import type { GatewayError } from '../errors.ts'
import type { Caller } from '../history/caller.ts'
import type { KeyPrincipal, Keyring } from '../identity/principal.ts'
import type { ClientRequest, Hook } from '../operations/operation.ts'
import type { Services } from '../operations/services.ts'
import type { Denial } from '../telemetry/denials.ts'
import type { Histogram } from '../telemetry/registry.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import type { ClientDialectId } from '../wire/formats.ts'
import type { Peek } from '../wire/request.ts'
import type { BodyRooms } from './body/incoming.ts'
import type { Callers } from './callers.ts'
import type { HostedFiles } from './files.ts'
import type { KeyUses } from './key-uses.ts'
import type { Load } from './load.ts'
import type { MeRooms } from './me.ts'

/** What the rows of the endpoint table work with. */
export interface FrontServices extends Services {
  readonly me: MeRooms
  readonly files: HostedFiles
}

/** Everything the HTTP layer works with; a configuration change replaces it as a whole. */
export interface Front {
  readonly server: ServerSettings
  readonly load: Load
  readonly callers: Callers
  readonly keyring: Keyring
  readonly keyUses: Pick<KeyUses, 'note'>
  readonly bodies: BodyRooms
  readonly authorizer: Authorizer
  /** Run for every request to a model, in this order. */
  readonly hooks: readonly Hook[]
  readonly services: FrontServices
  readonly observer: FrontObserver
}

export interface FrontObserver {
  /** Seconds until the caller is authenticated, and from the complete body to the resolved channels. */
  readonly overhead: { readonly auth: Histogram; readonly route: Histogram }
  /** Called when a request takes its client slot (1) and when it gives it back (-1). */
  underWay(dialect: ClientDialect, change: 1 | -1): void
  /** Called for each request to a model that was refused before it reached the relay. */
  refused(refusal: Refusal): void
  /** Called for each request without a valid key that no other method here reports. */
  denied(denial: Denial): void
  /** Called for each request that was refused before any vendor was asked, whoever sent it. */
  turnedAway(away: TurnedAway): void
  /** Reports a fault in the gateway itself, for the log. */
  crashed(error: unknown): void
  /** Called for each request that a hook answered. */
  replayed(repeat: ReplayedRequest): void
}

/** A known caller's request that a hook answered, with what its usage record needs. */
export interface ReplayedRequest {
  readonly requestId: string
  readonly at: number
  readonly principal: KeyPrincipal
  readonly caller: Caller
  readonly dialect: ClientDialect
  readonly peek: Peek
  readonly status: number
  readonly durationMs: number
}

/** A refused request, as far as it was read; the setup doctor shows it to whoever set the client up. */
export interface TurnedAway {
  readonly request: ClientRequest
  readonly requestId: string
  /** Unix milliseconds. */
  readonly at: number
  readonly caller: Caller
  /** null: the caller was not authenticated, or the key is not known. */
  readonly principal: KeyPrincipal | null
  readonly error: GatewayError
  readonly status: number
  readonly format: ClientDialectId | null
  readonly peek: Peek | null
  /** The body, where no peek could be made of it. */
  readonly body: Uint8Array | null
  /** True where no route takes the path. */
  readonly unrouted?: boolean
}

export interface Refusal {
  readonly requestId: string
  readonly at: number
  readonly principal: KeyPrincipal | null
  readonly caller: Caller
  readonly dialect: ClientDialect
  readonly peek: Peek | null
  readonly status: number
  readonly error: GatewayError
  /** An error that is no GatewayError: a fault in the gateway itself, for the log. Else null. */
  readonly cause: unknown
  readonly durationMs: number
  /** True for operations that are never charged: they leave no usage record. */
  readonly free: boolean
  /** It has an Idempotency-Key, which its record frees if the store could not be asked to. */
  readonly isKeyed: boolean
}
