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

/** What changed in the store since the keyring was filled. */
export interface KeyringChange {
  readonly changed: readonly KeyRow[]
  /** Ids of keys that are gone. */
  readonly removed: readonly string[]
  /** All accounts that are closed now. */
  readonly closed: readonly string[]
}

export interface ReplaceableKeyring extends Keyring {
  /** Replaces the configured keys between two calls of `find`. */
  configure(configured: readonly KeyConfig[]): void
  /** Applies changes of the store between two calls of `find`, at the cost of what changed. */
  patch(change: KeyringChange): void
  /** The keys of the store by id. */
  readonly rows: ReadonlyMap<string, KeyRow>
  /** All content at present; the same object as long as nothing changes. */
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
  return new IndexedKeyring(content)
}

class IndexedKeyring implements ReplaceableKeyring {
  readonly #rows = new Map<string, KeyRow>()
  readonly #byHash = new Map<string, KeyPrincipal>()
  readonly #spendLimits = new Map<string, KeySpendLimit>()
  #closed: ReadonlySet<string>
  #configured: readonly KeyConfig[]
  #declared: Declared
  /**
   * Only secrets whose hash was found are added, so guesses neither fill the map nor are compared with secrets: a Map
   * compares text only if the hash of the whole text matches, which a partly correct guess does not achieve.
   */
  readonly #bySecret = new Map<string, KeyPrincipal>()
  #content: KeyringContent | null

  constructor(content: KeyringContent) {
    this.#content = content
    this.#closed = new Set(content.closed)
    for (const row of content.stored) this.#add(row)
    this.#configured = content.configured
    this.#declared = this.#declare()
  }

  find(secret: string, nowMs: number): KeyPrincipal | null {
    const principal = this.#bySecret.get(secret) ?? this.#findByHash(secret)
    if (principal === null) return null
    return principal.expiresAt === null || nowMs < principal.expiresAt ? principal : null
  }

  configure(configured: readonly KeyConfig[]): void {
    this.#configured = configured
    this.#declared = this.#declare()
    this.#forget()
  }

  patch({ changed, removed, closed }: KeyringChange): void {
    const before = this.#closed
    this.#closed = new Set(closed)
    const turned = before.symmetricDifference(this.#closed)
    const again =
      turned.size === 0 ? [] : [...this.#rows.values()].filter((row) => turned.has(row.account))
    const fresh = new Map([...again, ...changed].map((row) => [row.id, row]))
    for (const id of removed) {
      this.#remove(id)
      fresh.delete(id)
    }
    // All old secrets leave before new ones come: an id may have been given up and its secret kept.
    for (const id of fresh.keys()) this.#remove(id)
    for (const row of fresh.values()) this.#add(row)
    if (turned.size > 0) this.#declared = this.#declare()
    this.#forget()
  }

  get rows() {
    return this.#rows
  }

  get content() {
    this.#content ??= {
      configured: this.#configured,
      stored: [...this.#rows.values()],
      closed: [...this.#closed],
    }
    return this.#content
  }

  get size() {
    return this.#byHash.size + this.#declared.byHash.size
  }

  get spendLimits() {
    return this.#spendLimits
  }

  #forget(): void {
    this.#bySecret.clear()
    this.#content = null
  }

  #remove(id: string): void {
    const row = this.#rows.get(id)
    if (row === undefined) return
    this.#rows.delete(id)
    this.#byHash.delete(row.hash)
    if (row.previous !== null) this.#byHash.delete(row.previous.hash)
    this.#spendLimits.delete(id)
  }

  #add(row: KeyRow): void {
    const { id, account, hash, previous, spendLimit } = row
    this.#rows.set(id, row)
    if (row.disabledAt !== null || this.#closed.has(account)) return
    const principal = principalOf(row)
    if (spendLimit !== null) this.#spendLimits.set(id, { ...spendLimit, account })
    this.#byHash.set(hash, principal)
    if (previous !== null) this.#byHash.set(previous.hash, ending(principal, previous.until))
  }

  /** Indexes the configured keys, which are few, and replaces their spend limits. */
  #declare(): Declared {
    for (const id of this.#declared?.limited ?? []) this.#spendLimits.delete(id)
    const byHash = new Map<string, KeyPrincipal>()
    const limited: string[] = []
    let longest = longestSecret
    let anyForm = false
    for (const key of this.#configured) {
      if (key.disabled || this.#closed.has(key.account)) continue
      byHash.set(hashSecret(key.secret), ofConfigured(key))
      const limit = spendLimitOf(key)
      if (limit !== null) {
        limited.push(configuredKeyId(key.name))
        this.#spendLimits.set(configuredKeyId(key.name), limit)
      }
      longest = Math.max(longest, key.secret.length)
      anyForm ||= key.secret.startsWith(secretPrefix) && !looksWellFormed(key.secret)
    }
    return { byHash, limited, longest, anyForm }
  }

  #findByHash(secret: string): KeyPrincipal | null {
    const { byHash, longest, anyForm } = this.#declared
    if (secret.length > longest) return null
    const mistyped = secret.startsWith(secretPrefix) && !looksWellFormed(secret)
    if (mistyped && !anyForm) return null
    // The lookup is by hash, which nobody can steer, so timing reveals nothing about near misses.
    const hash = hashSecret(secret)
    const principal = byHash.get(hash) ?? this.#byHash.get(hash)
    if (principal === undefined) return null
    // Only as many secrets as there are keys get here; the limit is for deployments with very many.
    if (this.#bySecret.size >= cachedSecrets) this.#bySecret.clear()
    this.#bySecret.set(secret, principal)
    return principal
  }
}

type KeySpendLimit = SpendLimit & { readonly account: string }

/** The keys of the configuration, as they are looked up. */
interface Declared {
  readonly byHash: ReadonlyMap<string, KeyPrincipal>
  /** Ids of those that have a spend limit. */
  readonly limited: readonly string[]
  readonly longest: number
  /** Some configured secret has our prefix but not our form, so the checksum must not reject secrets. */
  readonly anyForm: boolean
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
