// Tests writing to a connection that accepts little at a time: every byte once, in order, files included.

import { expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import type { Payload } from '../vendors/media.ts'
import { WriteQueue } from './write-queue.ts'

const bytes = Buffer.from('0123456789')
const file: Payload = {
  type: '',
  size: bytes.length,
  read: (from, to = bytes.length) => bytes.subarray(from, to),
}

test('bytes and files go out once and in order, whatever the socket takes at a time', () => {
  const queue = new WriteQueue()
  const parts = [Buffer.from('head'), file, Buffer.alloc(0), Buffer.from('end')]
  for (const part of parts) queue.push(part)
  expect(queue.waitingBytes).toBe(17)
  let taken = ''
  let left = 0
  const sink = {
    write(piece: Uint8Array, from: number, length: number): number {
      const wrote = Math.min(3, left, length)
      left -= wrote
      taken += Buffer.from(piece.subarray(from, from + wrote)).toString()
      return wrote
    },
  }
  let rounds = 0
  for (let ended = false; !ended && rounds < 20; rounds++) {
    left = 3
    ended = queue.flush(sink) === 'all'
  }
  expect(taken).toBe('head0123456789end')
  expect(queue.waitingBytes).toBe(0)
})

test('what a socket leaves of a head and its body is kept apart from what the next one writes', () => {
  const [slow, next] = [new WriteQueue(), new WriteQueue()]
  const length = Buffer.from('length: ')
  let taken = ''
  const taking = (most: number) => ({
    write(piece: Uint8Array, from: number, length: number): number {
      const wrote = Math.min(most, length)
      taken += Buffer.from(piece.subarray(from, from + wrote)).toString()
      return wrote
    },
  })
  expect(slow.writeJoined(taking(8), length, 20, [bytes, file])).toBe('some')
  expect(slow.waitingBytes).toBe(26)
  expect(next.writeJoined(taking(99), Buffer.from('X'), 3, [Buffer.from('YYY')])).toBe('all')
  expect(slow.flush(taking(99))).toBe('all')
  expect(taken).toBe('length: X3\r\n\r\nYYY20\r\n\r\n01234567890123456789')
  expect(next.writeJoined({ write: () => -1 }, length, 10, [bytes])).toBe('closed')
  expect(next.waitingBytes).toBe(0)
})

test('a socket that is gone, and a queue cleared while it is written, end it', () => {
  const queue = new WriteQueue()
  queue.push(bytes)
  expect(queue.flush({ write: () => -1 })).toBe('closed')
  const clearing = {
    write(_: Uint8Array, _from: number, length: number): number {
      queue.clear()
      return length
    },
  }
  expect(queue.flush(clearing)).toBe('closed')
  expect(queue.waitingBytes).toBe(0)
})
