// Scenes as H.264 (ITU-T H.264, baseline profile): blocks of 16 by 16 pixels, each of one colour or a copy of its neighbour.

import { BitWriter } from './bits.ts'
import type { Rgb, Scene } from './scene.ts'

const baselineProfile = 66
/** Constrained: what every decoder of the baseline and the main profile reads. */
const constraints = 0b1100_0000
/** Level 4.0, which has room for 2048 by 1024 pixels at 30 frames a second. */
const level = 40
const blockPixels = 16

const sliceOfCopies = 5
const sliceOfItself = 7
/** Kinds of a block in a slice that stands for itself (tables 7-11): copy from above, from the left, or plain samples. */
const fromAbove = 1
const fromLeft = 2
const samples = 25

export interface FrameSize {
  readonly width: number
  readonly height: number
}

/** The parameter sets, each without a start code. */
export function sequenceParameters({ width, height }: FrameSize): Uint8Array {
  const [columns, rows] = [blocksIn(width), blocksIn(height)]
  const bits = new BitWriter()
  bits.put(baselineProfile, 8).put(constraints, 8).put(level, 8)
  // Identifier 0, frame numbers of 4 bits, pictures in the order they come, one picture to refer to.
  number(bits, 0, 0, 2, 1)
  bits.put(0, 1)
  number(bits, columns - 1, rows - 1)
  bits.put(1, 1).put(1, 1)
  const right = (columns * blockPixels - width) / 2
  const bottom = (rows * blockPixels - height) / 2
  bits.put(right > 0 || bottom > 0 ? 1 : 0, 1)
  if (right > 0 || bottom > 0) number(bits, 0, right, 0, bottom)
  bits.put(0, 1)
  return unit(7, bits)
}

export function pictureParameters(): Uint8Array {
  const bits = new BitWriter()
  number(bits, 0, 0)
  // No arithmetic coding, no order in the bottom field, one group of slices, one picture in each list.
  bits.put(0, 2)
  number(bits, 0, 0, 0)
  bits.put(0, 3)
  // Quantizers 26 and no offset of chroma; the filter between blocks can be switched off.
  number(bits, 0, 0, 0)
  bits.put(0b100, 3)
  return unit(8, bits)
}

/** A picture that needs none before it. `sequence` differs from that of the one before. */
export function keyFrame(scene: Scene, size: FrameSize, sequence: number): Uint8Array {
  const [columns, rows] = [blocksIn(size.width), blocksIn(size.height)]
  const colours = scene.colours.map(ycbcr)
  const bits = new BitWriter()
  number(bits, 0, sliceOfItself, 0)
  bits.put(0, 4)
  number(bits, sequence % 2)
  // Nothing said of earlier pictures.
  bits.put(0, 2)
  endSliceHead(bits)
  const kinds = new Uint8Array(columns * rows)
  const drawn = new Uint8Array(columns * rows)
  for (let at = 0; at < kinds.length; at += 1) {
    const [x, y] = [at % columns, Math.floor(at / columns)]
    const left = x > 0 ? at - 1 : null
    const above = y > 0 ? at - columns : null
    const colour = scene.at((x + 0.5) / columns, (y + 0.5) / rows)
    drawn[at] = colour
    if (left !== null && drawn[left] === colour) kinds[at] = fromLeft
    else if (above !== null && drawn[above] === colour) kinds[at] = fromAbove
    else kinds[at] = samples
    const plain = [left, above].map((near) => (near === null ? null : kinds[near] === samples))
    putBlock(bits, kinds[at] ?? samples, colours[colour] ?? [16, 128, 128], plain)
  }
  return unit(5, bits)
}

/** A picture like the one before, in a few bytes. `index` counts from its key frame, which is 0. */
export function sameFrame(size: FrameSize, index: number): Uint8Array {
  const bits = new BitWriter()
  number(bits, 0, sliceOfCopies, 0)
  bits.put(index % 16, 4)
  // The usual number of earlier pictures, in the usual order, none marked.
  bits.put(0, 1).put(0, 1).put(0, 1)
  endSliceHead(bits)
  number(bits, blocksIn(size.width) * blocksIn(size.height))
  return unit(1, bits)
}

/** The quantizer as it was, and no filter between blocks. */
function endSliceHead(bits: BitWriter): void {
  number(bits, 0, 1)
}

function putBlock(
  bits: BitWriter,
  kind: number,
  colour: Rgb,
  nearSamples: readonly (boolean | null)[],
): void {
  number(bits, kind)
  if (kind === samples) {
    const [luma, blue, red] = colour
    bits.align()
    for (const [value, count] of [
      [luma, 256],
      [blue, 64],
      [red, 64],
    ] as const)
      bits.append(new Uint8Array(count).fill(value))
    return
  }
  // Chroma is copied the same way (1: from the left, 2: from above), at the same quantizer.
  number(bits, kind === fromLeft ? 1 : 2, 0)
  // No difference from the copy; how that is written depends on how much the neighbours hold (table 9-5).
  const known = nearSamples.filter((near) => near !== null)
  const held = known.reduce((sum, near) => sum + (near ? 16 : 0), 0)
  const context = known.length === 2 ? (held + 1) >> 1 : held
  if (context < 2) bits.put(1, 1)
  else bits.put(0b0000_11, 6)
}

/** As televisions have it (ITU-R BT.601): luma, then the blue and the red difference. */
function ycbcr([red, green, blue]: Rgb): Rgb {
  const luma = 0.299 * red + 0.587 * green + 0.114 * blue
  return [
    Math.round(16 + (luma * 219) / 255),
    Math.round(128 + ((blue - luma) / 1.772) * (224 / 255)),
    Math.round(128 + ((red - luma) / 1.402) * (224 / 255)),
  ]
}

function blocksIn(pixels: number): number {
  return Math.ceil(pixels / blockPixels)
}

/** Exp-Golomb codes (9.1); signed ones are only ever written as 0. */
function number(bits: BitWriter, ...values: readonly number[]): void {
  for (const value of values) {
    const length = 31 - Math.clz32(value + 1)
    bits.put(0, length).put(value + 1, length + 1)
  }
}

/** One unit (7.3.1): its kind, and its bits with none that would look like a start code. */
function unit(kind: number, bits: BitWriter): Uint8Array {
  const bytes: number[] = [(kind === 1 ? 0x40 : 0x60) | kind]
  let zeros = 0
  for (const byte of bits.put(1, 1).align().done()) {
    if (zeros === 2 && byte <= 3) {
      bytes.push(3)
      zeros = 0
    }
    zeros = byte === 0 ? zeros + 1 : 0
    bytes.push(byte)
  }
  return Uint8Array.from(bytes)
}
