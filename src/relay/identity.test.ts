// A text counted in bytes that pass by in pieces of any length.

import { expect, test } from 'bun:test'
import { Occurrences } from './identity.ts'

test('a text is counted once, wherever it is cut', () => {
  const whole = Buffer.from('"x"..."x""x"."x')
  for (let pieceBytes = 1; pieceBytes <= whole.length; pieceBytes++) {
    const occurrences = new Occurrences('"x"')
    for (let at = 0; at < whole.length; at += pieceBytes)
      occurrences.push(whole.subarray(at, at + pieceBytes))
    expect(occurrences.count).toBe(3)
  }
})
