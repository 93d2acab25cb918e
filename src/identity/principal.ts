// Who is calling: what a key turns into, and what a signed-in session does.

import type { LimitSettings } from '../config/types.ts'
import type { HistoryMode } from '../store/keys.ts'
import type { PersonRole } from '../store/people.ts'

export type Principal = KeyPrincipal | SessionPrincipal

/** A program, by its key: what asks models. */
export interface KeyPrincipal {
  readonly kind: 'key'
  readonly keyId: string
  readonly keyName: string
  readonly account: string
  readonly group: string
  /** Names, or patterns with one trailing `*`; null allows all of the group's. */
  readonly models: readonly string[] | null
  /** Unix milliseconds. */
  readonly expiresAt: number | null
  readonly limits: LimitSettings
  /** What is kept of its requests' messages; null: what its account says. */
  readonly historyMode: HistoryMode | null
  /** Replies carry `usage.cost` unless the request says otherwise. */
  readonly showCost: boolean
}

type Role = PersonRole

/** A person who is signed in. */
export interface SessionPrincipal {
  readonly kind: 'session'
  readonly sessionId: string
  readonly account: string
  readonly role: Role
}

/** In memory, replaced whole on each change. */
export interface Keyring {
  /** The caller of this secret; null when unknown, disabled or expired. Never touches the store. */
  find(secret: string, nowMs: number): KeyPrincipal | null
}
