// Recognises whose key a refused secret is, or nearly is: to inform its owner, never to admit anybody.

import type { KeyConfig } from '../config/types.ts'
import type { KeyRow } from '../store/keys.ts'
import { configuredKeyId, type KeyringContent } from './keyring.ts'
import { hashSecret, startOf } from './secret.ts'

export interface RecognisedKey {
  readonly keyId: string
  readonly account: string
  readonly group: string
  /** `damaged`: it only begins like the key. `closed`: the key's account is suspended or deleted. */
  readonly state: 'valid' | 'disabled' | 'expired' | 'closed' | 'damaged'
}

/**
 * A secret that begins with as many of a configured one's characters counts as a damaged one. No more are compared, or
 * what the doctor lists would tell a guesser of each further character whether it is right.
 */
const comparedLength = 12

/** null if it is nobody's, or similar to several keys. Only for refusals, because the first call reads all keys. */
export function recogniseKey(
  content: KeyringContent,
  secret: string,
  nowMs: number,
): RecognisedKey | null {
  const { byHash, byStart } = indexOf(content)
  const whole = byHash.get(hashSecret(secret))
  if (whole !== undefined) return { ...whole.whose, state: stateOf(whole, content, nowMs) }
  const begins = content.configured
    .filter((key) => beginsAlike(key.secret, secret))
    .map(ofConfigured)
  const start = startOf(secret)
  const stored = start === null ? undefined : byStart.get(start)
  const like = stored === undefined ? begins : [...begins, stored]
  const [only] = like
  return like.length === 1 && only != null ? { ...only, state: 'damaged' } : null
}

type Whose = Omit<RecognisedKey, 'state'>

interface Known {
  readonly whose: Whose
  readonly isDisabled: boolean
  readonly expiresAt: number | null
}

interface Index {
  readonly byHash: ReadonlyMap<string, Known>
  /** null if several keys begin so. */
  readonly byStart: ReadonlyMap<string, Whose | null>
}

/** Built when a refusal first needs it, and used as long as the keys are the same. */
const indexes = new WeakMap<KeyringContent, Index>()

function indexOf(content: KeyringContent): Index {
  const made = indexes.get(content) ?? buildIndex(content)
  indexes.set(content, made)
  return made
}

function buildIndex({ configured, stored }: KeyringContent): Index {
  const byHash = new Map<string, Known>()
  const byStart = new Map<string, Whose | null>()
  for (const row of stored) {
    const whose = ofStored(row)
    const isDisabled = row.disabledAt !== null
    const { previous, start } = row
    if (previous !== null)
      byHash.set(previous.hash, { whose, isDisabled, expiresAt: previous.until })
    byHash.set(row.hash, { whose, isDisabled, expiresAt: row.expiresAt })
    if (start !== null) byStart.set(start, byStart.has(start) ? null : whose)
  }
  for (const key of configured) {
    const { disabled: isDisabled, expiresAt } = key
    byHash.set(hashSecret(key.secret), { whose: ofConfigured(key), isDisabled, expiresAt })
  }
  return { byHash, byStart }
}

function stateOf(
  { whose, isDisabled, expiresAt }: Known,
  { closed = [] }: KeyringContent,
  nowMs: number,
): RecognisedKey['state'] {
  if (closed.includes(whose.account)) return 'closed'
  if (isDisabled) return 'disabled'
  return expiresAt !== null && nowMs >= expiresAt ? 'expired' : 'valid'
}

function ofConfigured({ name, account, group }: KeyConfig): Whose {
  return { keyId: configuredKeyId(name), account, group }
}

function ofStored({ id, account, group }: KeyRow): Whose {
  return { keyId: id, account, group }
}

function beginsAlike(secret: string, shown: string): boolean {
  return (
    shown.length >= comparedLength &&
    shown.slice(0, comparedLength) === secret.slice(0, comparedLength)
  )
}
