// A pair of X25519 keys for sealed messages, made in the browser; in the form of the file of `tollgate history keygen`.

export interface HistoryKeys {
  readonly publicKey: string
  readonly secretKey: string
}

/** Rejects if the browser cannot make such keys. */
export async function makeKeys(): Promise<HistoryKeys> {
  const pair = await crypto.subtle.generateKey('X25519', true, ['deriveBits'])
  if (!('privateKey' in pair)) throw new Error('This browser makes no X25519 keys.')
  const { x, d } = await crypto.subtle.exportKey('jwk', pair.privateKey)
  if (x === undefined || d === undefined) throw new Error('This browser makes no X25519 keys.')
  return { publicKey: x, secretKey: d }
}
