// A tune as a FLAC file (RFC 9639), its samples as they are.

import { BitWriter } from './bits.ts'
import { sampleRate, type Tune } from './tune.ts'

const blockSamples = 4_096
const headCrc = crcTable(8, 0x07)
const frameCrc = crcTable(16, 0x8005)

export function* flac(tune: Tune): Generator<Uint8Array> {
  yield streamInfo(tune.samples)
  for (let from = 0, frame = 0; from < tune.samples; from += blockSamples, frame += 1)
    yield frameOf(tune, frame, from, Math.min(tune.samples, from + blockSamples))
}

function streamInfo(samples: number): Uint8Array {
  const bits = new BitWriter()
  bits.append(new TextEncoder().encode('fLaC'))
  // The last block of metadata, of 34 bytes.
  bits.put(0x80, 8).put(34, 24)
  bits.put(blockSamples, 16).put(blockSamples, 16).put(0, 24).put(0, 24)
  bits.put(sampleRate, 20).put(0, 3).put(15, 5)
  bits
    .put(0, 12)
    .put(samples >>> 12, 12)
    .put(samples & 0xfff, 12)
  // No checksum of the samples is given.
  return bits.append(new Uint8Array(16)).done()
}

function frameOf(tune: Tune, frame: number, from: number, to: number): Uint8Array {
  const bits = new BitWriter()
  // Blocks of one length; the length in 16 bits at the end of the head, 24 kHz, one channel of 16 bits.
  bits.put(0xfff8, 16).put(0b0111_0111, 8).put(0b0000_1000, 8)
  bits.append(numbered(frame))
  bits.put(to - from - 1, 16)
  bits.put(crc(headCrc, 8, bits.done()), 8)
  // A subframe of samples as they are.
  bits.put(0b0_000001_0, 8)
  const samples = tune.pcm(from, to)
  for (let at = 0; at < samples.length; at += 2)
    bits.put(samples[at + 1] ?? 0, 8).put(samples[at] ?? 0, 8)
  return bits.put(crc(frameCrc, 16, bits.done()), 16).done()
}

/** A frame's number as UTF-8 would have a letter's. */
function numbered(frame: number): Uint8Array {
  return new TextEncoder().encode(String.fromCodePoint(frame))
}

function crcTable(width: number, polynomial: number): Uint16Array {
  const top = 1 << (width - 1)
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let value = byte << (width - 8)
    for (let bit = 0; bit < 8; bit += 1)
      value = (value & top) === 0 ? value << 1 : (value << 1) ^ polynomial
    return value
  })
}

function crc(table: Uint16Array, width: number, bytes: Uint8Array): number {
  const mask = (1 << width) - 1
  let value = 0
  for (const byte of bytes)
    value = ((value << 8) ^ (table[((value >> (width - 8)) ^ byte) & 255] ?? 0)) & mask
  return value
}
