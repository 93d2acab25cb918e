// Who is calling: what a key turns into.

import type { LimitSettings } from '../config/types.ts'

export interface Principal {
  readonly keyId: string
  readonly keyName: string
  readonly account: string
  readonly group: string
  /** Names, or patterns with one trailing `*`; null allows all of the group's. */
  readonly models: readonly string[] | null
  /** Unix milliseconds. */
  readonly expiresAt: number | null
  readonly limits: LimitSettings
  /** Replies carry `usage.cost` unless the request says otherwise. */
  readonly showCost: boolean
}

/** In memory, replaced whole on each change. */
export interface Keyring {
  /** The caller of this secret; null when unknown, disabled or expired. Never touches the store. */
  find(secret: string, nowMs: number): Principal | null
}
