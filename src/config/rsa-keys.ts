// Parses RSA keys as operators paste them: PEM, or the bare Base64 that providers' consoles show.

import { Buffer } from 'node:buffer'
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'

function tried(forms: readonly (() => KeyObject)[]): KeyObject | null {
  for (const form of forms) {
    try {
      const key = form()
      return key.asymmetricKeyType === 'rsa' ? key : null
    } catch {
      // Try the next form.
    }
  }
  return null
}

/** null if the text is no private RSA key. */
export function readPrivateKey(text: string): KeyObject | null {
  const der = Buffer.from(text, 'base64')
  return tried([
    () => createPrivateKey(text),
    () => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
    () => createPrivateKey({ key: der, format: 'der', type: 'pkcs1' }),
  ])
}

/** From a public RSA key or a certificate of one; null if the text is neither. */
export function readPublicKey(text: string): KeyObject | null {
  const der = Buffer.from(text, 'base64')
  return tried([
    () => createPublicKey(text),
    () => createPublicKey({ key: der, format: 'der', type: 'spki' }),
  ])
}
