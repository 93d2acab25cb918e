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

/** Replaced whole when the configuration changes. */
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
  /** Seconds spent until the caller is known, and from the whole body to the channels. */
  readonly overhead: { readonly auth: Histogram; readonly route: Histogram }
  /** Told when a request has its place, and when it gave it back. */
  underWay(dialect: ClientDialect, change: 1 | -1): void
  /** Told of requests that never reached the relay, and of all refusals. */
  refused(refusal: Refusal): void
  /** Told of each request without a valid key that is not told of otherwise. */
  denied(denial: Denial): void
  /** Told of each request that was refused before any vendor was asked, whoever sent it. */
  turnedAway(away: TurnedAway): void
  /** A mistake in the gateway: for the log. */
  crashed(error: unknown): void
  /** Told of a request that a hook answered. */
  replayed(repeat: ReplayedRequest): void
}

/** A known caller's request, as its record needs it. */
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

/** A refused request, as far as it was read: for whoever set the client up. */
export interface TurnedAway {
  readonly request: ClientRequest
  readonly requestId: string
  /** Unix milliseconds. */
  readonly at: number
  readonly caller: Caller
  /** null: nobody was asked who it is, or nobody knows. */
  readonly principal: KeyPrincipal | null
  readonly error: GatewayError
  readonly status: number
  readonly format: ClientDialectId | null
  readonly peek: Peek | null
  /** Where nothing could be made of it. */
  readonly body: Uint8Array | null
  /** No route took it. */
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
  /** Not one of ours: a mistake in the gateway, for the log. */
  readonly cause: unknown
  readonly durationMs: number
  /** What is free leaves no record. */
  readonly free: boolean
}
