// Tests finding the end of an object, however its text is divided.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ObjectEnd } from './nesting.ts'

function endsAt(text: string, cuts: readonly number[]): boolean[] {
  const end = new ObjectEnd()
  const places = [0, ...cuts.map((at) => at % (text.length + 1)).sort((a, b) => a - b)]
  return places.map((at, index) => {
    end.push(text.slice(at, places[index + 1]))
    return end.whole
  })
}

test('an object is whole with its last bracket, and not before, whatever its strings hold', () => {
  const objects = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())
  fc.assert(
    fc.property(objects, fc.array(fc.nat(200)), fc.boolean(), (value, cuts, spaced) => {
      const text = JSON.stringify(value, null, spaced ? 2 : 0)
      expect(endsAt(`${text} \n`, cuts).at(-1)).toBe(true)
      expect(endsAt(text.slice(0, -1), cuts).at(-1)).toBe(false)
    }),
  )
})

test.each(['', ' ', '[1]', '"{}"', '{}{', '{} x', '1', '}{'])('%j is none', (text) => {
  expect(endsAt(text, []).at(-1)).toBe(false)
})
