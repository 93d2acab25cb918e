// Secrets of API keys: how they are generated, checked without a lookup, hashed and shown.

import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

export const secretPrefix = 'sk-tg-'
/** Prefix of management keys, which call no model. */
export const managementPrefix = 'sk-tgm-'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 32
const checksumLength = 6
/** The remaining 24 random characters are 142 bits. */
const startLength = 8
export const secretLength = secretPrefix.length + randomLength + checksumLength
const tail = new RegExp(`^[0-9A-Za-z]{${randomLength + checksumLength}}$`)

/**
 * A new secret: its prefix, 32 random base62 characters (190 bits), and 6 base62 characters of CRC32 over all before,
 * so that a scanner or the gateway can detect a mistyped one without a lookup.
 */
export function createSecret(prefix = secretPrefix): string {
  const body = prefix + randomBase62(randomLength)
  return body + checksumOf(body)
}

/** Whether a secret has our form and the right checksum; it need not exist. */
export function looksWellFormed(secret: string, prefix = secretPrefix): boolean {
  if (!secret.startsWith(prefix) || !tail.test(secret.slice(prefix.length))) return false
  const bodyEnd = prefix.length + randomLength
  return checksumOf(secret.slice(0, bodyEnd)) === secret.slice(bodyEnd)
}

/** SHA-256, hex: stored instead of the secret. With 190 random bits it needs no salt. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** The part of a secret that people may see: our prefix, if it has it, and the last four characters. */
export function hintOf(secret: string): string {
  const prefix = [secretPrefix, managementPrefix].find((each) => secret.startsWith(each)) ?? ''
  return `${prefix}…${secret.slice(-4)}`
}

/** First 8 random characters of a secret of our form, enough to identify the key, too few to guess it; else null. */
export function startOf(secret: string): string | null {
  const given = secret.slice(secretPrefix.length, secretPrefix.length + startLength)
  return secret.startsWith(secretPrefix) && given.length === startLength ? given : null
}

/** `length` random characters, each of the 62 equally likely. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) {
      // 248 is the largest multiple of 62 in a byte: higher bytes would favour the first characters.
      if (byte < 248) text += alphabet.charAt(byte % 62)
    }
  }
  return text
}

function checksumOf(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let place = 0; place < checksumLength; place += 1) {
    text = alphabet.charAt(rest % 62) + text
    rest = Math.floor(rest / 62)
  }
  return text
}
