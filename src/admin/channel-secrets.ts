// The secrets of a stored channel: encrypted in the store, never shown again.

import { maskedProxy, secretHeader, secretName } from '../config/describe.ts'
import type { SecretBox } from '../identity/secret-box.ts'

type Document = Readonly<Record<string, unknown>>

interface Encrypted {
  readonly encrypted: string
  /** It can be decrypted only as this member of this channel. Earlier versions stored secrets without a place. */
  readonly bound?: true
  /** For a proxy: its address without the password. */
  readonly shown?: string
}

/** Shown in place of a secret; a change that contains it keeps the secret. */
const hidden = '***'

/** Replaces every secret of a channel's document, given with the path of its member. A proxy's address contains one. */
function mapSecrets(
  document: Document,
  change: (secret: unknown, path: string) => unknown,
  changeProxy: (proxy: unknown, path: string) => unknown = change,
): Document {
  const { key, keys, options, headers, proxy } = document
  const changed = (member: string, names: RegExp, values: unknown) =>
    Object.fromEntries(
      Object.entries(Object(values)).map(([name, value]) => [
        name,
        names.test(name) ? change(value, `${member}.${name}`) : value,
      ]),
    )
  return {
    ...document,
    ...(key != null && { key: change(key, 'key') }),
    ...(proxy != null && { proxy: changeProxy(proxy, 'proxy') }),
    ...(Array.isArray(keys) && {
      keys: keys.map((each: Document) => ({ ...each, key: change(each.key, 'keys') })),
    }),
    ...(options != null && { options: changed('options', secretName, options) }),
    ...(headers != null && { headers: changed('headers', secretHeader, headers) }),
  }
}

/** Where a secret is kept: in another channel, or as another member, it cannot be decrypted. */
function placeOf(id: string, path: string): string {
  return JSON.stringify(['channel', id, path])
}

export function encryptSecrets(id: string, document: Document, box: SecretBox): Document {
  const encrypted = (secret: unknown, path: string): Encrypted => ({
    encrypted: box.encrypt(String(secret), placeOf(id, path)),
    bound: true,
  })
  return mapSecrets(document, encrypted, (proxy, path) => ({
    ...encrypted(proxy, path),
    shown: maskedProxy(String(proxy)),
  }))
}

/** Throws where a secret was encrypted under another key, or for another channel. */
export function decryptSecrets(id: string, document: Document, box: SecretBox): Document {
  return mapSecrets(document, (secret, path) => {
    const { encrypted, bound } = secret as Encrypted
    return bound === true ? box.decrypt(encrypted, placeOf(id, path)) : box.decrypt(encrypted)
  })
}

/** Shows only that there are secrets. */
export function hideSecrets(document: Document): Document {
  return mapSecrets(document, () => hidden, shownProxy)
}

/** The proxy without its password, also for an encrypted one. */
function shownProxy(proxy: unknown): unknown {
  if (typeof proxy === 'string') return proxy === '' ? '' : maskedProxy(proxy)
  return (proxy as Encrypted).shown ?? hidden
}

/** Empties the secrets, which have to be entered again. */
export function withoutSecrets(document: Document): Document {
  return mapSecrets(document, () => '')
}

/** `after`, with the secrets of `before` where `changes` leave them out or contain the placeholder. */
export function keepSecrets(before: Document, changes: Document, after: Document): Document {
  const isSame = (secret: unknown) => secret == null || secret === hidden
  const known = keysOf(before)
  const kept = (names: RegExp, values: unknown, earlier: unknown) =>
    Object.fromEntries(
      Object.entries(Object(values)).map(([name, value]) => [
        name,
        value === hidden && names.test(name) ? (Object(earlier)[name] ?? value) : value,
      ]),
    )
  const isSameProxy = before.proxy != null && changes.proxy === shownProxy(before.proxy)
  return {
    ...after,
    ...(isSameProxy && { proxy: before.proxy }),
    ...(after.options != null && { options: kept(secretName, after.options, before.options) }),
    ...(after.headers != null && { headers: kept(secretHeader, after.headers, before.headers) }),
    // A channel has either `key` or `keys`: setting one removes the other.
    ...(changes.key === hidden && { key: before.key }),
    ...(isSame(changes.key) ? {} : { keys: null }),
    ...(Array.isArray(changes.keys) && {
      key: changes.keys.length > 0 ? null : after.key,
      keys: changes.keys.map((each: unknown) => {
        const entry = Object(each) as Document
        const { name } = entry
        const isKept = isSame(entry.key) && typeof name === 'string'
        return isKept ? { ...entry, key: known.get(name) } : entry
      }),
    }),
  }
}

/** Whether the documents share a secret; that of a proxy does not count. */
export function sharesSecret(one: Document, other: Document): boolean {
  const secrets = (document: Document) => {
    const found = new Set<unknown>()
    mapSecrets(
      document,
      (secret) => found.add(secret),
      () => null,
    )
    return found
  }
  const known = secrets(one)
  return [...secrets(other)].some((secret) => secret != null && known.has(secret))
}

/** The name under which a channel's one key is shown. */
export const onlyKey = 'key'

/** Secrets by the key's name. */
function keysOf({ key, keys }: Document): ReadonlyMap<string, unknown> {
  const several = Array.isArray(keys) ? (keys as Document[]) : []
  return new Map([
    ...(key == null ? [] : [[onlyKey, key] as const]),
    ...several.map((each) => [String(each.name), each.key] as const),
  ])
}
