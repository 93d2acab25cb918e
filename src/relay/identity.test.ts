// Tests the count of bytes of text in a reply that is passed on in pieces of any length, and what is kept of it.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Vendor } from '../vendors/vendor.ts'
import type { IdentitySide } from '../wire/dialect.ts'
import { dialects } from '../wire/dialects.ts'
import { IdentityWhole, Occurrences, Tail } from './identity.ts'
import type { RelayRequest } from './request.ts'

test('a text is counted once, wherever it is cut', () => {
  const whole = Buffer.from('"x"..."x""x"."x')
  for (let pieceBytes = 1; pieceBytes <= whole.length; pieceBytes++) {
    const occurrences = new Occurrences('"x"')
    for (let at = 0; at < whole.length; at += pieceBytes)
      occurrences.push(whole.subarray(at, at + pieceBytes))
    expect(occurrences.count).toBe(3)
  }
})

test('the end of bytes that pass by is kept, however they are cut', () => {
  const lengths = fc.array(fc.nat(50), { maxLength: 40 })
  const kept = fc.property(lengths, fc.integer({ min: 1, max: 30 }), (pieces, least) => {
    const tail = new Tail(least)
    const passed: number[] = []
    for (const length of pieces) {
      const piece = Array.from({ length }, (_, at) => (passed.length + at) % 251)
      tail.push(Uint8Array.from(piece))
      passed.push(...piece)
    }
    const { length } = tail.bytes
    expect(length).toBeGreaterThanOrEqual(Math.min(least, passed.length))
    expect([...tail.bytes]).toEqual(passed.slice(passed.length - length))
  })
  fc.assert(kept, { numRuns: 500 })
})

test('a reply that passes through is judged by its end, though what was emitted is gone', () => {
  const [pieceBytes, count] = [300_000, 8]
  const seen: { end: string; items: number | undefined }[] = []
  const format = {
    itemMark: '"item"',
    tail(bytes: Uint8Array, _: unknown, __: unknown, items?: number) {
      seen.push({ end: Buffer.from(bytes).toString('latin1').slice(-20), items })
      return { usage: null, finishReason: null, model: null }
    },
  } as unknown as IdentitySide
  let emitted = 0
  let completed = 0
  const unasked = (): never => {
    throw new Error('not to be called')
  }
  const path = new IdentityWhole(
    { peek: {}, dialect: dialects['openai-images'] } as unknown as RelayRequest,
    format,
    { quirks: {} } as Vendor,
    {
      emit(bytes) {
        emitted += bytes.length
        bytes.fill(0)
      },
      semantic: () => undefined,
      completed: () => void completed++,
      answered: unasked,
      failed: unasked,
    },
    () => null,
  )
  for (let at = 0; at < count; at++) {
    const piece = Buffer.alloc(pieceBytes, 'a')
    // The end of a piece divides it.
    if (at > 0) piece.write('em"')
    piece.write('"it', pieceBytes - 3)
    if (at === count - 1) piece.write('"usage":{"output":7}', pieceBytes - 20)
    path.bytes(piece)
  }
  path.end()
  expect(seen).toEqual([{ end: '"usage":{"output":7}', items: count - 1 }])
  expect([emitted, completed]).toEqual([count * pieceBytes, 1])
})
