// Makes a client's file name safe to keep: without a path, and short.

import { Buffer } from 'node:buffer'

const maxBytes = 255

/** The last part of a path of any operating system, without control characters; may be empty. */
export function safeName(given: string): string {
  const plain = given.replace(/\p{Cc}|\p{Cf}|\p{Cs}/gu, '')
  const last = plain.slice(Math.max(plain.lastIndexOf('/'), plain.lastIndexOf('\\')) + 1)
  // On Windows `C:name` is a path too.
  const name = last.replace(/^(\s*[A-Za-z]:)+/, '').trim()
  return /^\.*$/.test(name) ? '' : shortened(name)
}

/** Shortens the name but keeps its extension, which tells the type. */
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
