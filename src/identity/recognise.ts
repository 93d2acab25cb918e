// Whose key a secret is that was refused, or may be: for the one who set it up, never to admit anybody.

import type { KeyConfig } from '../config/types.ts'
import type { KeyRow } from '../store/keys.ts'
import { configuredKeyId, type KeyringContent } from './keyring.ts'
import { hashSecret, startOf } from './secret.ts'

export interface RecognisedKey {
  readonly keyId: string
  readonly account: string
  readonly group: string
  /** `damaged`: it only begins like the key. `closed`: its account is suspended. */
  readonly state: 'valid' | 'disabled' | 'expired' | 'closed' | 'damaged'
}

/** A configured secret of any form is taken for a damaged one from so many characters on. */
const leastConfigured = 12

/** null: nobody's, or one of several that begin alike. Looks through all keys: for refusals alone. */
export function recogniseKey(
  { configured, stored, closed = [] }: KeyringContent,
  secret: string,
  nowMs: number,
): RecognisedKey | null {
  const hash = hashSecret(secret)
  const start = startOf(secret)
  const like: RecognisedKey[] = []
  for (const key of configured) {
    const state = key.disabled ? 'disabled' : endOf(key, nowMs)
    if (hashSecret(key.secret) === hash) return recognised(ofConfigured(key), state, closed)
    if (beginsAlike(key.secret, secret)) like.push({ ...ofConfigured(key), state: 'damaged' })
  }
  for (const row of stored) {
    const isBefore = row.previous?.hash === hash
    if (row.hash === hash || isBefore) {
      const ends = isBefore ? { expiresAt: row.previous.until } : row
      const state = row.disabledAt === null ? endOf(ends, nowMs) : 'disabled'
      return recognised(ofStored(row), state, closed)
    }
    if (start !== null && row.start === start) like.push({ ...ofStored(row), state: 'damaged' })
  }
  return like.length === 1 ? (like[0] ?? null) : null
}

type Whose = Omit<RecognisedKey, 'state'>

function recognised(
  whose: Whose,
  state: RecognisedKey['state'],
  closed: readonly string[],
): RecognisedKey {
  return { ...whose, state: closed.includes(whose.account) ? 'closed' : state }
}

function ofConfigured({ name, account, group }: KeyConfig): Whose {
  return { keyId: configuredKeyId(name), account, group }
}

function ofStored({ id, account, group }: KeyRow): Whose {
  return { keyId: id, account, group }
}

function endOf({ expiresAt }: { readonly expiresAt: number | null }, nowMs: number) {
  return expiresAt !== null && nowMs >= expiresAt ? 'expired' : 'valid'
}

function beginsAlike(secret: string, shown: string): boolean {
  if (shown.length < leastConfigured) return false
  return secret.startsWith(shown) || shown.startsWith(secret)
}
