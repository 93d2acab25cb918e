// A scene as a baseline JPEG (ITU-T T.81): each block of 8 by 8 pixels has one colour, which is all that is coded of it.

import { BitWriter } from './bits.ts'
import { joined } from './png.ts'
import type { Rgb, Scene } from './scene.ts'

/** The mean of a block is stored as eight times its distance from the middle. */
const meanFactor = 8
/** Code lengths of T.81 table K.3: categories 0 to 11 of a difference of means. */
const lengths = [2, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9]
const codes = canonical(lengths)
/** The only code of the table of other coefficients: none follow. */
const endOfBlock = { code: 0, length: 1 }

/** Width and height in pixels, at least 1 and at most 65535. */
export function jpeg(scene: Scene, width: number, height: number): Uint8Array {
  return joined([
    Uint8Array.of(0xff, 0xd8),
    segment(0xe0, [...text('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    segment(0xdb, [0, ...new Array<number>(64).fill(1)]),
    segment(0xc0, [8, ...two(height), ...two(width), 3, ...components((id) => [id, 0x11, 0])]),
    segment(0xc4, [0x00, ...countsOf(lengths), ...lengths.keys()]),
    segment(0xc4, [0x10, ...countsOf([endOfBlock.length]), 0]),
    segment(0xda, [3, ...components((id) => [id, 0x00]), 0, 63, 0]),
    blocks(scene, width, height),
    Uint8Array.of(0xff, 0xd9),
  ])
}

function blocks(scene: Scene, width: number, height: number): Uint8Array {
  const bits = new BitWriter()
  const colours = scene.colours.map(means)
  const before = [0, 0, 0]
  const row = new Uint8Array(Math.ceil(width / 8))
  for (let y = 0; y < height; y += 8) {
    scene.row((y + 4) / height, row)
    for (const index of row) {
      const colour = colours[index] ?? before
      for (const [at, mean] of colour.entries()) {
        putDifference(bits, mean - (before[at] ?? 0))
        before[at] = mean
        bits.put(endOfBlock.code, endOfBlock.length)
      }
    }
  }
  return stuffed(bits.align(1).done())
}

/** Its category, then its bits; of a negative number those of one less (T.81 F.1.2.1). */
function putDifference(bits: BitWriter, difference: number): void {
  const category = 32 - Math.clz32(Math.abs(difference))
  bits.put(codes[category] ?? 0, lengths[category] ?? 0)
  if (category > 0) bits.put(difference < 0 ? difference - 1 : difference, category)
}

/** Luma and both chromas (JFIF 1.02), as distances from the middle, times the factor. */
function means([red, green, blue]: Rgb): readonly number[] {
  const luma = 0.299 * red + 0.587 * green + 0.114 * blue
  return [luma - 128, (blue - luma) / 1.772, (red - luma) / 1.402].map((mean) =>
    Math.round(mean * meanFactor),
  )
}

/** After a byte of ones comes one of zeros, so that it is no marker. */
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

function segment(marker: number, data: readonly number[]): Uint8Array {
  return Uint8Array.from([0xff, marker, ...two(data.length + 2), ...data])
}

function components(each: (id: number) => readonly number[]): readonly number[] {
  return [1, 2, 3].flatMap(each)
}

function two(value: number): readonly number[] {
  return [value >> 8, value & 255]
}

function text(ascii: string): readonly number[] {
  return [...ascii].map((letter) => letter.charCodeAt(0))
}

/** How many codes there are of 1 to 16 bits. */
function countsOf(of: readonly number[]): readonly number[] {
  return Array.from({ length: 16 }, (_, index) => of.filter((each) => each === index + 1).length)
}

/** Codes in the order of their lengths (T.81 annex C); lengths are given in that order. */
function canonical(of: readonly number[]): readonly number[] {
  let code = 0
  return of.map((length, index) => {
    if (index > 0) code = (code + 1) << (length - (of[index - 1] ?? length))
    return code
  })
}
