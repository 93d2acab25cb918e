// A tune as MPEG-2 layer III (ISO/IEC 13818-3, 11172-3): of each frame one spectral line is coded, the tone's own.

import { BitWriter } from './bits.ts'
import { sampleRate, type Tune } from './tune.ts'

export const frameSamples = 576
/** 72 x 32 kbit/s / 24 kHz. */
const frameBytes = 96
const framesAtOnce = 64
/** A line of size 1 at this gain is about as loud as the other formats are. */
const gain = 204

/** Whole frames of 24 ms: it is up to one frame longer than the tune. */
export function* mp3(tune: Tune): Generator<Uint8Array> {
  const frames = Math.ceil(tune.samples / frameSamples)
  for (let first = 0; first < frames; first += framesAtOnce) {
    const bits = new BitWriter()
    for (let frame = first; frame < Math.min(frames, first + framesAtOnce); frame += 1)
      putFrame(bits, tune.pitchAt(frame * frameSamples))
    yield bits.done()
  }
}

function putFrame(bits: BitWriter, pitch: number): void {
  const end = bits.bitLength + frameBytes * 8
  // MPEG-2, layer III, no checksum; 32 kbit/s, 24 kHz; one channel.
  bits.put(0xfff3, 16).put(0b0100_01_0_0, 8).put(0b11_00_0_0_00, 8)
  const line = Math.floor((pitch * 2 * frameSamples) / sampleRate)
  const pairs = pitch === 0 ? 0 : (line >> 1) + 1
  // Of table 1: a pair of zeros takes 1 bit; a one first 3 with its sign, a one second 4.
  const codedBits = pitch === 0 ? 0 : pairs - 1 + (line % 2 === 0 ? 3 : 4)
  // No earlier bytes are used; one private bit.
  bits.put(0, 8).put(0, 1)
  bits
    .put(codedBits, 12)
    .put(pairs, 9)
    .put(pitch === 0 ? 0 : gain, 8)
  // No scale factors, a long block, table 1 everywhere.
  bits.put(0, 9).put(0, 1).put(1, 5).put(1, 5).put(1, 5).put(15, 4).put(7, 3).put(0, 2)
  if (pitch !== 0) {
    for (let pair = 1; pair < pairs; pair += 1) bits.put(1, 1)
    bits.put(line % 2 === 0 ? 0b01_0 : 0b001_0, line % 2 === 0 ? 3 : 4)
  }
  while (bits.bitLength < end) bits.put(0, Math.min(24, end - bits.bitLength))
}
