// Encrypts stored texts with AES-256-GCM, under a key for each purpose that is derived from the deployment's key.

import { Buffer } from 'node:buffer'
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export interface SecretBox {
  /** `place`: where the text is kept; moved to another place, it cannot be decrypted. */
  encrypt(text: string, place?: string): string
  /** Throws if the text was encrypted under another key or for another place, or was changed since. */
  decrypt(encrypted: string, place?: string): string
}

const nonceBytes = 12
const tagBytes = 16

/** Each purpose has its own key, so that text encrypted for one cannot be used for another. */
export function createSecretBox(deploymentKey: Uint8Array, purpose: string): SecretBox {
  const key = Buffer.from(hkdfSync('sha256', deploymentKey, '', `tollgate ${purpose}`, 32))
  return {
    encrypt(text, place = '') {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64')
    },
    decrypt(encrypted, place = '') {
      const bytes = Buffer.from(encrypted, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
      decipher.setAAD(Buffer.from(place))
      decipher.setAuthTag(bytes.subarray(-tagBytes))
      const body = decipher.update(bytes.subarray(nonceBytes, -tagBytes))
      return Buffer.concat([body, decipher.final()]).toString('utf8')
    },
  }
}
