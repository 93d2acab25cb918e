// What bytes are by how they begin: servers often say what is not so.

import { Buffer } from 'node:buffer'

/** So many bytes at a beginning decide. */
export const decisiveBytes = 64

/** By the specifications of the formats; bytes in hex, `.` for any digit. */
const beginnings: readonly (readonly [type: string, hex: RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646.{8}57454250/],
  ['image/avif', /^.{8}66747970617669(66|73)/],
  ['audio/wav', /^52494646.{8}57415645/],
  ['audio/flac', /^664c6143/],
  ['audio/ogg', /^4f676753/],
  ['audio/mpeg', /^(494433|fff[ab23])/],
  ['audio/mp4', /^.{8}667479704d3441/],
  ['video/quicktime', /^.{8}6674797071742020/],
  ['video/mp4', /^.{8}66747970/],
  ['video/webm', /^1a45dfa3/],
]

/** Media type of what begins so; null where that says nothing. */
export function sniffedType(bytes: Uint8Array): string | null {
  const hex = Buffer.from(bytes.subarray(0, decisiveBytes)).toString('hex')
  return beginnings.find(([, beginning]) => beginning.test(hex))?.[0] ?? null
}

/** A page for people, in place of what was asked for. */
export function isPage(mediaType: string, bytes: Uint8Array): boolean {
  if (mediaType === 'text/html' || mediaType === 'application/xhtml+xml') return true
  const text = Buffer.from(bytes.subarray(0, decisiveBytes)).toString('latin1')
  return /^\W*<(!doctype html|html)\b/i.test(text)
}
