// The secrets of a stored channel: encrypted in the store, never shown again.

import { maskedProxy, secretHeader, secretName } from '../config/describe.ts'
import type { SecretBox } from '../identity/secret-box.ts'

type Document = Readonly<Record<string, unknown>>

interface Encrypted {
  readonly encrypted: string
  /** For a proxy: its address without the password. */
  readonly shown?: string
}

/** Shown in place of a secret; a change that contains it keeps the secret. */
const hidden = '***'

/** Replaces every secret of a channel's document. A proxy's address contains one. */
function mapSecrets(
  document: Document,
  change: (secret: unknown) => unknown,
  changeProxy: (proxy: unknown) => unknown = change,
): Document {
  const { key, keys, options, headers, proxy } = document
  const changed = (names: RegExp, values: unknown) =>
    Object.fromEntries(
      Object.entries(Object(values)).map(([name, value]) => [
        name,
        names.test(name) ? change(value) : value,
      ]),
    )
  return {
    ...document,
    ...(key != null && { key: change(key) }),
    ...(proxy != null && { proxy: changeProxy(proxy) }),
    ...(Array.isArray(keys) && {
      keys: keys.map((each: Document) => ({ ...each, key: change(each.key) })),
    }),
    ...(options != null && { options: changed(secretName, options) }),
    ...(headers != null && { headers: changed(secretHeader, headers) }),
  }
}

export function encryptSecrets(document: Document, box: SecretBox): Document {
  const encrypted = (secret: unknown): Encrypted => ({ encrypted: box.encrypt(String(secret)) })
  return mapSecrets(document, encrypted, (proxy) => ({
    ...encrypted(proxy),
    shown: maskedProxy(String(proxy)),
  }))
}

/** Throws where the secrets were encrypted under another key. */
export function decryptSecrets(document: Document, box: SecretBox): Document {
  return mapSecrets(document, (secret) => box.decrypt((secret as Encrypted).encrypted))
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
