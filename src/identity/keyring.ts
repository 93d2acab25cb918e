// The API keys in memory: looks up the principal of a secret.

import type { KeyConfig, LimitSettings } from '../config/types.ts'
import { parseUnits } from '../money.ts'
import type { KeyRow, SpendLimit, SpendLimits } from '../store/keys.ts'
import { AddressList } from './address-list.ts'
import type { KeyPrincipal, Keyring } from './principal.ts'
import { hashSecret, looksWellFormed, secretPrefix } from './secret.ts'

export interface KeyringContent {
  /** Keys declared in the configuration; their id is `config:NAME`. */
  readonly configured: readonly KeyConfig[]
  /** Keys made in the store. */
  readonly stored: readonly KeyRow[]
  /** Accounts that are suspended or deleted: their keys do not work. */
  readonly closed?: readonly string[]
}

export interface ReplaceableKeyring extends Keyring {
  /** Replaces all content, or the given part, between two calls of `find`. */
  replace(content: Partial<KeyringContent>): void
  /** The content set last. */
  readonly content: KeyringContent
  /** Number of secrets of enabled keys; expired ones count as long as they are not removed. */
  readonly size: number
  /** Spend limits by key id, for enabled keys that have one. */
  readonly spendLimits: SpendLimits
}

/** How many valid secrets are cached, so that the next call with one is a single lookup. */
const cachedSecrets = 10_000
/** A longer secret is refused without hashing, unless a configured secret is that long. */
const longestSecret = 1024

/** A configured key wins over a stored one with the same secret. */
export function createKeyring(content: KeyringContent): ReplaceableKeyring {
  let current = content
  let index = buildIndex(current)
  return {
    find: (secret, nowMs) => findIn(index, secret, nowMs),
    replace(change) {
      current = { ...current, ...change }
      index = buildIndex(current)
    },
    get content() {
      return current
    },
    get size() {
      return index.byHash.size
    },
    get spendLimits() {
      return index.spendLimits
    },
  }
}

interface Index {
  readonly byHash: ReadonlyMap<string, KeyPrincipal>
  readonly spendLimits: SpendLimits
  /**
   * Only secrets whose hash was found are added, so guesses neither fill the map nor are compared with secrets: a Map
   * compares text only if the hash of the whole text matches, which a partly correct guess does not achieve.
   */
  readonly bySecret: Map<string, KeyPrincipal>
  readonly longest: number
  /** Some configured secret has our prefix but not our form, so the checksum must not reject secrets. */
  readonly anyForm: boolean
}

function buildIndex({ configured, stored, closed = [] }: KeyringContent): Index {
  const byHash = new Map<string, KeyPrincipal>()
  const spendLimits = new Map<string, SpendLimit & { readonly account: string }>()
  const closedAccounts = new Set(closed)
  for (const row of stored) {
    if (row.disabledAt !== null || closedAccounts.has(row.account)) continue
    const principal = principalOf(row)
    const { account, spendLimit } = row
    if (spendLimit !== null) spendLimits.set(row.id, { ...spendLimit, account })
    byHash.set(row.hash, principal)
    if (row.previous !== null) byHash.set(row.previous.hash, ending(principal, row.previous.until))
  }
  let longest = longestSecret
  let anyForm = false
  for (const key of configured) {
    if (key.disabled || closedAccounts.has(key.account)) continue
    byHash.set(hashSecret(key.secret), ofConfigured(key))
    const limit = spendLimitOf(key)
    if (limit !== null) spendLimits.set(configuredKeyId(key.name), limit)
    longest = Math.max(longest, key.secret.length)
    anyForm ||= key.secret.startsWith(secretPrefix) && !looksWellFormed(key.secret)
  }
  return { byHash, spendLimits, bySecret: new Map(), longest, anyForm }
}

function findIn(index: Index, secret: string, nowMs: number): KeyPrincipal | null {
  const principal = index.bySecret.get(secret) ?? findByHash(index, secret)
  if (principal === null) return null
  return principal.expiresAt === null || nowMs < principal.expiresAt ? principal : null
}

function findByHash(index: Index, secret: string): KeyPrincipal | null {
  if (secret.length > index.longest) return null
  const mistyped = secret.startsWith(secretPrefix) && !looksWellFormed(secret)
  if (mistyped && !index.anyForm) return null
  // The lookup is by hash, which nobody can steer, so timing reveals nothing about near misses.
  const principal = index.byHash.get(hashSecret(secret))
  if (principal === undefined) return null
  // Only as many secrets as there are keys get here; the limit is for deployments with very many.
  if (index.bySecret.size >= cachedSecrets) index.bySecret.clear()
  index.bySecret.set(secret, principal)
  return principal
}

function ofConfigured(key: KeyConfig): KeyPrincipal {
  return Object.freeze({
    kind: 'key',
    keyId: configuredKeyId(key.name),
    keyName: key.name,
    account: key.account,
    group: key.group,
    models: key.models,
    deniedModels: key.deniedModels,
    addresses: addressesOf(key.addresses),
    expiresAt: key.expiresAt,
    limits: key.limits,
    historyMode: key.historyMode,
    showCost: key.showCost,
  })
}

function spendLimitOf({ account, spendLimit }: KeyConfig) {
  if (spendLimit === null) return null
  const { amount, period, timeZone } = spendLimit
  return { amountNano: parseUnits(amount) ?? 0n, period, timeZone, account }
}

/** The id of a configured key, as used in usage rows. */
export function configuredKeyId(name: string): string {
  return `config:${name}`
}

/** The principal of a key while it is enabled. */
export function principalOf(row: KeyRow): KeyPrincipal {
  const limits: LimitSettings = {
    ...(row.requestsPerMinute !== null && { requestsPerMinute: row.requestsPerMinute }),
    ...(row.tokensPerMinute !== null && { tokensPerMinute: row.tokensPerMinute }),
    ...(row.concurrentRequests !== null && { concurrentRequests: row.concurrentRequests }),
  }
  return Object.freeze({
    kind: 'key',
    keyId: row.id,
    keyName: row.name,
    account: row.account,
    group: row.group,
    models: row.models,
    deniedModels: row.deniedModels,
    addresses: addressesOf(row.addresses),
    expiresAt: row.expiresAt,
    limits: Object.freeze(limits),
    historyMode: row.historyMode,
    showCost: row.showCost,
  })
}

function addressesOf(ranges: readonly string[] | null): AddressList | null {
  return ranges === null ? null : new AddressList(ranges)
}

/** The principal for the secret before a rotation, which works until then. */
function ending(principal: KeyPrincipal, until: number): KeyPrincipal {
  const { expiresAt } = principal
  return Object.freeze({
    ...principal,
    expiresAt: expiresAt === null ? until : Math.min(until, expiresAt),
  })
}
