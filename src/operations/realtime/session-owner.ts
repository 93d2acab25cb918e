// The parts a realtime session is made of, and the interface that its two directions use.

import type { RealtimeSettings } from '../../config/types.ts'
import type { GatewayError } from '../../errors.ts'
import type { RelayRooms } from '../../relay/request.ts'
import type { Connected } from './connect.ts'
import type { InputAudio } from './input-audio.ts'
import type { Ending, SessionBilling } from './session-billing.ts'
import type { Transcribers } from './transcribers.ts'

/** The client's socket, as a session uses it. */
export interface ClientSocket {
  /** `waiting`: the client has not yet taken everything; `lost`: so much waits that this was dropped. */
  send(message: string | Uint8Array): 'taken' | 'waiting' | 'lost'
  close(code: number, reason: string): void
  terminate(): void
}

export interface SessionRooms {
  readonly relay: RelayRooms
  readonly settings: RealtimeSettings
  readonly sessionBilling: SessionBilling
  readonly transcribers: Transcribers
  readonly inputAudio: InputAudio
  /** Whether the caller's key is still valid. */
  keyHolds(): boolean
  /** Whether the process is about to stop. */
  draining(): boolean
  /** Makes an id for an event of the gateway's own. */
  newEventId(): string
  /** Called once, when the session has ended completely. */
  over(): void
}

export interface SessionRequest {
  readonly requestId: string
  /** The model's name as the client gave it. */
  readonly model: string
  /** The usage in replies carries the cost. */
  readonly showCost: boolean
}

/** The session, as the handlers of both directions see it. */
export interface SessionOwner {
  readonly rooms: SessionRooms
  readonly request: SessionRequest
  readonly vendor: Connected
  readonly isOver: boolean
  /** The client has not yet taken everything sent to it. */
  readonly isBehind: boolean
  /** How it ended, while running responses are still read to their ends; null: it has not ended. */
  readonly lingering: Ending | null
  /** Time of the last event that keeps the session open, by `performance.now()`. */
  activeMs: number
  deliver(payload: string | Uint8Array): void
  /** Sends an error to the client. `eventId`: the client's event that it answers. */
  tell(error: GatewayError, eventId: string | null): void
  /** Sends the error and closes the client's socket; running responses are cancelled, and read for their usage. */
  endWith(error: GatewayError, code: number): void
  vendorClosed(code: number, reason: string): void
  finishLingering(): void
  /** Ends the session after a bug in the gateway, whose details only the operator sees. */
  mistaken(error: unknown): void
}
