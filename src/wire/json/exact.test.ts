// Tests that JSON which is only passed on keeps its numbers.

import { expect, test } from 'bun:test'
import { parsedExactly } from './exact.ts'

test.each([
  '{"id":1234567890123456789,"list":[{"x":1e400}],"y":-12345678901234567890.5}',
  '{"id":9007199254740993,"text":"1234567890123456789","z":-0}',
  '{"plain":1,"fraction":1.5,"none":null}',
])('%s', (text) => {
  expect(JSON.stringify(parsedExactly(text))).toBe(text)
})

test('what is no JSON is refused, whether it has long numbers or not', () => {
  for (const text of ['{"a":', '{"a":1234567890123456789']) {
    expect(() => parsedExactly(text)).toThrow(SyntaxError)
  }
})
