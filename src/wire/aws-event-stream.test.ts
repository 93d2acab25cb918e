// Tests binary event streams: they read the same however they are divided, and a damaged one is never accepted.

import { expect, test } from 'bun:test'
import { event, eventStream, message, rawMessage } from '../../test/support/event-stream.ts'
import { AwsEventFrames, crc32 } from './aws-event-stream.ts'
import { FrameError } from './reply.ts'

const frames = [
  '{"messageStart":{"role":"assistant"}}',
  '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"é你😀"},"p":"abcd"}}',
  '{"messageStop":{"stopReason":"end_turn"}}',
]
const bytes = eventStream(frames)

function source(): AwsEventFrames {
  return new AwsEventFrames((seen) => seen.has('messageStop'))
}

function readIn(pieces: readonly Uint8Array[]): { data: string[]; done: boolean } {
  const stream = source()
  const data = pieces.flatMap((piece) => [...stream.push(piece)])
  data.push(...stream.end())
  return { data, done: stream.done }
}

test('the checksum is the one of ISO 3309', () => {
  expect(crc32(Buffer.from('123456789'), 0, 9)).toBe(0xcbf43926)
})

test('cut once anywhere, and into single bytes, the events are the same', () => {
  const whole = { data: frames, done: true }
  for (let at = 0; at <= bytes.length; at++) {
    expect(readIn([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole)
  }
  expect(readIn(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole)
})

test('W51: a stream that ends inside its last event is broken, wherever it ends', () => {
  const ends = new Set([0])
  let at = 0
  for (const frame of frames) ends.add((at += eventStream([frame]).length))
  for (let kept = 1; kept < bytes.length; kept++) {
    if (ends.has(kept)) continue
    const stream = source()
    stream.push(bytes.subarray(0, kept))
    expect(() => stream.end()).toThrow(FrameError)
    expect(stream.done).toBe(false)
  }
})

test('a stream that ends between two events is done only where it may end', () => {
  expect(readIn([eventStream(frames.slice(0, 2))]).done).toBe(false)
  expect(readIn([]).done).toBe(false)
})

test('a single wrong byte is never read past', () => {
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Uint8Array.from(bytes)
    damaged[at] = (damaged[at] ?? 0) ^ 0x10
    const stream = source()
    const read = (): unknown => [stream.push(damaged), stream.end()]
    expect(read).toThrow(FrameError)
  }
})

test.each([
  ['longer than any event may be', 0xffffffff, 0],
  ['shorter than its own headers', 40, 100],
  ['shorter than a prelude', 4, 0],
])('a prelude that makes an event %s is refused at once', (_what, total, headers) => {
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(total, 0)
  prelude.writeUInt32BE(headers, 4)
  prelude.writeUInt32BE(crc32(prelude, 0, 8), 8)
  expect(() => source().push(prelude)).toThrow(FrameError)
})

test('W51: exceptions and errors come under their own names', () => {
  const failed = event('throttlingException', { message: 'Too many requests' })
  const errored = message(
    { ':message-type': 'error', ':error-code': 'InternalFailure', ':error-message': 'went wrong' },
    '',
  )
  expect(readIn([failed, errored]).data).toEqual([
    '{"throttlingException":{"message":"Too many requests"}}',
    '{"error":{"code":"InternalFailure","message":"went wrong"}}',
  ])
})

test('headers of every type are passed over, and an event without a payload says nothing', () => {
  const named = (name: string, ...value: number[]): number[] => [
    name.length,
    ...Buffer.from(name),
    ...value,
  ]
  const headers = Uint8Array.from([
    ...named('t', 0),
    ...named('f', 1),
    ...named('b', 2, 1),
    ...named('s', 3, 0, 1),
    ...named('i', 4, 0, 0, 0, 1),
    ...named('l', 5, 0, 0, 0, 0, 0, 0, 0, 1),
    ...named('y', 6, 0, 2, 1, 2),
    ...named('d', 8, 0, 0, 0, 0, 0, 0, 0, 1),
    ...named('u', 9, ...new Array(16).fill(7)),
    ...named(':event-type', 7, 0, 4, ...Buffer.from('ping')),
  ])
  expect(readIn([rawMessage(headers, new Uint8Array())]).data).toEqual(['{"ping":{}}'])
  const unknown = Uint8Array.from(named('x', 12))
  expect(() => source().push(rawMessage(unknown, new Uint8Array()))).toThrow(FrameError)
  const beyond = Uint8Array.from(named('x', 7, 0, 99, 1))
  expect(() => source().push(rawMessage(beyond, new Uint8Array()))).toThrow(FrameError)
})
