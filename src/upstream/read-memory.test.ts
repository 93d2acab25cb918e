// Tests that the memory of large reads is given back once, and that other memory never is.

import { expect, test } from 'bun:test'
import { BodyDecoder } from './body.ts'
import { giveBack, noteRead } from './read-memory.ts'

const large = 131_072

test('a noted read is empty once its last bytes are given back', () => {
  const read = Buffer.allocUnsafeSlow(large).fill(7)
  noteRead(read)
  giveBack(read.subarray(0, 65_536))
  expect(read.length).toBe(large)
  const last = read.subarray(65_536)
  giveBack(last)
  expect([read.length, last.length]).toEqual([0, 0])
  giveBack(read)
})

test.each([
  ['never noted', (bytes: Buffer) => bytes],
  ['a part of a buffer', (bytes: Buffer) => bytes.subarray(0, -1)],
  ['short', () => Buffer.allocUnsafeSlow(100)],
])('what is %s stays', (how, bytesOf) => {
  const bytes = bytesOf(Buffer.allocUnsafeSlow(large))
  const { length } = bytes
  if (how !== 'never noted') noteRead(bytes)
  giveBack(bytes)
  expect(bytes.length).toBe(length)
})

test('of a reply those reads are noted that end in its body', () => {
  const decoder = new BodyDecoder({ kind: 'length', bytes: 3 * large }, { bytes: () => undefined })
  const reads = [1, 2, 3, 4].map(() => Buffer.allocUnsafeSlow(large))
  // A head before the first, another message after the last.
  for (const [at, read] of reads.entries()) decoder.push(read, at === 0 ? 1_000 : 0)
  for (const read of reads) giveBack(read)
  expect(reads.map(({ length }) => length)).toEqual([0, 0, 0, large])
})
