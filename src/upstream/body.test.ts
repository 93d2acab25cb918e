// Tests reply bodies: taken out of their framing however they are divided, and refused if the framing is broken.

import { expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { BodyDecoder, BodyError } from './body.ts'
import type { Framing } from './head.ts'

/** Feeds the pieces one after another; returns the text, and what was left over of them. */
function decode(framing: Framing, pieces: readonly Buffer[]) {
  let text = ''
  const decoder = new BodyDecoder(framing, {
    bytes: (chunk) => {
      text += Buffer.from(chunk).toString('latin1')
    },
  })
  let left = 0
  for (const piece of pieces) {
    // As on the connection: one byte precedes the body in the first piece.
    const padded = Buffer.concat([Buffer.from('?'), piece])
    left += decoder.done ? piece.length : piece.length - decoder.push(padded, 1)
  }
  return { text, done: decoder.done, left }
}

const chunked: Framing = { kind: 'chunked' }
const wire = '5\r\nhello\r\nA;ext=1\r\n 0123\r\n89\0\r\n1\r\n!\r\n0\r\nx-sum: 1\r\n\r\n'
const text = 'hello 0123\r\n89\0!'

test('chunks cut at every byte, and at every two, come out the same', () => {
  const whole = Buffer.from(wire)
  for (let one = 0; one <= whole.length; one++) {
    for (let two = one; two <= whole.length; two++) {
      const pieces = [whole.subarray(0, one), whole.subarray(one, two), whole.subarray(two)]
      expect({ one, two, ...decode(chunked, pieces) }).toEqual({
        one,
        two,
        text,
        done: true,
        left: 0,
      })
    }
  }
})

test('any body in any chunks, cut anywhere, comes out the same', () => {
  const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 12 })
  fc.assert(
    fc.property(
      pieces,
      fc.array(fc.nat(600), { maxLength: 20 }),
      fc.boolean(),
      (parts, cuts, upper) => {
        const sized = parts.map((part) => {
          const size = part.length.toString(16)
          return Buffer.concat([
            Buffer.from(`${upper ? size.toUpperCase().padStart(3, '0') : size}\r\n`),
            part,
            Buffer.from('\r\n'),
          ])
        })
        const whole = Buffer.concat([...sized, Buffer.from('0\r\n\r\n')])
        const places = [
          0,
          ...cuts.map((cut) => cut % whole.length).sort((a, b) => a - b),
          whole.length,
        ]
        const cut = places.slice(1).map((end, n) => whole.subarray(places[n], end))
        expect(decode(chunked, cut)).toEqual({
          text: Buffer.concat(parts).toString('latin1'),
          done: true,
          left: 0,
        })
      },
    ),
  )
})

test('a length takes as many bytes and leaves the rest', () => {
  const framing: Framing = { kind: 'length', bytes: 5 }
  expect(decode(framing, [Buffer.from('he'), Buffer.from('llo!!')])).toEqual({
    text: 'hello',
    done: true,
    left: 2,
  })
  expect(decode(framing, [Buffer.from('hell')])).toEqual({ text: 'hell', done: false, left: 0 })
  expect(decode({ kind: 'length', bytes: 0 }, [])).toEqual({ text: '', done: true, left: 0 })
  expect(decode({ kind: 'none' }, [])).toEqual({ text: '', done: true, left: 0 })
})

test('without a length all belongs to the body', () => {
  const pieces = [Buffer.from('he'), Buffer.from('llo')]
  expect(decode({ kind: 'until-close' }, pieces)).toEqual({ text: 'hello', done: false, left: 0 })
})

test('what follows the last chunk is left', () => {
  expect(decode(chunked, [Buffer.from('1\r\na\r\n0\r\n\r\nHTTP')])).toEqual({
    text: 'a',
    done: true,
    left: 4,
  })
})

const broken: Readonly<Record<string, string>> = {
  'no size': '\r\nhello\r\n',
  'a size that is no number': 'zz\r\n',
  'a negative size': '-1\r\n',
  'a size with 0x': '0x5\r\nhello\r\n',
  'a size with a blank before it': ' 5\r\nhello\r\n',
  'a size beyond bounds': '100000000\r\n',
  'a size with an underscore': '1_0\r\n',
  'a size line with a bare LF': '5\nhello\r\n',
  'an extension with a bare LF': '5;a\nb\r\nhello\r\n',
  'a chunk longer than its size': '5\r\nhello!\r\n',
  'a chunk followed by a bare LF': '5\r\nhello\n',
  'a chunk shorter than its size': '6\r\nhello\r\n0\r\n\r\n',
  'a size line without end': '1'.repeat(2_000),
  'an extension without end': `5;${'a'.repeat(2_000)}`,
  'a trailer without end': `0\r\n${'x: 1234567890\r\n'.repeat(2_000)}`,
  'a trailer with a bare LF': '0\r\nx: 1\n\r\n',
}

for (const [name, bytes] of Object.entries(broken)) {
  test(`refuses ${name}, whole and byte by byte`, () => {
    const whole = Buffer.from(bytes)
    expect(() => decode(chunked, [whole])).toThrow(BodyError)
    const single = [...whole].map((byte) => Buffer.from([byte]))
    expect(() => decode(chunked, single)).toThrow(BodyError)
  })
}
