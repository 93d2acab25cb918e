// The keys in memory: a secret in, the caller out.

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
  /** Accounts that are suspended or deleted: their keys do not count. */
  readonly closed?: readonly string[]
}

export interface ReplaceableKeyring extends Keyring {
  /** Swaps all, or the half that is given, between two calls of `find`. */
  replace(content: Partial<KeyringContent>): void
  /** As it was given last. */
  readonly content: KeyringContent
  /** Secrets of enabled keys held; expired ones count until they are removed. */
  readonly size: number
  /** Of enabled keys that have one, by their id. */
  readonly spendLimits: SpendLimits
}

/** Secrets seen to be good, so that the next call with one is a single look-up. */
const cachedSecrets = 10_000
/** A longer secret is refused unhashed, unless a configured one is that long. */
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
   * Only secrets whose hash was found get in, so guesses neither fill it nor are compared: a Map compares
   * text only where a hash of the whole text agrees, which a guess at a part of it does not reach.
   */
  readonly bySecret: Map<string, KeyPrincipal>
  readonly longest: number
  /** Some configured secret begins like ours without being one: the checksum then rejects nothing. */
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
  // The hash decides where the Map looks, and nobody can steer it: timing tells nothing of near misses.
  const principal = index.byHash.get(hashSecret(secret))
  if (principal === undefined) return null
  // Only as many secrets as there are keys can get here; the bound is for deployments with very many.
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

/** The id of a key declared in the configuration, as usage rows name it. */
export function configuredKeyId(name: string): string {
  return `config:${name}`
}

/** Whom a key stands for while it is enabled. */
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

/** The caller by the secret before a rotation, which works until then. */
function ending(principal: KeyPrincipal, until: number): KeyPrincipal {
  const { expiresAt } = principal
  return Object.freeze({
    ...principal,
    expiresAt: expiresAt === null ? until : Math.min(until, expiresAt),
  })
}
