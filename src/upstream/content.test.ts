// Tests content codings that nobody asked for: decoded within bounds, and refused if they are bombs, broken or unknown.

import { expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { Recorder } from '../../test/support/recorder.ts'
import { type ContentDecoder, decoderFor } from './content.ts'

const codings = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: (bytes: Buffer) =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: zstdCompressSync,
} as const

/** Feeds the bytes in pieces, as a connection would, until the decoder has refused them. */
async function decode(coding: string, bytes: Buffer, pieceBytes = 65_536): Promise<Recorder> {
  const recorder = new Recorder()
  recorder.head(200, () => null)
  const call = {
    over: false,
    handler: recorder,
    bytes: (chunk: Uint8Array) => recorder.bytes(chunk),
    finished() {
      if (this.over) return
      this.over = true
      recorder.end()
    },
    broken(message: string) {
      if (this.over) return
      this.over = true
      recorder.fault({ kind: 'unreadable', message, unsent: false })
    },
  }
  const decoder: ContentDecoder = decoderFor(coding, call)
  for (let at = 0; at < bytes.length && !call.over; at += pieceBytes) {
    decoder.bytes(bytes.subarray(at, at + pieceBytes))
    await new Promise(setImmediate)
  }
  if (!call.over) decoder.finish()
  await recorder.over
  expect(recorder.broken).toEqual([])
  return recorder
}

const text = JSON.stringify({ text: 'Grüße, 漢字, 😀. '.repeat(2_000) })
const mebibyte = 1 << 20

for (const [coding, compress] of Object.entries(codings)) {
  const packed = Buffer.from(compress(Buffer.from(text)))

  test(`${coding}: undone, in whatever pieces it comes`, async () => {
    for (const pieceBytes of [1, 7, 65_536]) {
      const done = await decode(coding, packed, pieceBytes)
      expect({ ended: done.ended, same: done.text === text }).toEqual({ ended: true, same: true })
    }
  })

  test(`${coding}: cut short anywhere, it is never a whole reply`, async () => {
    for (let length = 1; length < packed.length; length += Math.ceil(packed.length / 60)) {
      const done = await decode(coding, packed.subarray(0, length))
      // The runtime does not detect a truncated zstd frame: the reader above then finds half a reply.
      const whole = coding === 'zstd' ? done.text === text : done.ended
      expect({ length, whole }).toEqual({ length, whole: false })
    }
  })

  test(`${coding}: a bomb is refused early`, async () => {
    const bomb = Buffer.from(compress(Buffer.alloc(128 * mebibyte)))
    const done = await decode(coding, bomb)
    expect(done.failure?.message).toContain('grows too much')
    expect(done.byteCount).toBeLessThanOrEqual(mebibyte)
  })
}

test('much text that packs well is no bomb', async () => {
  const much = Buffer.from('{"content":"all work and no play"},'.repeat(50_000))
  expect((await decode('gzip', gzipSync(much))).byteCount).toBe(much.length)
})

test('damage is refused', async () => {
  const packed = Buffer.from(gzipSync(Buffer.from(text)))
  packed.fill(0xff, 20, 40)
  expect((await decode('gzip', packed)).failure?.message).toContain('not valid')
})

test('an unknown coding is refused by name', async () => {
  const done = await decode('lzma', Buffer.from('hello'))
  expect(done.failure?.message).toContain('lzma')
})

test('an empty body of an unknown coding is refused as well', async () => {
  expect((await decode('compress', Buffer.alloc(0))).failure?.kind).toBe('unreadable')
})
