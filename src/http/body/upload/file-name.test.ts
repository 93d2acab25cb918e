// Tests that a file name from a client is never used as a path.

import { expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { safeName } from './file-name.ts'

test.each([
  ['a.png', 'a.png'],
  ['../../etc/passwd', 'passwd'],
  ['..\\..\\x.png', 'x.png'],
  ['C:\\x.png', 'x.png'],
  ['C:x.png', 'x.png'],
  ['/abs/y.wav', 'y.wav'],
  ['..', ''],
  ['.', ''],
  ['dir/', ''],
  ['a\r\nb\0.png', 'ab.png'],
  ['gpj\u202egnp.exe', 'gpjgnp.exe'],
  ['  spaced .png ', 'spaced .png'],
  ['grün 图.png', 'grün 图.png'],
  [`${'ü'.repeat(200)}.flac`, `${'ü'.repeat(125)}.flac`],
])('%j is %j', (given, name) => expect(safeName(given)).toBe(name))

test('whatever is given', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (given) => {
      const name = safeName(given)
      expect(name).not.toMatch(/[/\\\p{Cc}]/u)
      expect(name).not.toMatch(/^\.+$/)
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
    }),
  )
})
