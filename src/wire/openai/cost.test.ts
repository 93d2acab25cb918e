// Tests what `usage.cost` changes in a reply, byte by byte.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { withCost } from './cost.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function shown(text: string, cost = '0.05'): string {
  return decoder.decode(withCost(encoder.encode(text), cost))
}

test.each([
  [
    'first of the counts',
    '{"usage":{"total_tokens":3}}',
    '{"usage":{"cost":"0.05","total_tokens":3}}',
  ],
  ['into no counts', '{"usage":{ }}', '{"usage":{"cost":"0.05" }}'],
  [
    "over a vendor's number",
    '{"usage":{"a":1,"cost":0.9,"b":2}}',
    '{"usage":{"a":1,"cost":"0.05","b":2}}',
  ],
  ["over a vendor's object", '{"usage":{"cost":{"total":[1,"}"]}}}', '{"usage":{"cost":"0.05"}}'],
  ['over an escaped name', '{"usage":{"c\\u006fst":1}}', '{"usage":{"c\\u006fst":"0.05"}}'],
  ['in a frame', 'data: {"usage":{"a":1}}\n\n', 'data: {"usage":{"cost":"0.05","a":1}}\n\n'],
])('goes %s', (_where, before, after) => {
  expect(shown(before)).toBe(after)
})

test.each([
  '',
  'data: [DONE]\n\n',
  ': keep-alive\n\n',
  '{}',
  '{"usage":null}',
  '{"usage":"{}"}',
  '{"choices":[{"usage":{"a":1}}]}',
  '{"text":"\\"usage\\":{}"}',
  '{"usage":{"a":1}',
  '{"usage":{"a" 1}}',
  'data: {broken\n\n',
])('%j stays as it was', (text) => {
  expect(shown(text)).toBe(text)
})

test('nothing else of a reply changes', () => {
  const names = fc.string().filter((name) => name !== 'usage' && name !== 'cost')
  const documents = fc.record({
    rest: fc.dictionary(names, fc.jsonValue()),
    counts: fc.dictionary(names, fc.jsonValue()),
    indent: fc.integer({ min: 0, max: 3 }),
    had: fc.option(fc.jsonValue()),
  })
  fc.assert(
    fc.property(documents, ({ rest, counts, indent, had }) => {
      const usage = had === null ? counts : { ...counts, cost: had }
      const text = shown(JSON.stringify({ ...rest, usage }, null, indent), '12.5')
      const expected = { ...rest, usage: { ...counts, cost: '12.5' } }
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(expected)))
    }),
  )
})
