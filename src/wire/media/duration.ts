// How long a sound or a film is, by what its container says: a few small reads, never all of it.

import { type Bytes, firstFrame, frameAt, id3Bytes, latin, piece } from './sniff.ts'

/** Of one piece that is read at once. */
const pieceBytes = 65_536
/** Boxes, chunks and elements looked at before it is given up. */
const maxSteps = 1_000
/** Nothing is longer: a head that says so is wrong. */
const maxSeconds = 30 * 86_400

/** Seconds, by the media type of `sniffedType`; null where the container does not say, or lies. */
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

/** RIFF's chunks: `fmt ` says how many bytes make a second, `data` how many there are. */
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
        // RF64 says here what does not fit into 32 bits.
        if (head.byteLength >= 24) longData = Number(head.getBigUint64(16, true))
        break
      case 'fmt ':
        if (head.byteLength >= 20) bytesPerSecond = head.getUint32(16, true)
        break
      case 'data': {
        const left = file.size - at - 8
        // A length nobody knew when the sound began is 0 or the greatest there is.
        const length = said === 0xffff_ffff ? longData || left : said || left
        return bytesPerSecond === 0 ? null : Math.min(length, left) / bytesPerSecond
      }
    }
    at += 8 + said + (said & 1)
  }
  return null
}

/** The count of frames in a Xing head; else by the length, where every frame is as long as the first. */
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
  // Fraunhofer's own head, always 32 bytes behind the frame's.
  const vbri = frame.at + 36
  if (name(view, vbri) === 'VBRI' && vbri + 18 <= view.byteLength)
    return (view.getUint32(vbri + 14) * samples) / sampleRate
  return byFrames(file, start, bytes, frame.at)
}

/** The rate of the frames in the first piece holds for the rest: exact where the bit rate is constant. */
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

/** An ID3v1 tag stands in the last 128 bytes. */
function trailingTagBytes(file: Bytes): number {
  const isTag = file.size > 128 && name(piece(file, file.size - 128, 4), 0).startsWith('TAG')
  return isTag ? 128 : 0
}

/** STREAMINFO: sample rate in 20 bits, samples in 36 (RFC 9639, section 8.2). */
function flac(file: Bytes): number | null {
  const view = piece(file, id3Bytes(file), 42)
  if (view.byteLength < 26 || name(view, 0) !== 'fLaC') return null
  const rate = view.getUint32(18) >>> 12
  const samples = (view.getUint8(21) & 0x0f) * 2 ** 32 + view.getUint32(22)
  return rate === 0 ? null : samples / rate
}

/** The last page's position, in samples (RFC 3533); Opus counts 48000 a second and skips some at first (RFC 7845). */
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

/** `OggS` */
const capturePattern = 0x4f676753

/** Of the last page that says one: a page is at most 65307 bytes long. */
function lastPosition(file: Bytes): number | null {
  const view = piece(file, Math.max(0, file.size - pieceBytes), pieceBytes)
  for (let at = view.byteLength - 27; at >= 0; at--) {
    if (view.getUint32(at) !== capturePattern) continue
    const position = view.getBigInt64(at + 6, true)
    if (position >= 0n) return Number(position)
  }
  return null
}

/** Boxes: `moov` holds `mvhd`, which says it; films in fragments may say it in `mehd` alone (ISO 14496-12). */
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
    // A length nobody knew is all ones: then it goes on to the end.
    const to = size.isUnknown ? end : Math.min(end, from + size.value)
    if (id.value === wanted) return { start: from, end: to }
    // The heads stand before the sound.
    if (id.value === clusterId || size.isUnknown) return null
    at = to
  }
  return null
}

/** A number whose leading zeros say how many bytes it has (RFC 8794, section 4). */
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
