// Tests WebSocket frames: read the same however they are divided, and refused if they break the protocol.

import { describe, expect, test } from 'bun:test'
import { clientFrame, closePayload, FrameFault, FrameReader, opcode } from './frames.ts'

type Seen = readonly (string | number)[]

function reader(maxMessageBytes = 1_000_000) {
  const seen: Seen[] = []
  const made = new FrameReader(
    {
      message: (payload, isText) =>
        seen.push([isText ? 'text' : 'binary', payload.toString('hex')]),
      ping: (payload) => seen.push(['ping', payload.toString('hex')]),
      pong: () => seen.push(['pong']),
      close: (code, reason) => seen.push(['close', code, reason]),
    },
    maxMessageBytes,
  )
  return { made, seen }
}

/** A server's frame, which is not masked. */
function frame(first: number, payload: Uint8Array, form: 'short' | 'medium' | 'long' = 'short') {
  const { length } = payload
  const head = {
    short: () => [first, length],
    medium: () => [first, 126, length >> 8, length & 0xff],
    long: () => [first, 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((by) => (length >> by) & 0xff)],
  }[form]()
  return Buffer.concat([Buffer.from(head), payload])
}

const text = (value: string) => Buffer.from(value, 'utf8')
const last = 0x80

const conversation = Buffer.concat([
  frame(last | opcode.text, text('Grüße')),
  frame(last | opcode.ping, text('p')),
  frame(opcode.text, text('one ')),
  frame(last | opcode.ping, text('')),
  frame(opcode.more, text('two ')),
  frame(last | opcode.more, text('three')),
  frame(last | opcode.binary, Buffer.alloc(300, 9), 'medium'),
  frame(last | opcode.binary, Buffer.alloc(0)),
  frame(last | opcode.pong, text('x')),
  frame(last | opcode.text, text('y'.repeat(70_000)), 'long'),
  frame(last | opcode.close, closePayload(4_001, 'bye')),
])
const received: Seen[] = [
  ['text', text('Grüße').toString('hex')],
  ['ping', '70'],
  ['ping', ''],
  ['text', text('one two three').toString('hex')],
  ['binary', '09'.repeat(300)],
  ['binary', ''],
  ['pong'],
  ['text', '79'.repeat(70_000)],
  ['close', 4_001, 'bye'],
]

test('whole, byte by byte, and in pieces of every size up to 40', () => {
  for (const size of [conversation.length, ...Array.from({ length: 40 }, (_, at) => at + 1)]) {
    const { made, seen } = reader()
    for (let at = 0; at < conversation.length; at += size) {
      made.push(conversation.subarray(at, at + size))
    }
    expect(seen).toEqual(received)
  }
})

test('nothing is passed on after it was stopped, even of the same piece', () => {
  const seen: string[] = []
  const made = new FrameReader(
    {
      message: (payload) => {
        seen.push(payload.toString('utf8'))
        made.stop()
      },
      ping: () => seen.push('ping'),
      pong: () => undefined,
      close: () => undefined,
    },
    1_000,
  )
  made.push(conversation)
  made.push(conversation)
  expect(seen).toEqual(['Grüße'])
})

describe('refused', () => {
  const long = Buffer.concat([Buffer.from([last | opcode.binary, 127, 0x7f]), Buffer.alloc(7, 255)])
  test.each([
    ['a mask', Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0]), 1_002],
    ['an extension', frame(0xc1, text('a')), 1_002],
    ['an unknown kind', frame(last | 3, text('a')), 1_002],
    ['an unknown control frame', frame(last | 11, text('')), 1_002],
    ['a control frame in parts', frame(opcode.ping, text('')), 1_002],
    ['a long control frame', frame(last | opcode.ping, Buffer.alloc(126), 'medium'), 1_002],
    ['a continuation of nothing', frame(last | opcode.more, text('a')), 1_002],
    [
      'a message within another',
      Buffer.concat([frame(opcode.text, text('a')), frame(last | opcode.text, text('b'))]),
      1_002,
    ],
    ['text that is not UTF-8', frame(last | opcode.text, Buffer.from([0xff])), 1_007],
    ['a close frame of one byte', frame(last | opcode.close, text('a')), 1_002],
    [
      'a close reason that is not UTF-8',
      frame(last | opcode.close, Buffer.from([3, 232, 255])),
      1_002,
    ],
    ['a message above the bound', frame(last | opcode.text, Buffer.alloc(1_001), 'medium'), 1_009],
    [
      'one that passes it in parts',
      Buffer.concat([
        frame(opcode.binary, Buffer.alloc(600), 'medium'),
        frame(last | opcode.more, Buffer.alloc(600), 'medium'),
      ]),
      1_009,
    ],
    ['a length no number holds', long, 1_009],
  ])('%s', (_name, bytes, code) => {
    const { made } = reader(1_000)
    try {
      made.push(bytes)
      throw new Error('nothing was thrown')
    } catch (error) {
      expect(error).toBeInstanceOf(FrameFault)
      expect((error as FrameFault).code).toBe(code)
    }
  })
})

test.each([0, 1, 125, 126, 65_535, 65_536, 100_000])(
  'a frame of %d bytes is masked, and is what it was when unmasked',
  (length) => {
    const payload = Buffer.from(Array.from({ length }, (_, at) => at & 0xff))
    const made = clientFrame(opcode.binary, payload)
    expect(made[0]).toBe(0x82)
    const stated = (made[1] ?? 0) & 0x7f
    expect((made[1] ?? 0) & 0x80).toBe(0x80)
    const extended = stated === 126 ? 2 : stated === 127 ? 8 : 0
    expect(extended).toBe(length < 126 ? 0 : length < 65_536 ? 2 : 8)
    const mask = made.subarray(2 + extended, 6 + extended)
    const masked = made.subarray(6 + extended)
    const unmasked = Buffer.from(masked.map((byte, at) => byte ^ (mask[at & 3] ?? 0)))
    expect(unmasked.equals(payload)).toBe(true)
  },
)

test('a close reason too long is cut between characters', () => {
  const payload = closePayload(1_000, 'ü'.repeat(100))
  expect(payload.length).toBeLessThanOrEqual(125)
  expect(payload.subarray(2).toString('utf8')).toBe('ü'.repeat(61))
})

describe('a message in pieces without end', () => {
  const begin = frame(opcode.text, text(''))
  const pieces = (payload: string, count: number) =>
    Buffer.concat(Array.from({ length: count }, () => frame(opcode.more, text(payload))))

  test.each(['', 'a'])('of %j is refused, at the same bound', (payload) => {
    const { made, seen } = reader(16_000_000)
    made.push(begin)
    made.push(pieces(payload, 16_383))
    expect(() => made.push(pieces(payload, 1))).toThrow(FrameFault)
    expect(seen).toEqual([])
  })

  test('that ends before the bound is one message, and the next begins to count anew', () => {
    const { made, seen } = reader()
    for (let message = 0; message < 3; message++) {
      made.push(begin)
      made.push(pieces('', 10_000))
      made.push(frame(last | opcode.more, text('end')))
    }
    expect(seen).toEqual(Array(3).fill(['text', text('end').toString('hex')]))
  })
})
