// What waits for a slow client: bounded, in order, and holding no memory beside itself.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { BackpressureQueue } from './backpressure-queue.ts'

const pieceBytes = 65_536

function owner() {
  const calls: string[] = []
  return {
    calls,
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
  }
}

async function read(queue: BackpressureQueue): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = []
  for await (const piece of queue.body()) pieces.push(piece)
  return pieces
}

test('parts of large buffers that wait for a slow client do not keep them alive', async () => {
  const { calls, ...rest } = owner()
  const queue = new BackpressureQueue(rest, 0)
  // As a read of the vendor's connection, of which the client gets a part.
  const large = new Uint8Array(8 * pieceBytes).fill(7)
  queue.push(large.subarray(pieceBytes, 4 * pieceBytes + 10))
  queue.end()
  expect(calls).toEqual(['pause'])
  const pieces = await read(queue)
  expect(pieces.map(({ buffer }) => buffer.byteLength)).toEqual([
    pieceBytes,
    pieceBytes,
    pieceBytes,
    10,
  ])
  expect(calls).toEqual(['pause', 'resume'])
})

test('whatever the chunks, a client has all bytes in order, in pieces of at most 64 KiB', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 3 * pieceBytes }), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(sizes, async (lengths) => {
      const queue = new BackpressureQueue(owner(), 0)
      const chunks = lengths.map((length, at) => new Uint8Array(length).fill(at + 1))
      for (const chunk of chunks) queue.push(chunk)
      queue.end()
      const pieces = await read(queue)
      expect(Math.max(0, ...pieces.map(({ length }) => length))).toBeLessThanOrEqual(pieceBytes)
      expect(Buffer.concat(pieces).equals(Buffer.concat(chunks))).toBeTrue()
    }),
    { numRuns: 50 },
  )
})
