// Who is calling: what a key turns into, and what a signed-in session does.

import type { HistoryMode, LimitSettings } from '../config/types.ts'
import type { PersonRole } from '../store/people-list.ts'
import type { AddressList } from './address-list.ts'

export type Principal = KeyPrincipal | SessionPrincipal

/** Who may use the control API. */
export type ControlPrincipal = SessionPrincipal | ManagementPrincipal

/** A program, by its key: what asks models. */
export interface KeyPrincipal {
  readonly kind: 'key'
  readonly keyId: string
  readonly keyName: string
  readonly account: string
  readonly group: string
  /** Names, or patterns with one trailing `*`; null allows all of the group's. */
  readonly models: readonly string[] | null
  /** The same; what one of them names is denied whatever allows it. */
  readonly deniedModels: readonly string[] | null
  /** Where it may be used from; null: anywhere. */
  readonly addresses: AddressList | null
  /** Unix milliseconds. */
  readonly expiresAt: number | null
  readonly limits: LimitSettings
  /** What is kept of its requests' messages; null: what its account says. */
  readonly historyMode: HistoryMode | null
  /** Replies carry `usage.cost` unless the request says otherwise. */
  readonly showCost: boolean
}

export type Role = PersonRole

/** A person who is signed in. */
export interface SessionPrincipal {
  readonly kind: 'session'
  readonly sessionId: string
  readonly account: string
  readonly role: Role
}

/** A program that manages the deployment or one account of it; it calls no model. */
export interface ManagementPrincipal {
  readonly kind: 'management'
  readonly keyId: string
  readonly keyName: string
  /** null: bound to no account. */
  readonly account: string | null
  readonly scopes: readonly ('read' | 'write')[]
}

/** In memory, replaced whole on each change. */
export interface Keyring {
  /** The caller of this secret; null when unknown, disabled or expired. Never touches the store. */
  find(secret: string, nowMs: number): KeyPrincipal | null
}
