// What a realtime session is made from, and what its two directions know of it.

import type { RealtimeSettings } from '../../config/types.ts'
import type { GatewayError } from '../../errors.ts'
import type { RelayRooms } from '../../relay/request.ts'
import type { Connected } from './connect.ts'
import type { Ending, SessionBilling } from './session-billing.ts'
import type { Transcribers } from './transcribers.ts'

/** The client's socket, as far as a session knows it. */
export interface ClientSocket {
  /** `waiting`: it has not taken all there is; `lost`: it took so little that this is lost. */
  send(message: string | Uint8Array): 'taken' | 'waiting' | 'lost'
  close(code: number, reason: string): void
  terminate(): void
}

export interface SessionRooms {
  readonly relay: RelayRooms
  readonly settings: RealtimeSettings
  readonly sessionBilling: SessionBilling
  readonly transcribers: Transcribers
  /** The process is about to stop. */
  draining(): boolean
  /** Names an event of the gateway's own. */
  newEventId(): string
  /** Called once, when nothing more will come of the session. */
  over(): void
}

export interface SessionRequest {
  readonly requestId: string
  /** As the client named it. */
  readonly model: string
  /** The reply's usage carries its cost. */
  readonly showCost: boolean
}

/** The session, as what comes from either side finds it. */
export interface SessionOwner {
  readonly rooms: SessionRooms
  readonly request: SessionRequest
  readonly vendor: Connected
  readonly isOver: boolean
  /** The client has not taken what there is. */
  readonly isBehind: boolean
  /** How it ended, where responses are still heard to their ends; null: it has not. */
  readonly lingering: Ending | null
  /** When anything was said that keeps it open, by `performance.now()`. */
  activeMs: number
  deliver(payload: string | Uint8Array): void
  /** `eventId`: the client's own event that this answers. */
  tell(error: GatewayError, eventId: string | null): void
  /** The client is told and let go; responses that run are cancelled, and what they come to is heard. */
  endWith(error: GatewayError, code: number): void
  vendorClosed(code: number, reason: string): void
  finishLingering(): void
  /** A mistake of ours ends the session, and is told to the operator alone. */
  mistaken(error: unknown): void
}
