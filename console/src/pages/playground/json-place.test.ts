// Compares the position of an error in JSON with the runtime's own reader.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { breakOf } from './json-place.ts'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('what the runtime reads has no break, and what it refuses has one within it', () => {
  const whole = fc.json().map((text) => text.replaceAll(',', ' ,\n'))
  const cut = fc.tuple(whole, fc.nat(), fc.constantFrom('', '}', ',', '"', 'x', '1', ' ', '\\'))
  fc.assert(
    fc.property(cut, ([text, place, put]) => {
      const at = place % (text.length + 1)
      const changed = text.slice(0, at) + put + text.slice(at + 1)
      const found = breakOf(changed)
      expect(found === null).toBe(isJson(changed))
      expect(found ?? 0).toBeLessThanOrEqual(changed.length)
    }),
  )
})

test.each([
  ['[\n  {"type": }\n]', 13],
  ['[1, 2', 5],
  ['{"a" 1}', 5],
  ['{a: 1}', 1],
  ['[1,]', 3],
  ['[] x', 3],
  ['', 0],
])('%j breaks at %d', (text, at) => {
  expect(breakOf(text)).toBe(at)
})
