// Codes that people type: without letters that are easily confused, and stored as hashes only.

import { createHash, randomBytes } from 'node:crypto'

/** Crockford's base 32 (https://www.crockford.com/base32.html). */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A code of `length` letters with five bits each, in groups of five: `4KQ7D-...`. */
export function randomCode(length: number): string {
  const all = Array.from(randomBytes(length), (byte) => letters[byte % letters.length])
  return all.join('').replace(/(.{5})(?=.)/g, '$1-')
}

/** Accepts codes as people type them: lower case, blanks, O for 0. */
export function codeHash(code: string): string {
  const read = code
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
  return createHash('sha256').update(read).digest('hex')
}
