// Tests that wrapped texts are unwrapped unchanged with their origin, and that no other text is treated as wrapped.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { opaquePrefix, unwrapOpaque, wrapOpaque } from './opaque-state.ts'

const origin = { dialect: 'anthropic-messages', channel: '0a1b2c3d' }

test('any text comes back with its origin, and begins as all do', () => {
  const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 2_000 })
  fc.assert(
    fc.property(fc.oneof(ascii, fc.string({ unit: 'binary' })), (value) => {
      const wrapped = wrapOpaque(value, origin) ?? ''
      expect(wrapped).toStartWith(opaquePrefix)
      expect(unwrapOpaque(wrapped)).toEqual({ origin, value })
    }),
  )
})

test('a text with half a surrogate pair is not wrapped', () => {
  expect(wrapOpaque('a\ud83d', origin)).toBeNull()
})

test.each([
  ['', 'empty'],
  ['EqQBCkYIBxgCKkDx', "a vendor's own"],
  [`${opaquePrefix}*`, 'no base64'],
  [btoa('tg1\nanthropic-messages'), 'cut short'],
  [btoa('tg1\nanthropic-messages\nchannel'), 'without a value'],
])('%j is none: %s', (text) => {
  expect(unwrapOpaque(text)).toBeNull()
})
