// What the front door works with, and what it tells of the requests that the relay never had.

import type { Authorizer } from '../billing/authorize.ts'
import type { RealtimeSettings } from '../config/types.ts'
import type { GatewayError } from '../errors.ts'
import type { Caller } from '../history/caller.ts'
import type { KeyPrincipal, Keyring } from '../identity/principal.ts'
import type { Limiter, Refused } from '../limits/limiter.ts'
import type { ModelAccess } from '../operations/model-access.ts'
import type { Background } from '../operations/responses/background.ts'
import type { ResponseRooms } from '../operations/responses/request.ts'
import type { VideoRooms } from '../operations/videos/read.ts'
import type { VideoStartRooms } from '../operations/videos/request.ts'
import type { RelayRooms } from '../relay/request.ts'
import type { Denial } from '../telemetry/denials.ts'
import type { Histogram } from '../telemetry/registry.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import type { Peek } from '../wire/request.ts'
import type { IncomingRooms } from './body/incoming.ts'
import type { Callers } from './callers.ts'
import type { HostedFiles } from './files.ts'
import type { Idempotency } from './idempotency.ts'
import type { MeRooms } from './me.ts'

/** Replaced whole when the configuration changes. */
export interface FrontRooms extends IncomingRooms {
  readonly keyring: Keyring
  readonly callers: Callers
  readonly limiter: Limiter
  readonly relay: RelayRooms
  /** Seconds spent until the caller is known, and from the whole body to the channels. */
  readonly overhead: { readonly auth: Histogram; readonly route: Histogram }
  readonly modelAccess: ModelAccess
  readonly authorizer: Authorizer
  readonly idempotency: Idempotency
  readonly me: MeRooms
  readonly files: HostedFiles
  readonly responses: ResponseRooms & { readonly background: Background }
  readonly realtime: RealtimeSettings
  readonly videos: VideoRooms & VideoStartRooms
  /** Told when a request has its place, and when it gave it back. */
  underWay(dialect: ClientDialect, change: 1 | -1): void
  /** Told of each request that a limit refused. */
  limited(decision: Refused): void
  /** Told of requests that never reached the relay, and of all refusals. */
  refused(refusal: Refusal): void
  /** Told of each request without a valid key that is not told of otherwise. */
  denied(denial: Denial): void
  /** Told of a request answered with the reply of an earlier one. */
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
}
