// Compares the scanner with JSON.parse, on valid JSON, nearly valid JSON, and malicious input.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isLong } from '../../../test/support/long.ts'
import { bytesOf, linearMs, shortestMs } from '../testing.ts'
import {
  elements,
  expectEnd,
  JsonSyntaxError,
  kindAt,
  members,
  parseSpan,
  skipSpace,
  stringEnd,
  textOf,
  valueEnd,
} from './scan.ts'
import { join, splice } from './splice.ts'

/** Whether the scanner accepts `text` as one JSON value. */
function accepts(text: string): boolean {
  const bytes = bytesOf(text)
  try {
    expectEnd(bytes, valueEnd(bytes, skipSpace(bytes, 0)))
    return true
  } catch (error) {
    if (error instanceof JsonSyntaxError) return false
    throw error
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** JSON.parse is stricter than the scanner only inside strings. */
function plainStrings(text: string): string {
  return text.replaceAll(/"(?:[^"\\]|\\[^])*"/g, '""')
}

const space = fc.constantFrom('', ' ', '\n', '\t\r ')
const spaced = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, 2), space, space)
  .map(([value, indent, before, after]) => before + JSON.stringify(value, null, indent) + after)

describe('against JSON.parse', () => {
  test('whatever is JSON is scanned to its end', () => {
    fc.assert(fc.property(spaced, (text) => expect(accepts(text)).toBe(true)))
  })

  test('JSON with a byte changed, added or removed is judged alike', () => {
    const bytes = fc.constantFrom(...'{}[]",:\\ 0123456789-+.eEtruefalsn'.split(''))
    fc.assert(
      fc.property(spaced, fc.nat(), bytes, fc.nat(2), (text, where, byte, kind) => {
        const at = where % (text.length + 1)
        const changed =
          text.slice(0, at) + (kind > 0 ? byte : '') + text.slice(at + (kind < 2 ? 1 : 0))
        // The scanner does not check escapes inside strings.
        expect(accepts(changed)).toBe(parses(plainStrings(changed)))
      }),
      { numRuns: 2000 },
    )
  })

  test('short texts of structure alone are judged alike', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      '-',
      '.5',
      'e1',
      'true',
      'nul',
      'l',
      ' ',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        expect(accepts(pieces.join(''))).toBe(parses(pieces.join('')))
      }),
      { numRuns: 5000 },
    )
  })

  test('members and elements are those of the parsed value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (value) => {
        const bytes = bytesOf(JSON.stringify(value))
        const found = members(bytes, 0)
        expect(found.map(({ key }) => key)).toEqual(Object.keys(value))
        expect(found.map(({ start, end }) => parseSpan(bytes, start, end))).toEqual(
          Object.values(JSON.parse(JSON.stringify(value))),
        )
      }),
    )
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 3 })), (value) => {
        const bytes = bytesOf(JSON.stringify(value))
        expect(elements(bytes, 0).map(({ start, end }) => parseSpan(bytes, start, end))).toEqual(
          JSON.parse(JSON.stringify(value)),
        )
      }),
    )
  })

  test('strings of any length with any escapes end where they end', () => {
    const unit = fc.constantFrom('\\\\', '\\"', 'a', 'é', '\\u0022', 'bcdefghijklmnopqrstuvwxyz')
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 60 }), (units) => {
        const bytes = bytesOf(`"${units.join('')}"tail"`)
        expect(stringEnd(bytes, 0)).toBe(bytes.length - 5)
      }),
    )
  })
})

test('numbers and literals', () => {
  for (const text of ['0', '-0', '10', '1.5', '-1e9', '1E+2', '1.0e-3', 'true', 'false', 'null']) {
    expect([text, accepts(text)]).toEqual([text, true])
  }
  for (const text of ['', '01', '1.', '.5', '+1', '1e', '-', 'NaN', 'tru', 'nulll', "'a'", '"a']) {
    expect([text, accepts(text)]).toEqual([text, false])
  }
})

test('an error says where and what', () => {
  expect(() => valueEnd(bytesOf('{"a":1,}'), 0)).toThrow('unexpected } at byte 7')
  expect(() => valueEnd(bytesOf('[1'), 0)).toThrow('unexpected end at byte 2')
  expect(() => valueEnd(bytesOf('[\u0001'), 0)).toThrow('unexpected byte 0x01 at byte 1')
})

test('kinds', () => {
  const kinds = ['"a"', '{}', '[]', 'true', 'false', 'null', '-1'].map((text) =>
    kindAt(bytesOf(text), 0),
  )
  expect(kinds).toEqual(['string', 'object', 'array', 'true', 'false', 'null', 'number'])
})

test('short and long spans are read as UTF-8', () => {
  for (const text of ['a', 'é', '😀'.repeat(20), 'x'.repeat(50)]) {
    expect(textOf(bytesOf(text), 0, bytesOf(text).length)).toBe(text)
  }
})

describe('hostile documents are quick and leave the stack alone', () => {
  test.each([
    ['lists in lists', '['.repeat(100_000), false],
    ['closed lists in lists', '['.repeat(100_000) + ']'.repeat(100_000), false],
    ['objects in objects', '{"a":'.repeat(100_000), false],
    ['a million elements', `[${'0,'.repeat(1_000_000)}0]`, true],
    ['a million quotes', `[${'"",'.repeat(500_000)}""]`, true],
    ['a string of backslashes', `"${'\\\\'.repeat(500_000)}"`, true],
    ['an open string of backslashes', `"${'\\\\'.repeat(500_000)}`, false],
    ['an open string of quotes behind backslashes', `"${'\\"'.repeat(500_000)}`, false],
  ])('%s', (_name, text, valid) => {
    const bytes = bytesOf(text)
    const run = (): boolean => {
      try {
        valueEnd(bytes, 0)
        return true
      } catch (error) {
        if (error instanceof JsonSyntaxError) return false
        throw error
      }
    }
    expect(run()).toBe(valid)
    if (isLong) expect(shortestMs(run)).toBeLessThan(linearMs())
  })
})

describe('splice', () => {
  test('edits in any order, none copied that stays', () => {
    const bytes = bytesOf('0123456789')
    const edits = [
      { start: 8, end: 10, text: 'YZ!' },
      { start: 2, end: 4, text: '' },
      { start: 5, end: 5, text: 'é' },
    ]
    const segments = splice(bytes, edits)
    expect(textOf(join(segments), 0, 12)).toBe('014é567YZ!')
    expect(segments[0]?.buffer).toBe(bytes.buffer)
    expect(join([bytes])).toBe(bytes)
  })

  test('overlapping edits are refused', () => {
    const overlap = [
      { start: 0, end: 5, text: '' },
      { start: 4, end: 6, text: '' },
    ]
    expect(() => splice(bytesOf('0123456789'), overlap)).toThrow(RangeError)
    expect(() => splice(bytesOf('01'), [{ start: 0, end: 3, text: '' }])).toThrow(RangeError)
  })
})
