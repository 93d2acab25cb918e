// Tests taking text out of the arguments that contain it, however they are divided.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FreeInput } from './free-input.ts'

function read(pieces: readonly string[]): string {
  const input = new FreeInput()
  const text = pieces.map((piece) => input.push(piece)).join('')
  return text + input.end()
}

const whole = (text: string): string => read([text])

describe('a text under `input`', () => {
  test('comes out as it went in, wherever the arguments are cut', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.boolean(),
        fc.array(fc.nat(400), { maxLength: 8 }),
        (text, spaced, cuts) => {
          const json = JSON.stringify({ input: text }, null, spaced ? 2 : 0)
          const places = [0, ...cuts.map((at) => at % (json.length + 1)).sort((a, b) => a - b)]
          const pieces = places.map((at, index) => json.slice(at, places[index + 1]))
          expect(read(pieces)).toBe(text)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('comes out as soon as it is there', () => {
    const input = new FreeInput()
    expect(
      ['{"inp', 'ut": "*** Be', 'gin\\', 'n+x\\u00', '41"}'].map((piece) => input.push(piece)),
    ).toEqual(['', '*** Be', 'gin', '\n+x', 'A'])
    expect(input.end()).toBe('')
  })

  test('ends where it is broken off', () => {
    expect(whole('{"input":"half a li')).toBe('half a li')
    expect(whole('{"input":"half\\u00')).toBe('half')
  })
})

describe('arguments of another form', () => {
  test.each([
    ['{"patch":"*** Begin"}', '*** Begin'],
    ['{"reason":1,"input":"x"}', 'x'],
    ['"a text"', 'a text'],
    ['*** Begin Patch\n', '*** Begin Patch\n'],
    ['{"a":"x","b":"y"}', '{"a":"x","b":"y"}'],
    ['{"input":{"deep":1}}', '{"input":{"deep":1}}'],
    ['[1]', '[1]'],
    ['{}', ''],
    ['', ''],
  ])('%j is taken for %j', (given, expected) => {
    expect(whole(given)).toBe(expected)
  })
})
