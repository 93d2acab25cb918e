// Finds where JSON strings end, and caches the ends of long ones for a document that is walked more than once.

import { blockwiseEnd, hasBlocks } from './string-end.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Within this many bytes a loop beats `indexOf`, where quotes are fewer than DENSE bytes apart. */
const NEAR = 24
const DENSE = 12
/** After this many escaped quotes in one string, more are likely, so that the blockwise search pays. */
const MANY = 4
/** Only ends of strings longer than this are cached. */
const LONG = 256
const nothing = new Uint8Array(0)
/** The document whose long strings are cached, and a hash table of their ends. */
let remembered: Uint8Array = nothing
const longStarts = new Int32Array(1_024)
const longEnds = new Int32Array(1_024)
let anyLong = false

function slotOf(open: number): number {
  return Math.imul(open, 0x9e3779b1) >>> 22
}

/** Caches the ends of long strings of `bytes` until `forgetStrings`, for a document that is walked more than once. */
export function rememberStrings(bytes: Uint8Array): void {
  forgetStrings()
  remembered = bytes
}

export function forgetStrings(): void {
  if (anyLong) longStarts.fill(0)
  anyLong = false
  remembered = nothing
}

/** The offset after the string whose opening quote is at `open`; -1 where it has no end. */
export function endOfString(bytes: Uint8Array, open: number): number {
  const stop = Math.min(open + 1 + NEAR, bytes.length)
  let at = open + 1
  while (at < stop) {
    const code = bytes[at]
    if (code === QUOTE) return at + 1
    at += code === BACKSLASH ? 2 : 1
  }
  if (bytes !== remembered) return longStringEnd(bytes, at)
  const slot = slotOf(open)
  if (longStarts[slot] === open + 1) return longEnds[slot] ?? 0
  const end = longStringEnd(bytes, at)
  if (end - open > LONG) {
    longStarts[slot] = open + 1
    longEnds[slot] = end
    anyLong = true
  }
  return end
}

/** The offset after a string that continues at `from`, not within an escape; -1 where it has no end. */
function longStringEnd(bytes: Uint8Array, from: number): number {
  let at = from
  let near = false
  for (let met = 0; ; met++) {
    if (met === MANY && hasBlocks()) return blockwiseEnd(bytes, at)
    if (near) {
      const stop = Math.min(at + NEAR, bytes.length)
      while (at < stop) {
        const code = bytes[at]
        if (code === QUOTE) return at + 1
        at += code === BACKSLASH ? 2 : 1
      }
    }
    const quote = bytes.indexOf(QUOTE, at)
    if (quote < 0) return -1
    let before = quote
    while (before > at && bytes[before - 1] === BACKSLASH) before--
    if (((quote - before) & 1) === 0) return quote + 1
    near = quote - at < DENSE
    at = quote + 1
  }
}
