// Tests removing members from JSON texts, wherever they are.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { JsonSyntaxError } from './scan.ts'
import { join, splice } from './splice.ts'
import { cutting, withoutMember } from './without.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function cut(text: string, key = 'x'): readonly [string, string] | null {
  const found = withoutMember(encoder.encode(text), key)
  return found === null ? null : [decoder.decode(found.bytes), found.value]
}

test.each([
  ['{"x":1}', '{}', '1'],
  ['{ "x" : 1 }', '{  }', '1'],
  ['{"x":1,"a":2}', '{"a":2}', '1'],
  ['{"a":2,"x":1}', '{"a":2}', '1'],
  ['{"a":2 , "x" : "0.5" }', '{"a":2 }', '"0.5"'],
  ['{"a":2,"x":{"y":[1,"}"]},"b":3}', '{"a":2,"b":3}', '{"y":[1,"}"]}'],
  ['\n {"a":2,\n"x":null,\n"b":3}\n', '\n {"a":2,\n"b":3}\n', 'null'],
  ['{"\\u0078":true,"a":1}', '{"a":1}', 'true'],
])('%j without x is %j', (before, after, value) => {
  expect(cut(before)).toEqual([after, value])
})

test.each(['{}', '{"a":{"x":1}}', '{"a":"x"}', '{"X":1}'])('%j has no x', (text) => {
  expect(cut(text)).toBeNull()
})

test.each(['', '[]', '{"x":1', '{"x" 1}', '"x"'])('%j is no object', (text) => {
  expect(() => cut(text)).toThrow(JsonSyntaxError)
})

test('what is left is the object without the member, wherever it stood', () => {
  const values = fc.uniqueArray(fc.tuple(fc.string(), fc.jsonValue()), {
    selector: ([name]) => name,
    minLength: 1,
  })
  fc.assert(
    fc.property(values, fc.nat(), fc.integer({ min: 0, max: 3 }), (entries, at, indent) => {
      // Uses Object.fromEntries, which puts numeric names first.
      const whole = Object.fromEntries(entries)
      const [key, value] = Object.entries(whole)[at % entries.length] ?? ['', null]
      const found = cut(JSON.stringify(whole, null, indent), key)
      const rest = Object.fromEntries(Object.entries(whole).filter(([name]) => name !== key))
      expect(JSON.parse(found?.[0] ?? '')).toEqual(JSON.parse(JSON.stringify(rest)))
      expect(JSON.parse(found?.[1] ?? '')).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('what is cut out is not edited any more', () => {
  const edits = [8, 5, 0, 4, 2].map((start) => ({ start, end: start + 1, text: '_' }))
  const spans = [
    { start: 1, end: 3 },
    { start: 5, end: 8 },
  ]
  const cutOut = join(splice(encoder.encode('0123456789'), cutting(edits, spans)))
  expect(decoder.decode(cutOut)).toBe('_3__9')
})
