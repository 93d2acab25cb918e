// Encodes a tune as an audio file piece by piece, so that a long one is never in memory as a whole.

import { readFileSync } from 'node:fs'
import { sourcePath } from '../../../installation.ts'
import { sampleRate, scale, type Tune } from './tune.ts'

const wavHeadBytes = 44
const mp3FrameSamples = 576
const mp3FrameBytes = 96
const mp3FramesAtOnce = 64
const flacBlockSamples = 4_096

/** 16 bits, one channel, 24 kHz. */
export function* pcm(tune: Tune): Generator<Uint8Array> {
  for (let from = 0; from < tune.samples; from += sampleRate)
    yield tune.pcm(from, Math.min(tune.samples, from + sampleRate))
}

export function* wav(tune: Tune): Generator<Uint8Array> {
  const dataBytes = tune.samples * 2
  const head = Buffer.alloc(wavHeadBytes)
  head.write('RIFF')
  head.writeUInt32LE(wavHeadBytes - 8 + dataBytes, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(sampleRate, 24)
  head.writeUInt32LE(sampleRate * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(dataBytes, 40)
  yield head
  yield* pcm(tune)
}

/** MPEG-2 layer III, whole frames of 24 ms: the first of `tones.mp3` is silence, the others are the scale's tones. */
export function* mp3(tune: Tune): Generator<Uint8Array> {
  const tones = readFileSync(sourcePath('vendors/sandbox/media/tones.mp3'))
  const frames = Math.ceil(tune.samples / mp3FrameSamples)
  for (let first = 0; first < frames; first += mp3FramesAtOnce) {
    const last = Math.min(frames, first + mp3FramesAtOnce)
    const bytes = new Uint8Array((last - first) * mp3FrameBytes)
    for (let frame = first; frame < last; frame += 1) {
      const at = (1 + scale.indexOf(tune.pitchAt(frame * mp3FrameSamples))) * mp3FrameBytes
      bytes.set(tones.subarray(at, at + mp3FrameBytes), (frame - first) * mp3FrameBytes)
    }
    yield bytes
  }
}

/** FLAC (RFC 9639) with uncompressed samples. Frames cannot be stored in advance: each has a number and checksums. */
export function* flac(tune: Tune): Generator<Uint8Array> {
  const info = Buffer.alloc(42)
  info.write('fLaC')
  // The last metadata block, of 34 bytes; 24 kHz, one channel of 16 bits; no checksum of the samples.
  info.set([0x80, 0, 0, 34], 4)
  info.writeUInt16BE(flacBlockSamples, 8)
  info.writeUInt16BE(flacBlockSamples, 10)
  info.set([0x05, 0xdc, 0x00, 0xf0], 18)
  info.writeUInt32BE(tune.samples, 22)
  yield info
  for (let from = 0, frame = 0; from < tune.samples; from += flacBlockSamples, frame += 1) {
    const samples = Buffer.from(tune.pcm(from, Math.min(tune.samples, from + flacBlockSamples)))
    yield flacFrame(frame, samples)
  }
}

/** `samples` are little-endian; their bytes are swapped in place. */
function flacFrame(frame: number, samples: Buffer): Buffer {
  const count = samples.length / 2 - 1
  // Fixed block size, given in 16 bits at the head's end; 24 kHz, one channel of 16 bits; the number coded like UTF-8.
  const number = Buffer.from(String.fromCodePoint(frame))
  const head = Buffer.from([0xff, 0xf8, 0x77, 0x08, ...number, count >> 8, count & 255])
  const plain = 0b0_000001_0
  const bytes = Buffer.concat([
    head,
    Buffer.of(checksum(head, 8, 0x07), plain),
    samples.swap16(),
    Buffer.alloc(2),
  ])
  bytes.writeUInt16BE(checksum(bytes.subarray(0, -2), 16, 0x8005), bytes.length - 2)
  return bytes
}

/** A cyclic redundancy check of `width` bits. */
function checksum(bytes: Uint8Array, width: 8 | 16, polynomial: number): number {
  const top = 1 << (width - 1)
  let value = 0
  for (const byte of bytes) {
    value ^= byte << (width - 8)
    for (let bit = 0; bit < 8; bit += 1)
      value = (value & top) === 0 ? value << 1 : (value << 1) ^ polynomial
    value &= (1 << width) - 1
  }
  return value
}
