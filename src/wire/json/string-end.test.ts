// Compares the search for the end of strings, 32 bytes at a time, with a search byte by byte.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { assemble } from '../../../test/support/assemble.ts'
import { blockwiseEnd, hasBlocks } from './string-end.ts'
import { stringEndCode } from './string-end-code.ts'
import { endOfString } from './strings.ts'

const quote = 0x22
const backslash = 0x5c

function bytewiseEnd(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length) {
    if (bytes[at] === quote) return at + 1
    at += bytes[at] === backslash ? 2 : 1
  }
  return -1
}

test('the bytes are those of the text, and run here', () => {
  const text = readFileSync(new URL('string-end.wat', import.meta.url), 'utf8')
  expect(stringEndCode).toBe(assemble(text).toBase64())
  expect(hasBlocks()).toBe(true)
})

test('any bytes, from any place on', () => {
  const byte = fc.constantFrom(quote, backslash, backslash, 0x61, 0x80, 0xa2, 0xdc, 0, 0xff)
  const runs = fc.tuple(byte, fc.constantFrom(1, 1, 2, 3, 15, 16, 31, 32, 33, 64))
  fc.assert(
    fc.property(fc.array(runs, { maxLength: 30 }), fc.nat(100), (pieces, from) => {
      const bytes = Uint8Array.from(pieces.flatMap(([code, count]) => Array(count).fill(code)))
      expect(blockwiseEnd(bytes, from)).toBe(bytewiseEnd(bytes, from))
    }),
    { numRuns: 5_000 },
  )
})

test('masks of every three bytes at every place of two blocks', () => {
  const bytes = new Uint8Array(66).fill(0x61)
  for (let at = 0; at + 3 < bytes.length; at++)
    for (let code = 0; code < 27; code++) {
      const of = (digit: number) => [0x61, quote, backslash][Math.floor(code / digit) % 3] ?? 0
      bytes.set([of(1), of(3), of(9), quote], at)
      expect(blockwiseEnd(bytes, 0)).toBe(bytewiseEnd(bytes, 0))
      bytes.fill(0x61, at, at + 4)
    }
})

/** Where the copied pieces end: 1, 4 and twice 16 KiB. */
const seams = [1_024, 5_120, 21_504, 37_888]

test.each(seams)('a run of backslashes over the end of a piece at %i, split anywhere', (seam) => {
  for (const count of [0, 1, 2, 3, 4, 31, 32, 33, 63, 64, 65])
    for (let before = 0; before <= count + 1; before++) {
      const bytes = new Uint8Array(seam + 100).fill(0x61)
      const start = seam - before
      bytes.fill(backslash, start, start + count)
      bytes[start + count] = quote
      bytes[seam + 90] = quote
      const expected = start + count + 1
      expect(blockwiseEnd(bytes, 0)).toBe(count % 2 === 0 ? expected : seam + 91)
      // The bytes of the previous piece are not read as part of this one.
      expect(blockwiseEnd(bytes.subarray(0, expected), 0)).toBe(count % 2 === 0 ? expected : -1)
    }
})

test('long strings of a document end where they are read to end', () => {
  const piece = fc.constantFrom('"', '\\', '\n', 'word '.repeat(20), 'é', '\\"', '}')
  fc.assert(
    fc.property(fc.array(piece, { minLength: 50, maxLength: 2_000 }), (pieces) => {
      const text = JSON.stringify(pieces.join(''))
      const bytes = new TextEncoder().encode(`[${text},"behind"]`)
      const end = endOfString(bytes, 1)
      expect(end).toBe(1 + new TextEncoder().encode(text).length)
      expect(endOfString(bytes.subarray(0, end - 1), 1)).toBe(-1)
    }),
    { numRuns: 300 },
  )
})
