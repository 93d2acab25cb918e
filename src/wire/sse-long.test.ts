// Tests frames too long to be held: delivered in pieces, however the stream is divided, and complete.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FrameSplitter, frameTooLong } from './sse.ts'
import { bytesOf, textOf } from './testing.ts'

const longBytes = 40

/** The frames in order, a long one as `long:` with all its text. */
function framesOf(pieces: readonly Uint8Array[]): string[] {
  const splitter = new FrameSplitter(10_000, longBytes)
  const found: string[] = []
  let long: string | null = null
  const take = (count: number) => {
    const { part, partEnds, bytes, starts, ends, opened } = splitter
    if (part !== null) long = (long ?? 'nothing began:') + textOf(part)
    if (part !== null && partEnds) {
      found.push(`long:${long}`)
      long = null
    }
    for (let at = 0; at < count; at++) found.push(textOf(bytes.subarray(starts[at], ends[at])))
    if (opened !== null) long = textOf(opened)
  }
  for (const piece of pieces) take(splitter.push(piece))
  take(splitter.end())
  expect(long).toBeNull()
  return found
}

const short = 'event: a\ndata: {"b":1}\n\n'
const image = (length: number) => `event: image\ndata: {"b64":"${'A'.repeat(length)}","end":1}\n\n`
const stream = [short, image(300), short, short, image(25), image(500), ': note\n\n'].join('')

test('a stream of long and short frames means the same however it is cut', () => {
  const plain = [short, image(300), short, short, image(25), image(500), ': note\n\n']
  const cuts = fc.array(fc.nat(stream.length), { maxLength: 40 })
  fc.assert(
    fc.property(cuts, fc.boolean(), (at, crlf) => {
      const bytes = bytesOf(crlf ? stream.replaceAll('\n', '\r\n') : stream)
      const ends = [...new Set([...at, bytes.length])].toSorted((a, b) => a - b)
      const pieces = ends.map((end, index) => bytes.slice(index === 0 ? 0 : ends[index - 1], end))
      expect(framesOf(pieces).map((frame) => frame.replace(/^long:/, ''))).toEqual(plain)
    }),
  )
})

test('a byte at a time, every frame above the bound passes in pieces', () => {
  const pieces = [...bytesOf(stream)].map((code) => Uint8Array.of(code))
  const long = framesOf(pieces).filter((frame) => frame.startsWith('long:'))
  expect(long).toEqual([image(300), image(25), image(500)].map((frame) => `long:${frame}`))
})

describe('a long frame', () => {
  test('ends where the stream does', () => {
    const bytes = bytesOf(image(300))
    expect(framesOf([bytes.subarray(0, 100), bytes.subarray(100, -2)])).toEqual([
      `long:${image(300)}`,
    ])
    expect(framesOf([bytes.subarray(0, 100), bytes.subarray(100, -1)])).toEqual([
      `long:${image(300)}`,
    ])
  })

  test('has an end', () => {
    const splitter = new FrameSplitter(10_000, longBytes)
    const piece = bytesOf(`data: ${'A'.repeat(4_000)}`)
    expect([1, 2, 3].map(() => splitter.push(piece))).toEqual([0, 0, frameTooLong])
  })
})
