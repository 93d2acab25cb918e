// Parses keys as operators paste them: PEM, or the bare Base64 that providers' consoles show.

import { Buffer } from 'node:buffer'
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'

function tried(forms: readonly (() => KeyObject)[]): KeyObject | null {
  for (const form of forms) {
    try {
      return form()
    } catch {
      // Try the next form.
    }
  }
  return null
}

/** null if the text is no private key. */
export function readPrivateKey(text: string): KeyObject | null {
  const der = Buffer.from(text, 'base64')
  return tried([
    () => createPrivateKey(text),
    () => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
    () => createPrivateKey({ key: der, format: 'der', type: 'pkcs1' }),
  ])
}

/** From a public key or a certificate; null if the text is neither. */
export function readPublicKey(text: string): KeyObject | null {
  const der = Buffer.from(text, 'base64')
  return tried([
    () => createPublicKey(text),
    () => createPublicKey({ key: der, format: 'der', type: 'spki' }),
  ])
}

/** Throws an error that names the setting if the key is null. */
export function needKey(key: KeyObject | null, setting: string): KeyObject {
  if (key === null) throw new Error(`payments.${setting} is no RSA key that can be read`)
  return key
}
