// Compares the search by prefixes with the simple way: look at all prefixes, longest first.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Beginnings } from './beginnings.ts'

test('every beginning of a name is found, the longest first, and of equal ones the first', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '-'), maxLength: 6 })
  fc.assert(
    fc.property(fc.array(text), text, (given, name) => {
      const entries = given.map((beginning, at) => [beginning, at] as const)
      const beginnings = new Beginnings(entries)
      const plain = entries
        .filter(([each], at) => name.startsWith(each) && given.indexOf(each) === at)
        .map(([beginning, value]) => ({ beginning, value }))
        .sort((one, other) => other.beginning.length - one.beginning.length)
      expect([...beginnings.all(name)]).toEqual(plain)
      expect(beginnings.find(name)).toEqual(plain[0])
      expect(beginnings.isEmpty).toBe(given.length === 0)
    }),
  )
})
