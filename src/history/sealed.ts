// Sealed bodies: encrypted so that only the holder of an account's secret key can read them. Uses only WebCrypto, so
// that it runs unchanged in browsers. docs/history.md describes the stored form.

/** Raw X25519 keys, base64url. */
export interface HistoryKeys {
  readonly publicKey: string
  readonly secretKey: string
}

export interface Sealer {
  /** The encrypted data key: with it, the holder of the secret key can open everything this sealer seals. */
  readonly wrappedKey: Uint8Array
  encrypt(bytes: Uint8Array): Promise<Uint8Array>
}

const label = 'tollgate-history-v1'
const curve = { name: 'X25519' } as const
const keyBytes = 32
const nonceBytes = 12

export async function makeKeys(): Promise<HistoryKeys> {
  const pair = await crypto.subtle.generateKey(curve, true, ['deriveBits'])
  if (!('privateKey' in pair)) throw new Error('X25519 makes pairs of keys.')
  const { x = '', d = '' } = await crypto.subtle.exportKey('jwk', pair.privateKey)
  return { publicKey: x, secretKey: d }
}

/** Whether bodies can be sealed to this key: raw X25519, base64url without padding. */
export async function isPublicKey(text: string): Promise<boolean> {
  if (!/^[\w-]{43}$/.test(text)) return false
  try {
    await openSealer(text, '')
    return true
  } catch (error) {
    // A point that yields no shared secret with any key.
    if (error instanceof DOMException) return false
    throw error
  }
}

/** Makes a new data key, encrypted to `publicKey`, for everything stored of one request. */
export async function openSealer(publicKey: string, requestId: string): Promise<Sealer> {
  const recipient = decoded(publicKey)
  const ephemeral = await crypto.subtle.generateKey(curve, true, ['deriveBits'])
  if (!('privateKey' in ephemeral)) throw new Error('X25519 makes pairs of keys.')
  const sender = new Uint8Array(await crypto.subtle.exportKey('raw', ephemeral.publicKey))
  const theirs = await crypto.subtle.importKey('raw', recipient, curve, false, [])
  const wrapping = await wrappingOf(ephemeral.privateKey, theirs, sender, recipient)
  const dataKey = crypto.getRandomValues(new Uint8Array(keyBytes))
  const bound = encoded(requestId)
  const cipher = { name: 'AES-GCM', iv: wrapping.nonce, additionalData: bound }
  const wrapped = await crypto.subtle.encrypt(cipher, wrapping.key, dataKey)
  const key = await crypto.subtle.importKey('raw', dataKey, 'AES-GCM', false, ['encrypt'])
  return {
    wrappedKey: joined(sender, new Uint8Array(wrapped)),
    async encrypt(bytes) {
      const iv = crypto.getRandomValues(new Uint8Array(nonceBytes))
      const sealing = { name: 'AES-GCM', iv, additionalData: bound }
      const sealed = await crypto.subtle.encrypt(sealing, key, new Uint8Array(bytes))
      return joined(iv, new Uint8Array(sealed))
    },
  }
}

/** Opens what was sealed for one request. Rejects with a DOMException if the key differs, or a byte was changed. */
export async function openSealed(
  { publicKey, secretKey }: HistoryKeys,
  wrappedKey: Uint8Array,
  requestId: string,
): Promise<(sealed: Uint8Array) => Promise<Uint8Array>> {
  const secret = { kty: 'OKP', crv: 'X25519', x: publicKey, d: secretKey }
  const own = await crypto.subtle.importKey('jwk', secret, curve, false, ['deriveBits'])
  const sender = wrappedKey.slice(0, keyBytes)
  const theirs = await crypto.subtle.importKey('raw', sender, curve, false, [])
  const wrapping = await wrappingOf(own, theirs, sender, decoded(publicKey))
  const bound = encoded(requestId)
  const cipher = { name: 'AES-GCM', iv: wrapping.nonce, additionalData: bound }
  const dataKey = await crypto.subtle.decrypt(cipher, wrapping.key, wrappedKey.slice(keyBytes))
  const key = await crypto.subtle.importKey('raw', dataKey, 'AES-GCM', false, ['decrypt'])
  return async (sealed) => {
    const iv = sealed.slice(0, nonceBytes)
    const opening = { name: 'AES-GCM', iv, additionalData: bound }
    return new Uint8Array(await crypto.subtle.decrypt(opening, key, sealed.slice(nonceBytes)))
  }
}

/** The key and nonce that encrypt one data key; both sides derive the same. */
async function wrappingOf(
  own: CryptoKey,
  theirs: CryptoKey,
  sender: Uint8Array,
  recipient: Uint8Array,
) {
  const shared = await crypto.subtle.deriveBits({ ...curve, public: theirs }, own, 256)
  const material = await crypto.subtle.importKey('raw', shared, 'HKDF', false, ['deriveBits'])
  const info = joined(encoded(label), joined(sender, recipient))
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info }
  const bits = await crypto.subtle.deriveBits(derivation, material, (keyBytes + nonceBytes) * 8)
  const usages = ['encrypt', 'decrypt'] as const
  const raw = bits.slice(0, keyBytes)
  const key = await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, [...usages])
  return { key, nonce: new Uint8Array(bits.slice(keyBytes)) }
}

function encoded(text: string) {
  return new TextEncoder().encode(text)
}

function decoded(base64url: string) {
  const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0))
}

function joined(first: Uint8Array, second: Uint8Array) {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}
