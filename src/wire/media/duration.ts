// Reads the duration of audio or video from its container, with a few small reads.

import { type Bytes, firstFrame, frameAt, id3Bytes, latin, piece } from './sniff.ts'

/** The most bytes of a single read. */
const pieceBytes = 65_536
/** The most boxes, chunks or elements that are examined. */
const maxSteps = 1_000
/** A longer duration in a header is considered wrong. */
const maxSeconds = 30 * 86_400

/** Seconds, by the media type from `sniffedType`; null where the container does not say or is implausible. */
export function durationOf(file: Bytes, type: string): number | null {
  const seconds = readers.get(type)?.(file) ?? null
  return seconds !== null && seconds > 0 && seconds <= maxSeconds ? seconds : null
}

const readers: ReadonlyMap<string, (file: Bytes) => number | null> = new Map([
  ['audio/wav', wav],
  ['audio/mpeg', mpeg],
  ['audio/flac', flac],
  ['audio/ogg', ogg],
  ['audio/mp4', isoMedia],
  ['video/mp4', isoMedia],
  ['video/quicktime', isoMedia],
  ['video/webm', matroska],
  ['audio/webm', matroska],
  ['video/x-matroska', matroska],
])

function name(view: DataView, at: number): string {
  if (at + 4 > view.byteLength) return ''
  return latin(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), at, at + 4)
}

/** RIFF chunks: `fmt ` has what a second takes, `data` the number of bytes. */
function wav(file: Bytes): number | null {
  let at = 12
  let bytesPerSecond = 0
  let longData = 0
  for (let step = 0; step < maxSteps; step++) {
    const head = piece(file, at, 36)
    if (head.byteLength < 8) return null
    const said = head.getUint32(4, true)
    switch (name(head, 0)) {
      case 'ds64':
        // RF64 has sizes beyond 32 bits here.
        if (head.byteLength >= 24) longData = Number(head.getBigUint64(16, true))
        break
      case 'fmt ':
        bytesPerSecond = wavBytesPerSecond(head)
        break
      case 'data': {
        const left = file.size - at - 8
        // Where the length was unknown when recording began, it is 0 or the maximum.
        const length = said === 0xffff_ffff ? longData || left : said || left
        return bytesPerSecond === 0 ? null : Math.min(length, left) / bytesPerSecond
      }
    }
    at += 8 + said + (said & 1)
  }
  return null
}

/** PCM of whole numbers and of floats, A-law, mu-law, and the extended form of these (RFC 2361). */
const plainWavFormats: ReadonlySet<number> = new Set([1, 3, 6, 7, 0xfffe])

/**
 * By what a decoder goes by: samples, channels and their bits. The stated rate, which none reads, counts for compressed
 * forms alone, and up to the rate of plain samples of 16 bits.
 */
function wavBytesPerSecond(head: DataView): number {
  if (head.byteLength < 24) return 0
  const samples = head.getUint32(12, true) * head.getUint16(10, true)
  if (plainWavFormats.has(head.getUint16(8, true)))
    return samples * Math.ceil(head.getUint16(22, true) / 8)
  return Math.min(head.getUint32(16, true), samples * 2)
}

/** By the frame count of a Xing header; else by the size, assuming the first frames' rate for all. */
function mpeg(file: Bytes): number | null {
  const start = id3Bytes(file)
  const view = piece(file, start, pieceBytes)
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  const frame = firstFrame(bytes)
  if (frame === null) return null
  const { samples, sampleRate } = frame
  const xing = frame.at + 4 + frame.sideBytes
  if (/^(Xing|Info)$/.test(name(view, xing)) && xing + 12 <= view.byteLength) {
    const hasCount = (view.getUint32(xing + 4) & 1) === 1
    if (hasCount) return (view.getUint32(xing + 8) * samples) / sampleRate
  }
  // Fraunhofer's header, always 32 bytes after the frame's own.
  const vbri = frame.at + 36
  if (name(view, vbri) === 'VBRI' && vbri + 18 <= view.byteLength)
    return (view.getUint32(vbri + 14) * samples) / sampleRate
  return byFrames(file, start, bytes, frame.at)
}

/** Assumes that the rate of the frames in the first piece holds for all: exact for a constant bit rate. */
function byFrames(file: Bytes, start: number, bytes: Uint8Array, first: number): number | null {
  let at = first
  let seconds = 0
  for (let frame = frameAt(bytes, at); frame !== null; frame = frameAt(bytes, at)) {
    seconds += frame.samples / frame.sampleRate
    at += frame.bytes
  }
  const total = file.size - start - first - trailingTagBytes(file)
  return at === first ? null : (seconds * Math.max(total, 0)) / (at - first)
}

/** Length of an ID3v1 tag, which occupies the last 128 bytes; 0 where there is none. */
function trailingTagBytes(file: Bytes): number {
  const isTag = file.size > 128 && name(piece(file, file.size - 128, 4), 0).startsWith('TAG')
  return isTag ? 128 : 0
}

/** Speech and music are compressed to at least a quarter or so; a length below that part of the size is not believed. */
const leastFlacPart = 0.25

/** STREAMINFO: sample rate in 20 bits, channels in 3, bits in 5, samples in 36 (RFC 9639, section 8.2). */
function flac(file: Bytes): number | null {
  const view = piece(file, id3Bytes(file), 42)
  if (view.byteLength < 26 || name(view, 0) !== 'fLaC') return null
  const rate = view.getUint32(18) >>> 12
  const samples = (view.getUint8(21) & 0x0f) * 2 ** 32 + view.getUint32(22)
  if (rate === 0 || samples === 0) return null
  const format = view.getUint16(20)
  const channels = ((format >> 9) & 0x07) + 1
  const bits = ((format >> 4) & 0x1f) + 1
  const uncompressed = file.size / ((rate * channels * bits) / 8)
  return Math.max(samples / rate, uncompressed * leastFlacPart)
}

/** The last page's position in samples (RFC 3533); Opus has 48000 per second and skips the first few (RFC 7845). */
function ogg(file: Bytes): number | null {
  const head = piece(file, 0, 512)
  const text = latin(new Uint8Array(head.buffer, head.byteOffset, head.byteLength), 0, 512)
  const opus = text.indexOf('OpusHead')
  const vorbis = text.indexOf('\x01vorbis')
  let rate = 0
  let skipped = 0
  if (opus !== -1 && opus + 12 <= head.byteLength) {
    rate = 48_000
    skipped = head.getUint16(opus + 10, true)
  } else if (vorbis !== -1 && vorbis + 16 <= head.byteLength)
    rate = head.getUint32(vorbis + 12, true)
  const last = lastPosition(file)
  return rate === 0 || last === null ? null : (last - skipped) / rate
}

/** The ASCII codes of `OggS`. */
const capturePattern = 0x4f676753

/** The position of the last page that has one, searched in the last 65536 bytes: a page has at most 65307. */
function lastPosition(file: Bytes): number | null {
  const view = piece(file, Math.max(0, file.size - pieceBytes), pieceBytes)
  for (let at = view.byteLength - 27; at >= 0; at--) {
    if (view.getUint32(at) !== capturePattern) continue
    const position = view.getBigInt64(at + 6, true)
    if (position >= 0n) return Number(position)
  }
  return null
}

/** Boxes: `moov` contains `mvhd` with the duration; fragmented files may have it only in `mehd` (ISO 14496-12). */
function isoMedia(file: Bytes): number | null {
  const film = box(file, 'moov', 0, file.size)
  if (film === null) return null
  const head = box(file, 'mvhd', film.start, film.end)
  if (head === null) return null
  const view = piece(file, head.start, 32)
  const isLong = view.byteLength > 0 && view.getUint8(0) === 1
  if (view.byteLength < (isLong ? 32 : 20)) return null
  const scale = view.getUint32(isLong ? 20 : 12)
  const said = isLong ? Number(view.getBigUint64(24)) : view.getUint32(16)
  const isUnknown = said === 0 || (!isLong && said === 0xffff_ffff)
  const units = isUnknown ? fragmented(file, film) : said
  return scale === 0 ? null : units / scale
}

interface Inside {
  readonly start: number
  readonly end: number
}

function fragmented(file: Bytes, film: Inside): number {
  const extension = box(file, 'mvex', film.start, film.end)
  const head = extension === null ? null : box(file, 'mehd', extension.start, extension.end)
  if (head === null) return 0
  const view = piece(file, head.start, 12)
  if (view.byteLength < 8) return 0
  const isLong = view.getUint8(0) === 1
  if (isLong && view.byteLength < 12) return 0
  return isLong ? Number(view.getBigUint64(4)) : view.getUint32(4)
}

function box(file: Bytes, wanted: string, start: number, end: number): Inside | null {
  let at = start
  for (let step = 0; step < maxSteps && at + 8 <= end; step++) {
    const view = piece(file, at, 16)
    if (view.byteLength < 8) return null
    const short = view.getUint32(0)
    const isLong = short === 1 && view.byteLength === 16
    const said = isLong ? Number(view.getBigUint64(8)) : short
    const length = said === 0 ? end - at : said
    const headBytes = isLong ? 16 : 8
    if (length < headBytes) return null
    if (name(view, 4) === wanted) return { start: at + headBytes, end: Math.min(end, at + length) }
    at += length
  }
  return null
}

const segmentId = 0x18538067
const infoId = 0x1549a966
const clusterId = 0x1f43b675
const scaleId = 0x2ad7b1
const durationId = 0x4489

/** Segment > Info: a duration in units of `TimestampScale` nanoseconds (RFC 9559). */
function matroska(file: Bytes): number | null {
  const segment = element(file, segmentId, 0, file.size)
  const info = segment && element(file, infoId, segment.start, segment.end)
  if (!info) return null
  const duration = element(file, durationId, info.start, info.end)
  if (duration === null) return null
  const view = piece(file, duration.start, Math.min(9, duration.end - duration.start))
  if (view.byteLength !== 4 && view.byteLength !== 8) return null
  const units = view.byteLength === 4 ? view.getFloat32(0) : view.getFloat64(0)
  return (units * nanosecondsPerUnit(file, info)) / 1e9
}

function nanosecondsPerUnit(file: Bytes, info: Inside): number {
  const scale = element(file, scaleId, info.start, info.end)
  if (scale === null) return 1_000_000
  const view = piece(file, scale.start, Math.min(8, scale.end - scale.start))
  let value = 0
  for (let at = 0; at < view.byteLength; at++) value = value * 256 + view.getUint8(at)
  return value
}

function element(file: Bytes, wanted: number, start: number, end: number): Inside | null {
  let at = start
  for (let step = 0; step < maxSteps && at < end; step++) {
    const view = piece(file, at, 12)
    const id = variable(view, 0, false)
    const size = id && variable(view, id.length, true)
    if (!id || !size) return null
    const from = at + id.length + size.length
    // An unknown length is all ones: the element then extends to the end.
    const to = size.isUnknown ? end : Math.min(end, from + size.value)
    if (id.value === wanted) return { start: from, end: to }
    // The headers precede the media data.
    if (id.value === clusterId || size.isUnknown) return null
    at = to
  }
  return null
}

/** Reads a number whose leading zero bits give its length in bytes (RFC 8794, section 4). */
function variable(view: DataView, at: number, isSize: boolean) {
  if (at >= view.byteLength) return null
  const first = view.getUint8(at)
  const length = Math.clz32(first) - 23
  if (length > 8 || at + length > view.byteLength) return null
  let value = isSize ? first & (0xff >> length) : first
  let isUnknown = isSize && value === 0xff >> length
  for (let offset = 1; offset < length; offset++) {
    const next = view.getUint8(at + offset)
    value = value * 256 + next
    isUnknown &&= next === 0xff
  }
  return { value, length, isUnknown }
}
