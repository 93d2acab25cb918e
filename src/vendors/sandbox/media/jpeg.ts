// Encodes a scene as a baseline JPEG (ITU-T T.81): only the mean colour of each 8 by 8 block is coded.

import { bitsOf, bytesOf } from './bits.ts'
import type { Rgb, Scene } from './scene.ts'

/** The mean of a block is stored as eight times its difference from the middle value. */
const meanFactor = 8
/** Differences of means come in 12 categories, each coded as its number in four bits. */
const categoryBits = 4
const categories = Array.from({ length: 12 }, (_, category) => category)
/** The only code in the table of other coefficients: there are none. */
const endOfBlock = '0'
/** The code of a block equal to the one before. */
const same = `${'0'.repeat(categoryBits)}${endOfBlock}`.repeat(3)

/** Width and height in pixels, from 1 to 65535. */
export function jpeg(scene: Scene, width: number, height: number): Uint8Array {
  const size = [height >> 8, height & 255, width >> 8, width & 255]
  const codesOfLength = (length: number, count: number) =>
    Array.from({ length: 16 }, (_, index) => (index === length - 1 ? count : 0))
  return Buffer.concat([
    Buffer.of(0xff, 0xd8),
    segment(0xe0, [...Buffer.from('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    segment(0xdb, [0, ...new Array<number>(64).fill(1)]),
    segment(0xc0, [8, ...size, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]),
    segment(0xc4, [0x00, ...codesOfLength(categoryBits, categories.length), ...categories]),
    segment(0xc4, [0x10, ...codesOfLength(endOfBlock.length, 1), 0]),
    segment(0xda, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0]),
    stuffed(bytesOf(blocks(scene, width, height), '1')),
    Buffer.of(0xff, 0xd9),
  ])
}

function segment(marker: number, data: readonly number[]): Buffer {
  const length = data.length + 2
  return Buffer.of(0xff, marker, length >> 8, length & 255, ...data)
}

function blocks(scene: Scene, width: number, height: number): string {
  const colours = scene.colours.map(means)
  const row = new Uint8Array(Math.ceil(width / 8))
  let before: readonly number[] = [0, 0, 0]
  let bits = ''
  for (let y = 0; y < height; y += 8) {
    scene.row((y + 4) / height, row)
    for (const index of row) {
      const colour = colours[index] ?? before
      if (colour === before) {
        bits += same
        continue
      }
      for (const [at, mean] of colour.entries())
        bits += difference(mean - (before[at] ?? 0)) + endOfBlock
      before = colour
    }
  }
  return bits
}

/** Codes the category, then the bits; a negative number is coded as the bits of one less (T.81 F.1.2.1). */
function difference(value: number): string {
  const category = 32 - Math.clz32(Math.abs(value))
  const coded = value < 0 ? value + 2 ** category - 1 : value
  return bitsOf(category, categoryBits) + bitsOf(coded, category)
}

/** Luma and both chromas (JFIF 1.02), as differences from the middle value, times the factor. */
function means([red, green, blue]: Rgb): readonly number[] {
  const luma = 0.299 * red + 0.587 * green + 0.114 * blue
  return [luma - 128, (blue - luma) / 1.772, (red - luma) / 1.402].map((mean) =>
    Math.round(mean * meanFactor),
  )
}

/** Puts a zero byte behind each byte of ones, which would otherwise start a marker. */
function stuffed(bytes: Uint8Array): Uint8Array {
  let ones = 0
  for (const byte of bytes) if (byte === 0xff) ones += 1
  const stuffed = new Uint8Array(bytes.length + ones)
  let at = 0
  for (const byte of bytes) {
    stuffed[at] = byte
    at += byte === 0xff ? 2 : 1
  }
  return stuffed
}
