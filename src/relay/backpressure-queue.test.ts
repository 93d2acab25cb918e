// Tests the queue for slow clients: bounded, in order, and without keeping other memory.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { noteRead } from '../upstream/read-memory.ts'
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
  await queue.pipe({ write: (piece) => pieces.push(piece), end: () => undefined })
  return pieces
}

test('parts of large buffers that wait for a slow client do not keep them alive', async () => {
  const { calls, ...rest } = owner()
  const queue = new BackpressureQueue(rest, 0)
  // Like a read from the vendor's connection of which the client gets a part.
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

test('a connection without room is given no more until it has some', async () => {
  const queue = new BackpressureQueue(owner(), 0)
  const room = Promise.withResolvers<number>()
  const given: number[] = []
  const piped = queue.pipe({
    write: ({ length }) => (given.push(length) === 1 ? room.promise : length),
    end: () => given.push(0),
  })
  queue.push(new Uint8Array(3))
  await Promise.resolve()
  queue.push(new Uint8Array(5))
  queue.end()
  await Promise.resolve()
  expect(given).toEqual([3])
  expect(queue.waitingBytes).toBe(8)
  room.resolve(3)
  await piped
  expect(given).toEqual([3, 5, 0])
  expect(queue.closed).toBeTrue()
})

test('what comes within one turn goes out in one piece, behind what the turn does', async () => {
  const queue = new BackpressureQueue(owner(), 0)
  const done: string[] = []
  const piped = queue.pipe({
    write: (piece) => done.push(Buffer.from(piece).toString()),
    end: () => done.push('end'),
  })
  queue.push(Buffer.from('a'))
  queue.push(Buffer.from('b'))
  done.push('settled')
  queue.end()
  await piped
  expect(done).toEqual(['settled', 'ab', 'end'])
})

test.each([
  ['is broken off', (queue: BackpressureQueue) => queue.break('cut'), 'cut'],
  ['fails in its sink', (queue: BackpressureQueue) => queue.push(Buffer.from('bad')), 'no JSON'],
])('a reply that %s rejects', async (_, end, message) => {
  const queue = new BackpressureQueue(owner(), 0)
  const write = (): number => {
    throw new Error('no JSON')
  }
  const piped = queue.pipe({ write, end: () => undefined })
  end(queue)
  expect(piped).rejects.toThrow(message)
  expect(await piped.catch(() => queue.closed)).toBeTrue()
})

test('a reply that broke off before anybody asked for it rejects as well', () => {
  const queue = new BackpressureQueue(owner(), 0)
  queue.break('cut')
  expect(queue.pipe({ write: () => 1, end: () => undefined })).rejects.toThrow('cut')
})

test.each([
  ['says so', (queue: BackpressureQueue) => queue.leave(), 1],
  ['takes nothing', (queue: BackpressureQueue) => queue.push(Buffer.from('a')), 0],
])('a connection that is gone and %s ends it', async (_, go, taken) => {
  const queue = new BackpressureQueue(owner(), 0)
  const piped = queue.pipe({ write: () => taken, end: () => undefined })
  go(queue)
  await piped
  expect(queue.closed).toBeTrue()
})

/** Reads from a vendor's connection through a queue, whose client has no room after every `every`th piece. */
async function passed(
  lengths: readonly number[],
  isAlone: boolean,
  copies: boolean,
  every: number,
) {
  const reads = lengths.map((length, at) => Buffer.allocUnsafeSlow(length).fill(at + 1))
  const whole = Buffer.concat(reads)
  for (const read of reads) noteRead(read)
  const queue = new BackpressureQueue(owner(), 0, isAlone)
  const pieces: Uint8Array[] = []
  const write = (piece: Uint8Array) => {
    const { length } = piece
    pieces.push(copies ? new Uint8Array(piece) : piece)
    return pieces.length % every === 0 ? Promise.resolve(length) : length
  }
  const piped = queue.pipe({ write, end: () => undefined, copies })
  for (const read of reads) queue.push(read)
  queue.end()
  await piped
  return { isSame: Buffer.concat(pieces).equals(whole), left: reads.map(({ length }) => length) }
}

const length = fc.oneof(fc.integer({ min: 1, max: 4 * pieceBytes }), fc.constant(8 * pieceBytes))

test('reads are given back when a client has them that copies, and none of their bytes is lost', async () => {
  expect(await passed([524_288, 524_288], true, true, 100)).toEqual({ isSame: true, left: [0, 0] })
  expect(await passed([524_288, 524_288], true, true, 1)).toEqual({ isSame: true, left: [0, 0] })
  await fc.assert(
    fc.asyncProperty(fc.array(length), fc.nat(4), async (lengths, more) => {
      expect((await passed(lengths, true, true, more + 1)).isSame).toBeTrue()
    }),
    { numRuns: 100 },
  )
})

test.each([
  ['others have them too', false, true],
  ['the client keeps what it is given', true, false],
])('reads stay where %s', async (_, isAlone, copies) => {
  const lengths = [524_288, 300_000, 10]
  for (const every of [1, 3, 100])
    expect(await passed(lengths, isAlone, copies, every)).toEqual({ isSame: true, left: lengths })
})
