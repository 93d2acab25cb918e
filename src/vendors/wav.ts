// Writes the head of a WAV file for raw samples (RIFF, "Multimedia Programming Interface and Data Specifications 1.0").

import { Buffer } from 'node:buffer'

interface Samples {
  /** Samples per second. */
  readonly rate: number
  readonly channels: number
  readonly bitsPerSample: number
  /** The bytes of all samples. */
  readonly byteCount: number
}

export function wavHead({ rate, channels, bitsPerSample, byteCount }: Samples): Uint8Array {
  const frameBytes = (channels * bitsPerSample) / 8
  const head = Buffer.alloc(44)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(36 + byteCount, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  // Format 1 is PCM.
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(channels, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate * frameBytes, 28)
  head.writeUInt16LE(frameBytes, 32)
  head.writeUInt16LE(bitsPerSample, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(byteCount, 40)
  return head
}
