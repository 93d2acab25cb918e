// Keys as operators paste them: PEM, or the Base64 alone that providers' consoles show.

import { Buffer } from 'node:buffer'
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'

function tried(forms: readonly (() => KeyObject)[]): KeyObject | null {
  for (const form of forms) {
    try {
      return form()
    } catch {
      // The next form may fit.
    }
  }
  return null
}

/** null where it is no key. */
export function readPrivateKey(text: string): KeyObject | null {
  const der = Buffer.from(text, 'base64')
  return tried([
    () => createPrivateKey(text),
    () => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
    () => createPrivateKey({ key: der, format: 'der', type: 'pkcs1' }),
  ])
}

/** Of a public key or a certificate; null where it is neither. */
export function readPublicKey(text: string): KeyObject | null {
  const der = Buffer.from(text, 'base64')
  return tried([
    () => createPublicKey(text),
    () => createPublicKey({ key: der, format: 'der', type: 'spki' }),
  ])
}

/** Throws naming the setting. */
export function needKey(key: KeyObject | null, setting: string): KeyObject {
  if (key === null) throw new Error(`payments.${setting} is no RSA key that can be read`)
  return key
}
