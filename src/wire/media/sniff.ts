// Detects a file's media type from its first bytes, since declared names and types may be wrong.

/** A file's bytes, which need not be in memory. */
export interface Bytes {
  readonly size: number
  /** The bytes `[start, end)`, within `size`. */
  read(start: number, end: number): Uint8Array
}

const lookedAtBytes = 4_096

/** Media type in lower case of an image, audio or video file; null where the bytes are of no known type. */
export function sniffedType(file: Bytes): string | null {
  const bytes = file.read(0, Math.min(file.size, lookedAtBytes))
  const text = latin(bytes, 0, 16)
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (/^GIF8[79]a/.test(text)) return 'image/gif'
  if (text.startsWith('RIFF') || text.startsWith('RF64')) {
    const form = latin(bytes, 8, 12)
    if (form === 'WEBP') return 'image/webp'
    return form === 'WAVE' ? 'audio/wav' : null
  }
  if (text.startsWith('fLaC')) return 'audio/flac'
  if (text.startsWith('OggS')) return 'audio/ogg'
  if (text.startsWith('\x1a\x45\xdf\xa3')) return matroska(bytes)
  if (latin(bytes, 4, 8) === 'ftyp') return isoMedia(bytes)
  if (text.startsWith('\x00\x00\x01\xba')) return 'video/mpeg'
  if (text.startsWith('ID3')) return tagged(file)
  return firstFrame(bytes) === null ? null : 'audio/mpeg'
}

/** At most `length` bytes from `start`; fewer at the end of the file. */
export function piece(file: Bytes, start: number, length: number): DataView {
  const from = Math.min(start, file.size)
  // A computed length may be negative.
  const bytes = file.read(from, Math.min(file.size, from + Math.max(0, length)))
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Decodes one byte per character (Latin-1). */
export function latin(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end))
}

/** EBML's document type is in its first element. */
function matroska(bytes: Uint8Array): string {
  return latin(bytes, 0, 64).includes('matroska') ? 'video/x-matroska' : 'video/webm'
}

/** ISO base media: the first brand tells the concrete format. */
function isoMedia(bytes: Uint8Array): string {
  const brand = latin(bytes, 8, 12)
  if (/^M4[AB] $/.test(brand)) return 'audio/mp4'
  if (/^(heic|heix|mif1|msf1)$/.test(brand)) return 'image/heic'
  if (/^avi[fs]$/.test(brand)) return 'image/avif'
  return brand === 'qt  ' ? 'video/quicktime' : 'video/mp4'
}

/** ID3 tags precede MP3, and sometimes FLAC. */
function tagged(file: Bytes): string {
  const start = id3Bytes(file)
  const magic = file.read(start, Math.min(file.size, start + 4))
  return latin(magic, 0, 4) === 'fLaC' ? 'audio/flac' : 'audio/mpeg'
}

/** The length of the ID3v2 tag at the beginning, at most `size`; 0 where there is none. */
export function id3Bytes(file: Bytes): number {
  const head = file.read(0, Math.min(file.size, 10))
  if (head.length < 10 || latin(head, 0, 3) !== 'ID3') return 0
  const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6, 10)
  const length = ((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f)
  const footer = ((head[5] ?? 0) & 0x10) === 0 ? 0 : 10
  return Math.min(file.size, 10 + length + footer)
}

/** One frame of MPEG audio (ISO 11172-3, 2.4.1.3). */
interface AudioFrame {
  readonly at: number
  readonly bytes: number
  readonly samples: number
  readonly sampleRate: number
  /** Bytes between the frame's header and a Xing header: its side information. */
  readonly sideBytes: number
}

const bitRates = {
  v1: {
    1: [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    2: [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    3: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  },
  v2: {
    1: [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    2: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    3: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  },
} as const
const sampleRates = [44_100, 48_000, 32_000] as const

/** The frame whose header is at `at`, or null. */
export function frameAt(bytes: Uint8Array, at: number): AudioFrame | null {
  // Tested first, because a file may consist of many bytes that look like a frame's start.
  const second = bytes[at + 1] ?? 0
  if (bytes[at] !== 0xff || (second & 0xe0) !== 0xe0) return null
  const third = bytes[at + 2] ?? 0
  const fourth = bytes[at + 3] ?? 0
  const version = (second >> 3) & 3
  const layer = 4 - ((second >> 1) & 3)
  if (version === 1 || (layer !== 1 && layer !== 2 && layer !== 3)) return null
  const isFirst = version === 3
  const kilobits = bitRates[isFirst ? 'v1' : 'v2'][layer][(third >> 4) - 1]
  const fullRate = sampleRates[((third >> 2) & 3) as 0 | 1 | 2]
  if (kilobits === undefined || fullRate === undefined) return null
  const sampleRate = isFirst ? fullRate : version === 2 ? fullRate / 2 : fullRate / 4
  const samples = layer === 1 ? 384 : layer === 3 && !isFirst ? 576 : 1_152
  const padding = (third >> 1) & 1
  const length =
    layer === 1
      ? (Math.floor((12_000 * kilobits) / sampleRate) + padding) * 4
      : Math.floor((samples * 125 * kilobits) / sampleRate) + padding
  const isMono = fourth >> 6 === 3
  const sideBytes = isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17
  return { at, bytes: length, samples, sampleRate, sideBytes }
}

/** The first frame that is followed by another, or that ends the bytes. */
export function firstFrame(bytes: Uint8Array): AudioFrame | null {
  for (let at = bytes.indexOf(0xff); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const frame = frameAt(bytes, at)
    if (frame === null) continue
    const next = at + frame.bytes
    if (next === bytes.length || frameAt(bytes, next) !== null) return frame
  }
  return null
}
