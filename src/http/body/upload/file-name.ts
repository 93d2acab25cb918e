// What is kept of a client's own name for a file: never a path, never long.

import { Buffer } from 'node:buffer'

const maxBytes = 255

/** The last part of what may be a path of any system, without control characters; may be empty. */
export function safeName(given: string): string {
  const plain = given.replace(/\p{Cc}|\p{Cf}|\p{Cs}/gu, '')
  const last = plain.slice(Math.max(plain.lastIndexOf('/'), plain.lastIndexOf('\\')) + 1)
  // `C:name` is a path too.
  const name = last.replace(/^(\s*[A-Za-z]:)+/, '').trim()
  return /^\.*$/.test(name) ? '' : shortened(name)
}

/** Its ending says what it is: that stays. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name
  const dot = name.lastIndexOf('.')
  const ending = dot > 0 && Buffer.byteLength(name.slice(dot)) <= 16 ? name.slice(dot) : ''
  let kept = ''
  let bytes = Buffer.byteLength(ending)
  for (const character of name) {
    bytes += Buffer.byteLength(character)
    if (bytes > maxBytes) break
    kept += character
  }
  return kept + ending
}
