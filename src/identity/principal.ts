// The principals that authentication finds: of an API key, a management key or a session.

import type { HistoryMode, LimitSettings } from '../config/types.ts'
import type { PersonRole } from '../store/people-list.ts'
import type { AddressList } from './address-list.ts'

export type Principal = KeyPrincipal | SessionPrincipal

/** Who may use the control API. */
export type ControlPrincipal = SessionPrincipal | ManagementPrincipal

/** A program identified by its API key, which calls models. */
export interface KeyPrincipal {
  readonly kind: 'key'
  readonly keyId: string
  readonly keyName: string
  readonly account: string
  readonly group: string
  /** Names, or patterns with one trailing `*`; null allows all models of the group. */
  readonly models: readonly string[] | null
  /** The same form; a denied model is denied even if `models` allows it. */
  readonly deniedModels: readonly string[] | null
  /** Addresses from which it may be used; null: anywhere. */
  readonly addresses: AddressList | null
  /** Unix milliseconds. */
  readonly expiresAt: number | null
  readonly limits: LimitSettings
  /** How its requests' messages are stored; null: as the account's setting says. */
  readonly historyMode: HistoryMode | null
  /** Replies include `usage.cost` unless the request says otherwise. */
  readonly showCost: boolean
}

export type Role = PersonRole

/** A signed-in person. */
export interface SessionPrincipal {
  readonly kind: 'session'
  readonly sessionId: string
  readonly account: string
  readonly role: Role
  /** Unix milliseconds. */
  readonly signedInAt: number
}

/** A program that manages the deployment or one account of it; it calls no model. */
export interface ManagementPrincipal {
  readonly kind: 'management'
  readonly keyId: string
  readonly keyName: string
  /** The account it manages; null: the whole deployment. */
  readonly account: string | null
  readonly scopes: readonly ('read' | 'write')[]
  /** Unix milliseconds; null: never. */
  readonly expiresAt: number | null
}

/** The API keys in memory, replaced as a whole on each change. */
export interface Keyring {
  /** The principal of this secret; null if unknown, disabled or expired. Never accesses the store. */
  find(secret: string, nowMs: number): KeyPrincipal | null
}
