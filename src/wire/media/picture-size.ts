// Reads the size of an image from its header, with a few small reads.

import { type Bytes, latin, piece } from './sniff.ts'

export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** The most markers of a JPEG (or blocks of a GIF) that are examined. */
const maxSegments = 500
/** Boxes of HEIF files precede the pixels, within this many bytes. */
const boxesBytes = 16_384
/** The largest side that models accept. */
const maxSide = 65_535
/** Bytes of an image other than pixels: profiles, comments, a small preview. */
const besideBytes = 65_536
/** The most bytes that any of these formats needs for a pixel: PNG with four channels of 16 bits. */
const bytesPerPixel = 8

/**
 * The size, by the media type from `sniffedType`; null where the header has none, or one too small for the file's
 * bytes: a header that claims one pixel for a large image is not believed.
 */
export function pictureSize(file: Bytes, type: string | null): PictureSize | null {
  const size = readers.get(type ?? '')?.(file) ?? null
  if (size === null) return null
  const { width, height } = size
  if (width < 1 || height < 1 || width > maxSide || height > maxSide) return null
  return file.size > width * height * bytesPerPixel + besideBytes ? null : size
}

const readers: ReadonlyMap<string, (file: Bytes) => PictureSize | null> = new Map([
  ['image/png', png],
  ['image/jpeg', jpeg],
  ['image/gif', gif],
  ['image/webp', webp],
  ['image/heic', heif],
  ['image/avif', heif],
])

function larger(one: PictureSize | null, other: PictureSize): PictureSize {
  return one !== null && one.width * one.height > other.width * other.height ? one : other
}

/** IHDR is the first chunk (PNG, section 11.2.2). */
function png(file: Bytes): PictureSize | null {
  const head = piece(file, 0, 24)
  if (head.byteLength < 24 || head.getUint32(12) !== 0x49484452) return null
  return { width: head.getUint32(16), height: head.getUint32(20) }
}

/** The frame header of any coding (ITU T.81, B.2.2); the largest if a file has several. */
function jpeg(file: Bytes): PictureSize | null {
  let found: PictureSize | null = null
  let at = 2
  for (let step = 0; step < maxSegments; step++) {
    const head = piece(file, at, 9)
    if (head.byteLength < 4 || head.getUint8(0) !== 0xff) return found
    const marker = head.getUint8(1)
    // Fill bytes may precede a marker; compressed data follows SOS.
    if (marker === 0xff) {
      at++
      continue
    }
    if (marker === 0xda || marker === 0xd9) return found
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame && head.byteLength >= 9)
      found = larger(found, { width: head.getUint16(7), height: head.getUint16(5) })
    at += 2 + head.getUint16(2)
  }
  return found
}

/** The logical screen, or the first frame where that is larger (GIF89a, sections 18 and 20). */
function gif(file: Bytes): PictureSize | null {
  const head = piece(file, 0, 13)
  if (head.byteLength < 13) return null
  const screen = { width: head.getUint16(6, true), height: head.getUint16(8, true) }
  const flags = head.getUint8(10)
  let at = 13 + ((flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1))
  for (let step = 0; step < maxSegments; step++) {
    const block = piece(file, at, 9)
    if (block.byteLength < 9) return screen
    if (block.getUint8(0) === 0x2c) {
      const [left, top] = [block.getUint16(1, true), block.getUint16(3, true)]
      return {
        width: Math.max(screen.width, left + block.getUint16(5, true)),
        height: Math.max(screen.height, top + block.getUint16(7, true)),
      }
    }
    if (block.getUint8(0) !== 0x21) return screen
    // An extension: its label, then blocks with a length byte each, then an empty block.
    at += 2
    for (let length = -1; length !== 0 && step < maxSegments; step++) {
      const size = piece(file, at, 1)
      if (size.byteLength < 1) return screen
      length = size.getUint8(0)
      at += 1 + length
    }
  }
  return screen
}

/** RFC 9649: the extended header, or the first bytes of either coding. */
function webp(file: Bytes): PictureSize | null {
  const head = piece(file, 0, 30)
  if (head.byteLength < 30) return null
  const kind = latin(new Uint8Array(head.buffer, head.byteOffset, head.byteLength), 12, 16)
  const three = (at: number) => head.getUint16(at, true) + (head.getUint8(at + 2) << 16)
  if (kind === 'VP8X') return { width: three(24) + 1, height: three(27) + 1 }
  if (kind === 'VP8 ') {
    return { width: head.getUint16(26, true) & 0x3fff, height: head.getUint16(28, true) & 0x3fff }
  }
  if (kind !== 'VP8L') return null
  const bits = head.getUint32(21, true)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** The largest of the sizes in the file (`ispe`, ISO 23008-12): tiles and previews have one too. */
function heif(file: Bytes): PictureSize | null {
  const head = piece(file, 0, boxesBytes)
  let found: PictureSize | null = null
  for (let at = 4; at + 16 <= head.byteLength; at++) {
    if (head.getUint32(at) !== 0x69737065) continue
    found = larger(found, { width: head.getUint32(at + 8), height: head.getUint32(at + 12) })
  }
  return found
}
