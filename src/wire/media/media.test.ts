// Tests types and lengths of files made by an encoder, and of anything else that may be uploaded as one.

import { describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { durationOf } from './duration.ts'
import { type Bytes, sniffedType } from './sniff.ts'

const folder = join(import.meta.dirname, '../../../test/fixtures/media')
const fixture = (name: string) => readFileSync(join(folder, name))

/** Refuses reads outside its bounds, as a file would. */
function bytesOf(data: Uint8Array): Bytes & { readBytes: number } {
  return {
    size: data.length,
    readBytes: 0,
    read(start, end) {
      if (start < 0 || end < start || end > data.length) throw new RangeError(`${start} ${end}`)
      this.readBytes += end - start
      return data.subarray(start, end)
    },
  }
}

/** Encoders pad the last frame, and MP3 starts with a frame of silence. */
const files: readonly (readonly [name: string, type: string | null, seconds: number | null])[] = [
  ['constant.mp3', 'audio/mpeg', 1.25],
  ['variable.mp3', 'audio/mpeg', 1.25],
  ['plain.mp3', 'audio/mpeg', 1.25],
  ['opus.ogg', 'audio/ogg', 1.25],
  ['vorbis.ogg', 'audio/ogg', 1.25],
  ['sound.flac', 'audio/flac', 1.25],
  ['sound.m4a', 'audio/mp4', 1.25],
  ['sound.wav', 'audio/wav', 1.25],
  ['sound.webm', 'video/webm', 1.25],
  ['streamed.webm', 'video/webm', null],
  ['film.mp4', 'video/mp4', 1.2],
  ['image.png', 'image/png', null],
  ['image.jpg', 'image/jpeg', null],
  ['image.webp', 'image/webp', null],
  ['image.gif', 'image/gif', null],
  ['other.aac', null, null],
]

test.each(files)('%s is %s of %d s', (name, type, seconds) => {
  const file = bytesOf(fixture(name))
  expect(sniffedType(file)).toBe(type)
  const found = durationOf(file, type ?? '')
  if (seconds === null) expect(found).toBeNull()
  else {
    expect(found).toBeGreaterThanOrEqual(seconds - 0.01)
    expect(found).toBeLessThanOrEqual(seconds + 0.15)
  }
})

test('every file is recognised', () => {
  expect(readdirSync(folder).sort()).toEqual(files.map(([name]) => name).sort())
})

test.each([
  ['text', 'Hello, world. This is not a sound.'],
  ['JSON', '{"data":[]}'],
  ['a page', '<!doctype html><html><body>ID4</body></html>'],
  ['UTF-16', '\xff\xfeH\0e\0l\0l\0o\0'],
  ['a RIFF of another kind', 'RIFF\x04\0\0\0AVI '],
  ['nothing', ''],
  ['one byte', '\xff'],
])('%s is none of them', (_name, text) => {
  expect(sniffedType(bytesOf(Buffer.from(text, 'latin1')))).toBeNull()
})

describe('heads that lie', () => {
  test('a WAV longer than its file is as long as the file', () => {
    const data = Buffer.from(fixture('sound.wav'))
    const at = data.indexOf('data', 0, 'latin1')
    for (const said of [0, 0xffff_ffff, 0x7fff_ffff]) {
      data.writeUInt32LE(said, at + 4)
      expect(durationOf(bytesOf(data), 'audio/wav')).toBeCloseTo(1.25, 5)
    }
  })

  test('a rate that no decoder reads does not shorten a WAV', () => {
    const data = Buffer.from(fixture('sound.wav'))
    data.writeUInt32LE(0xffff_ffff, data.indexOf('fmt ', 0, 'latin1') + 16)
    expect(durationOf(bytesOf(data), 'audio/wav')).toBeCloseTo(1.25, 5)
  })

  test('a compressed WAV lasts at least as long as samples of 16 bits would', () => {
    const data = Buffer.from(fixture('sound.wav'))
    const format = data.indexOf('fmt ', 0, 'latin1') + 8
    data.writeUInt16LE(0x11, format)
    data.writeUInt32LE(0xffff_ffff, format + 8)
    expect(durationOf(bytesOf(data), 'audio/wav')).toBeCloseTo(1.25 / 2, 5)
  })

  test('a FLAC of one sample lasts at least a quarter of what plain samples would', () => {
    const data = Buffer.concat([Buffer.from(fixture('sound.flac')), Buffer.alloc(1_000_000)])
    data.writeUInt8(data.readUInt8(21) & 0xf0, 21)
    data.writeUInt32BE(1, 22)
    const found = durationOf(bytesOf(data), 'audio/flac') ?? 0
    const rate = data.readUInt32BE(18) >>> 12
    expect(found).toBeGreaterThan(1_000_000 / (rate * 2 * 2) / 4 - 1)
    data.writeUInt32BE(0, 22)
    expect(durationOf(bytesOf(data), 'audio/flac')).toBeNull()
  })

  test('a year is no length', () => {
    const data = Buffer.from(fixture('film.mp4'))
    const at = data.indexOf('mvhd', 0, 'latin1') + 4
    data.writeUInt32BE(1, at + 12)
    data.writeUInt32BE(31_536_000, at + 16)
    expect(durationOf(bytesOf(data), 'video/mp4')).toBeNull()
  })

  test('an element whose head reaches past its parent', () => {
    const info = `1549a96683${'44894008'}`
    const data = Buffer.from(`1a45dfa38018538067ff${info}${'00'.repeat(16)}`, 'hex')
    expect(durationOf(bytesOf(data), 'video/webm')).toBeNull()
  })

  test('a tag longer than its file', () => {
    const data = Buffer.concat([Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1')])
    expect(sniffedType(bytesOf(data))).toBe('audio/mpeg')
    expect(durationOf(bytesOf(data), 'audio/mpeg')).toBeNull()
  })
})

test('a long file is not read whole', () => {
  const head = fixture('plain.mp3')
  const file = bytesOf(Buffer.concat([head, Buffer.alloc(30_000_000, head)]))
  expect(durationOf(file, 'audio/mpeg')).toBeGreaterThan(1_000)
  expect(file.readBytes).toBeLessThan(200_000)
})

test('whatever the bytes, reading ends, stays inside, and gives a length or none', () => {
  const all = files.map(([name]) => fixture(name))
  const types = [...new Set(files.map(([, type]) => type ?? ''))]
  fc.assert(
    fc.property(
      fc.constantFrom(...all),
      fc.constantFrom(...types),
      fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { maxLength: 8 }),
      fc.nat(4_000),
      (data, type, changes, length) => {
        const bytes = Buffer.from(data.subarray(0, length))
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value
        const file = bytesOf(bytes)
        for (const each of [type, sniffedType(file) ?? '']) {
          const seconds = durationOf(file, each)
          if (seconds === null) continue
          expect(seconds).toBeGreaterThan(0)
          expect(seconds).toBeLessThanOrEqual(30 * 86_400)
        }
      },
    ),
    { numRuns: 3_000 },
  )
})

test('cut anywhere, a file gives a length or none', () => {
  for (const [name, type] of files) {
    const data = fixture(name)
    for (let length = 0; length < data.length; length += length < 2_000 ? 1 : 97) {
      const file = bytesOf(data.subarray(0, length))
      expect(durationOf(file, type ?? '') ?? 1).toBeGreaterThan(0)
      expect(() => sniffedType(file)).not.toThrow()
    }
  }
})
