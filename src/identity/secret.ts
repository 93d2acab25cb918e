// API key secrets: how they are made, checked without a look-up, and kept.

import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

export const secretPrefix = 'sk-tg-'
/** Of keys that manage and call no model. */
export const managementPrefix = 'sk-tgm-'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 32
const checksumLength = 6
/** The 24 random characters behind it are 142 bits. */
const startLength = 8
export const secretLength = secretPrefix.length + randomLength + checksumLength
const tail = new RegExp(`^[0-9A-Za-z]{${randomLength + checksumLength}}$`)

/**
 * A new secret: its prefix, 32 random base62 characters (190 bits), 6 base62 characters of CRC32 over all
 * before them, so that a scanner or the gateway can tell a mistyped one without a look-up.
 */
export function createSecret(prefix = secretPrefix): string {
  const body = prefix + randomBase62(randomLength)
  return body + checksumOf(body)
}

/** Of our form, with the right checksum. Says nothing of whether the key exists. */
export function looksWellFormed(secret: string, prefix = secretPrefix): boolean {
  if (!secret.startsWith(prefix) || !tail.test(secret.slice(prefix.length))) return false
  const bodyEnd = prefix.length + randomLength
  return checksumOf(secret.slice(0, bodyEnd)) === secret.slice(bodyEnd)
}

/** SHA-256, hex: what is kept in place of the secret. With 190 random bits it needs no salt. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** What people may see of a secret: our prefix, where it has it, and the last four characters. */
export function hintOf(secret: string): string {
  const prefix = [secretPrefix, managementPrefix].find((each) => secret.startsWith(each)) ?? ''
  return `${prefix}…${secret.slice(-4)}`
}

/** Of a secret of our form, enough to tell by a part of it which key it is, and too little to guess the rest; else null. */
export function startOf(secret: string): string | null {
  const given = secret.slice(secretPrefix.length, secretPrefix.length + startLength)
  return secret.startsWith(secretPrefix) && given.length === startLength ? given : null
}

/** `length` characters, each of the 62 equally likely. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) {
      // 248 is the largest multiple of 62 in a byte: the rest would favour the first characters.
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
