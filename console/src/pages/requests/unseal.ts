// Opens sealed messages in the browser with the account's secret key; docs/history.md describes the form.

const encoder = new TextEncoder()
const info = encoder.encode('tollgate-history-v1')

export interface SecretKey {
  readonly publicKey: string
  readonly secretKey: string
}

/** From the file that `tollgate history keygen` writes. Throws if it is not one. */
export function readSecretKey(text: string): SecretKey {
  const { publicKey, secretKey } = JSON.parse(text)
  if (typeof publicKey !== 'string' || typeof secretKey !== 'string') throw new Error('no key')
  return { publicKey, secretKey }
}

/** The data key of one message. Rejects if it was made for another key. */
export async function openDataKey(
  wrapped: Uint8Array<ArrayBuffer>,
  requestId: string,
  { publicKey, secretKey }: SecretKey,
): Promise<CryptoKey> {
  const ephemeral = wrapped.subarray(0, 32)
  const own = fromBase64(publicKey)
  const jwk = { kty: 'OKP', crv: 'X25519', x: publicKey, d: secretKey }
  const secret = await crypto.subtle.importKey('jwk', jwk, 'X25519', false, ['deriveBits'])
  const peer = await crypto.subtle.importKey('raw', ephemeral, 'X25519', false, [])
  const shared = await crypto.subtle.deriveBits({ name: 'X25519', public: peer }, secret, 256)
  const base = await crypto.subtle.importKey('raw', shared, 'HKDF', false, ['deriveBits'])
  const context = new Uint8Array([...info, ...ephemeral, ...own])
  const derived = await crypto.subtle.deriveBits(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: context },
    base,
    44 * 8,
  )
  const key = await aesKey(derived.slice(0, 32))
  const iv = new Uint8Array(derived.slice(32, 44))
  const data = await decrypt(key, iv, wrapped.subarray(32), requestId)
  return aesKey(data)
}

/** A body: the JSON of `{request, reply, ...}`. */
export async function openContent(
  content: Uint8Array<ArrayBuffer>,
  requestId: string,
  key: CryptoKey,
): Promise<unknown> {
  const zipped = await openBlob(content, requestId, key)
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Response(stream).json()
}

export function openBlob(
  sealed: Uint8Array<ArrayBuffer>,
  requestId: string,
  key: CryptoKey,
): Promise<ArrayBuffer> {
  return decrypt(key, sealed.subarray(0, 12), sealed.subarray(12), requestId)
}

function aesKey(bytes: ArrayBuffer): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['decrypt'])
}

function decrypt(
  key: CryptoKey,
  iv: Uint8Array<ArrayBuffer>,
  bytes: Uint8Array<ArrayBuffer>,
  requestId: string,
): Promise<ArrayBuffer> {
  const additionalData = encoder.encode(requestId)
  return crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData }, key, bytes)
}

/** In either base64 alphabet. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}
