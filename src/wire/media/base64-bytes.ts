// Reads base64 inside JSON as a file with random access: only the requested bytes are decoded.

import type { Bytes } from './sniff.ts'

const BACKSLASH = 0x5c
const PAD = 0x3d
/** Encoders that escape do so at every line or every solidus (one in 64 characters), so that this many show it. */
const lookedAtChars = 8_192
/** Text with escapes (`\/`) is read only this far: offsets after that are unknown. */
const escapedHeadChars = 65_536

/** Six bits per character, for both alphabets of RFC 4648; 255 for all others. */
const values = new Uint8Array(256).fill(255)
for (const alphabet of ['+/', '-_']) {
  const letters = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${alphabet}`
  for (let at = 0; at < letters.length; at++) values[letters.charCodeAt(at)] = at
}

/** The file that `json[start, end)`, the span between the quotes, encodes. Unreadable bytes become zeros. */
export function base64File(json: Uint8Array, start: number, end: number): Bytes {
  const escape = json.subarray(start, Math.min(end, start + lookedAtChars)).indexOf(BACKSLASH)
  if (escape >= 0) return escapedFile(json, start, end)
  let chars = end
  while (chars > start && json[chars - 1] === PAD) chars--
  return {
    size: Math.floor(((chars - start) * 3) / 4),
    read: (from, to) => decoded(json, start, chars, from, to),
  }
}

/** An escape takes two characters: for a solidus, or for a line end, which is skipped. */
function escapedFile(json: Uint8Array, start: number, end: number): Bytes {
  const head = new Uint8Array(Math.min(escapedHeadChars, end - start))
  let length = 0
  for (let at = start; at < end && length < head.length; at++) {
    const code = json[at] ?? 0
    if (code !== BACKSLASH) head[length++] = code
    else if (json[at + 1] === 0x2f) head[length++] = json[++at] ?? 0
    else at++
  }
  return {
    size: Math.floor(((end - start) * 3) / 4),
    read: (from, to) => decoded(head, 0, length, from, to),
  }
}

function decoded(
  chars: Uint8Array,
  start: number,
  end: number,
  from: number,
  to: number,
): Uint8Array {
  const out = new Uint8Array(Math.max(0, to - from))
  for (let byte = from; byte < to; byte++) {
    const at = start + Math.floor(byte / 3) * 4 + (byte % 3)
    if (at + 1 >= end) break
    const [first, second] = [values[chars[at] ?? 0] ?? 255, values[chars[at + 1] ?? 0] ?? 255]
    if (first === 255 || second === 255) break
    const kept = 2 * ((byte % 3) + 1)
    out[byte - from] = (first << kept) | (second >> (6 - kept))
  }
  return out
}
