// A plain colour as H.264 (ITU-T H.264, baseline profile): one block of samples, of which all others are copies.

import { bitsOf, bytesOf } from './bits.ts'
import type { Rgb } from './scene.ts'

export interface FrameSize {
  readonly width: number
  readonly height: number
}

// No 22 zero bits follow each other anywhere, so nothing looks like a start code that would need escaping.

/** The bytes of a unit behind a byte for its kind. The bits end in a one and are padded with zeros. */
function unit(head: number, bits: string): Uint8Array {
  return Buffer.concat([Buffer.of(head), bytesOf(`${bits}1`, '0')])
}

/** Baseline profile, readable for the main profile too, level 4.0: up to 2048 by 1024 at 30 frames per second. */
export function sequenceParameters({ width, height }: FrameSize): Uint8Array {
  const [columns, rows] = [blocksIn(width), blocksIn(height)]
  // Identifier 0, frame numbers of 4 bits, pictures in order, one reference picture.
  const kind = `${bitsOf(66, 8)}${bitsOf(0b1100_0000, 8)}${bitsOf(40, 8)}${numbers(0, 0, 2, 1)}0`
  const [right, bottom] = [columns * 8 - width / 2, rows * 8 - height / 2]
  return unit(0x67, `${kind}${numbers(columns - 1, rows - 1)}111${numbers(0, right, 0, bottom)}0`)
}

/** Quantizers of 26; the deblocking filter can be switched off. */
export function pictureParameters(): Uint8Array {
  return unit(0x68, `${numbers(0, 0)}00${numbers(0, 0, 0)}000${numbers(0, 0, 0)}100`)
}

/** A picture that does not depend on earlier ones. */
export function keyFrame(colour: Rgb, size: FrameSize): Uint8Array {
  const [columns, rows] = [blocksIn(size.width), blocksIn(size.height)]
  const head = `${numbers(0, 7, 0)}0000${numbers(0)}00${numbers(0, 1)}${numbers(25)}`
  const [luma, blue, red] = ycbcr(colour)
  // Predicts the mean of the neighbours without a difference; its code depends on their coefficients (table 9-5).
  const mean = numbers(3, 0, 0)
  let bits = head.padEnd(Math.ceil(head.length / 8) * 8, '0')
  bits += bitsOf(luma, 8).repeat(256) + bitsOf(blue, 8).repeat(64) + bitsOf(red, 8).repeat(64)
  for (let at = 1; at < columns * rows; at += 1)
    bits += mean + (at === 1 || at === columns ? '000011' : '1')
  return unit(0x65, bits)
}

/** A picture equal to the one before. `index` counts from its key frame, which is 0. */
export function sameFrame(size: FrameSize, index: number): Uint8Array {
  const copies = numbers(blocksIn(size.width) * blocksIn(size.height))
  return unit(0x41, `${numbers(0, 5, 0)}${bitsOf(index % 16, 4)}000${numbers(0, 1)}${copies}`)
}

/** Video colours (ITU-R BT.601): luma, then the blue and the red difference. */
function ycbcr([red, green, blue]: Rgb): Rgb {
  const luma = 0.299 * red + 0.587 * green + 0.114 * blue
  return [
    Math.round(16 + (luma * 219) / 255),
    Math.round(128 + ((blue - luma) / 1.772) * (224 / 255)),
    Math.round(128 + ((red - luma) / 1.402) * (224 / 255)),
  ]
}

function blocksIn(pixels: number): number {
  return Math.ceil(pixels / 16)
}

/** Exp-Golomb codes (9.1). */
function numbers(...values: readonly number[]): string {
  return values.map((value) => bitsOf(value + 1, 63 - 2 * Math.clz32(value + 1))).join('')
}
