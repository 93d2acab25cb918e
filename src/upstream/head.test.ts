// Tests heads of replies: what is read from a valid one, and that a doubtful one is refused.

import { expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { isLong } from '../../test/support/long.ts'
import { HeadError, parseHead } from './head.ts'

/** A head as sent on the connection, without its blank line. */
function parse(...lines: string[]) {
  const bytes = Buffer.from(lines.join('\r\n'), 'latin1')
  return parseHead(bytes, bytes.length)
}

const ok = 'HTTP/1.1 200 OK'

test('reads status, framing, coding and whether the connection may be kept', () => {
  const cases: readonly [lines: string[], expected: object][] = [
    [
      [ok, 'content-length: 5'],
      { status: 200, framing: { kind: 'length', bytes: 5 }, keepAlive: true },
    ],
    [[ok, 'Content-Length:5'], { framing: { kind: 'length', bytes: 5 } }],
    [[ok, 'content-length: 5', 'content-length: 5'], { framing: { kind: 'length', bytes: 5 } }],
    [[ok, 'content-length: 0'], { framing: { kind: 'length', bytes: 0 } }],
    [[ok, 'transfer-encoding: Chunked'], { framing: { kind: 'chunked' }, keepAlive: true }],
    [[ok], { framing: { kind: 'until-close' }, keepAlive: false }],
    [['HTTP/1.1 204 No Content'], { status: 204, framing: { kind: 'none' }, keepAlive: true }],
    [['HTTP/1.1 204 X', 'content-length: 5'], { framing: { kind: 'none' } }],
    [['HTTP/1.1 304 X', 'content-length: 5'], { framing: { kind: 'none' } }],
    [['HTTP/1.1 100 Continue'], { status: 100, framing: { kind: 'none' } }],
    [['HTTP/1.1 200'], { status: 200 }],
    [['HTTP/1.1 200 '], { status: 200 }],
    [['HTTP/1.1 529 Très occupé', 'content-length: 0'], { status: 529 }],
    [[ok, 'content-length: 5', 'connection: close'], { keepAlive: false }],
    [[ok, 'content-length: 5', 'Connection: X-Hop, Close'], { keepAlive: false }],
    [['HTTP/1.0 200 OK', 'content-length: 5'], { keepAlive: false }],
    [['HTTP/1.0 200 OK', 'content-length: 5', 'connection: keep-alive'], { keepAlive: true }],
    [[ok, 'content-encoding: GZIP'], { contentEncoding: 'gzip' }],
    [[ok, 'content-encoding: identity'], { contentEncoding: null }],
    [[ok, 'content-encoding:'], { contentEncoding: null }],
  ]
  for (const [lines, expected] of cases) expect(parse(...lines)).toMatchObject(expected)
})

test('looks fields up in any case, trims them, and joins repeated ones', () => {
  const head = parse(ok, 'X-One: \t a b \t', 'x-two: 1', 'X-TWO: 2', 'x-empty:', 'y-one: no')
  expect(head.header('x-one')).toBe('a b')
  expect(head.header('x-two')).toBe('1, 2')
  expect(head.header('x-empty')).toBe('')
  expect(head.header('x-none')).toBeNull()
})

const refused: Readonly<Record<string, string[]>> = {
  'another protocol': ['HTTP/2 200 OK'],
  'HTTP/0.9': ['hello'],
  'HTTP/1.2': ['HTTP/1.2 200 OK'],
  'lower case': ['http/1.1 200 OK'],
  'a status of two digits': ['HTTP/1.1 20 OK'],
  'a status of four digits': ['HTTP/1.1 2000 OK'],
  'a status out of range': ['HTTP/1.1 600 OK'],
  'two blanks': ['HTTP/1.1  200 OK'],
  'a blank first': [' HTTP/1.1 200 OK'],
  'an empty line first': ['', ok],
  'two lengths': [ok, 'content-length: 5', 'content-length: 6'],
  'two lengths, first and last alike': [ok, 'content-length: 5', 'x: 1', 'Content-Length: 05'],
  'a list of lengths': [ok, 'content-length: 5, 5'],
  'a length and chunks': [ok, 'content-length: 5', 'transfer-encoding: chunked'],
  'a length and chunks without a body': [
    'HTTP/1.1 204 X',
    'content-length: 5',
    'transfer-encoding: chunked',
  ],
  'a negative length': [ok, 'content-length: -5'],
  'a signed length': [ok, 'content-length: +5'],
  'an empty length': [ok, 'content-length:'],
  'a fraction': [ok, 'content-length: 5.0'],
  'a length with an exponent': [ok, 'content-length: 5e1'],
  'a length beyond bounds': [ok, 'content-length: 1000000000000000'],
  'an unknown coding': [ok, 'transfer-encoding: gzip'],
  'a coding behind chunks': [ok, 'transfer-encoding: gzip, chunked'],
  'chunks twice': [ok, 'transfer-encoding: chunked', 'transfer-encoding: chunked'],
  'a coding with a tail': [ok, 'transfer-encoding: chunked;q=1'],
  'an empty coding': [ok, 'transfer-encoding:'],
  folding: [ok, 'x-one: a', ' b'],
  'folding by tab': [ok, 'x-one: a', '\tb'],
  'a blank before the colon': [ok, 'content-length : 5'],
  'no colon': [ok, 'content-length 5'],
  'no name': [ok, ': 5'],
  'a name with a blank': [ok, 'content length: 5'],
  'a name beyond ASCII': [ok, 'cöntent: 5'],
  'a bare LF': [ok, 'x-one: a\ncontent-length: 5'],
  'a bare CR': [ok, 'x-one: a\rcontent-length: 5'],
  'a bare LF in the first line': ['HTTP/1.1 200 OK\nx: 1'],
  'a bare CR at the end': [ok, 'x-one: a\r'],
  NUL: [ok, 'x-one: a\0b'],
  'NUL in a name': [ok, 'x\0one: a'],
  'an empty line within': [ok, '', 'x-one: a'],
  'too many fields': [ok, ...Array.from({ length: 257 }, (_, n) => `x-${n}: 1`)],
}

for (const [name, lines] of Object.entries(refused)) {
  test(`refuses ${name}`, () => {
    expect(() => parse(...lines)).toThrow(HeadError)
  })
}

test('takes as many fields as are allowed', () => {
  const fields = Array.from({ length: 256 }, (_, n) => `x-${n}: ${n}`)
  expect(parse(ok, ...fields).header('x-255')).toBe('255')
})

test('a long malformed head is refused at once', () => {
  const startedMs = performance.now()
  const line = `x-one: ${'a:b '.repeat(15_000)}\0`
  expect(() => parse(ok, line)).toThrow(HeadError)
  if (isLong) expect(performance.now() - startedMs).toBeLessThan(100)
})
