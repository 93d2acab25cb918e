// For tests: reads pictures, audio and films as far as their containers describe them.

import { crc32, inflateSync } from 'node:zlib'

interface SeenPicture {
  readonly type: 'png' | 'jpeg'
  readonly width: number
  readonly height: number
}

interface SeenPng extends SeenPicture {
  /** The palette index of each pixel, row by row. */
  readonly pixels: Uint8Array<ArrayBuffer>
  readonly palette: Uint8Array
  readonly clear: boolean
}

interface SeenSound {
  readonly rate: number
  readonly channels: number
  readonly seconds: number
}

interface SeenFilm {
  readonly width: number
  readonly height: number
  readonly seconds: number
  readonly frames: number
  readonly keyFrames: number
}

const ascii = (bytes: Uint8Array, from: number, to: number): string =>
  String.fromCharCode(...bytes.subarray(from, to))

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Throws where it is not a complete PNG with correct checksums. */
export function seePng(bytes: Uint8Array): SeenPng {
  const view = viewOf(bytes)
  if (ascii(bytes, 1, 4) !== 'PNG') throw new Error('no PNG')
  const chunks = new Map<string, Uint8Array>()
  for (let at = 8; at < bytes.length; ) {
    const length = view.getUint32(at)
    const type = ascii(bytes, at + 4, at + 8)
    const body = bytes.subarray(at + 4, at + 8 + length)
    if (crc32(body) !== view.getUint32(at + 8 + length)) throw new Error(`${type}: wrong checksum`)
    chunks.set(type, body.subarray(4))
    at += length + 12
  }
  const [head, data] = [chunks.get('IHDR'), chunks.get('IDAT')]
  if (head === undefined || data === undefined || !chunks.has('IEND')) throw new Error('cut PNG')
  const [width, height] = [viewOf(head).getUint32(0), viewOf(head).getUint32(4)]
  const rows = inflateSync(data)
  if (rows.length !== height * (width + 1)) throw new Error('not as many pixels as it says')
  const pixels = new Uint8Array(rows).filter((_, at) => at % (width + 1) !== 0)
  const palette = chunks.get('PLTE') ?? new Uint8Array(0)
  return { type: 'png', width, height, pixels, palette, clear: chunks.has('tRNS') }
}

/** Throws where it is not a complete baseline JPEG. */
export function seeJpeg(bytes: Uint8Array): SeenPicture {
  const view = viewOf(bytes)
  if (view.getUint16(0) !== 0xffd8 || view.getUint16(bytes.length - 2) !== 0xffd9)
    throw new Error('no JPEG')
  for (let at = 2; at < bytes.length; at += 2 + view.getUint16(at + 2)) {
    if (view.getUint16(at) !== 0xffc0) continue
    return { type: 'jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
  }
  throw new Error('a JPEG without a frame')
}

/** Throws where it is not a WAV, or shorter than its head says. */
export function seeWav(bytes: Uint8Array): SeenSound {
  const view = viewOf(bytes)
  if (ascii(bytes, 0, 4) !== 'RIFF' || ascii(bytes, 8, 16) !== 'WAVEfmt ') throw new Error('no WAV')
  const dataBytes = view.getUint32(40, true)
  if (ascii(bytes, 36, 40) !== 'data' || dataBytes + 44 !== bytes.length) throw new Error('cut WAV')
  const rate = view.getUint32(24, true)
  return {
    rate,
    channels: view.getUint16(22, true),
    seconds: dataBytes / view.getUint32(28, true),
  }
}

/** Throws where it is not a FLAC. */
export function seeFlac(bytes: Uint8Array): SeenSound {
  if (ascii(bytes, 0, 4) !== 'fLaC') throw new Error('no FLAC')
  const packed = viewOf(bytes).getBigUint64(18)
  const rate = Number(packed >> 44n)
  const channels = Number((packed >> 41n) & 7n) + 1
  return { rate, channels, seconds: Number(packed & 0xfffffffffn) / rate }
}

/** MPEG-2 layer III frames of equal size; throws where one does not begin at the end of the one before. */
export function seeMp3(bytes: Uint8Array): SeenSound {
  const frameBytes = 96
  for (let at = 0; at < bytes.length; at += frameBytes)
    if (viewOf(bytes).getUint32(at) !== 0xfff344c0) throw new Error(`no frame at ${at}`)
  return { rate: 24_000, channels: 1, seconds: ((bytes.length / frameBytes) * 576) / 24_000 }
}

/** Throws where a box or a frame is not at the position that the file gives. */
export function seeMp4(bytes: Uint8Array): SeenFilm {
  const view = viewOf(bytes)
  const boxes = boxesOf(bytes, 0, bytes.length)
  const start = (type: string): number => {
    const found = boxes.get(type)
    if (found === undefined) throw new Error(`no ${type}`)
    return found
  }
  const [movie, track, sizes, places] = ['mvhd', 'tkhd', 'stsz', 'stco'].map(start)
  const [mdhd = 0, keys = 0] = ['mdhd', 'stss'].map(start)
  const frames = view.getUint32((sizes ?? 0) + 8)
  let at = view.getUint32((places ?? 0) + 8)
  for (let frame = 0; frame < frames; frame += 1) {
    const length = view.getUint32((sizes ?? 0) + 12 + frame * 4)
    if (view.getUint32(at) !== length - 4) throw new Error(`frame ${frame} is not at ${at}`)
    at += length
  }
  if (at !== bytes.length) throw new Error('the last frame is not at the end')
  const seconds = view.getUint32((movie ?? 0) + 16) / view.getUint32((movie ?? 0) + 12)
  if (view.getUint32(mdhd + 16) / view.getUint32(mdhd + 12) !== seconds)
    throw new Error('the track is not as long as the film')
  return {
    width: view.getUint16((track ?? 0) + 76),
    height: view.getUint16((track ?? 0) + 80),
    seconds,
    frames,
    keyFrames: view.getUint32(keys + 4),
  }
}

const parents = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'dinf'])

/** The offset of each box's content. */
function boxesOf(bytes: Uint8Array, from: number, to: number): Map<string, number> {
  const found = new Map<string, number>()
  for (let at = from; at < to; ) {
    const length = viewOf(bytes).getUint32(at)
    const type = ascii(bytes, at + 4, at + 8)
    if (length < 8 || at + length > to) throw new Error(`${type} is longer than what it stands in`)
    found.set(type, at + 8)
    if (parents.has(type))
      for (const [inner, place] of boxesOf(bytes, at + 8, at + length)) found.set(inner, place)
    at += length
  }
  return found
}
