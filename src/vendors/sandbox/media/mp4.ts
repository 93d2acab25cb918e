// A small silent film as an MP4 (ISO/IEC 14496-12, -15): one colour per second.

import {
  type FrameSize,
  keyFrame,
  pictureParameters,
  sameFrame,
  sequenceParameters,
} from './h264.ts'
import { sceneOf } from './scene.ts'

const framesPerSecond = 24
/** Time units per second, in the film and its track. */
const timescale = 1_200
const unityMatrix = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000]
const undefinedLanguage = 0x55c4

interface FilmOptions extends FrameSize {
  /** Whole seconds, at least 1. */
  readonly seconds: number
}

/** Width and height in pixels must be even. The file has a few kilobytes per second. */
export function mp4(text: string, options: FilmOptions): Uint8Array {
  const { seconds, ...size } = options
  const { colours } = sceneOf(text)
  const key = (second: number) => keyFrame(colours[second % colours.length] ?? [0, 0, 0], size)
  const frames = Array.from({ length: seconds * framesPerSecond }, (_, index) => {
    const sinceKey = index % framesPerSecond
    const unit = sinceKey === 0 ? key(index / framesPerSecond) : sameFrame(size, sinceKey)
    return Buffer.concat([words(unit.length), unit])
  })
  const head = box('ftyp', 'isom', words(0x200), 'isomiso2avc1mp41')
  // The offset of the frames has a fixed width, so the length of everything before them is known.
  const before = head.length + moov(options, frames, 0).length + 8
  return Buffer.concat([head, moov(options, frames, before), box('mdat', ...frames)])
}

function moov(options: FilmOptions, frames: readonly Buffer[], firstByte: number): Buffer {
  const { seconds, width, height } = options
  const duration = seconds * timescale
  const volume = words(0x0100_0000, 0, 0)
  const movieHead = [words(0, 0, 0, timescale, duration, 0x10000), volume, words(...unityMatrix)]
  const trackHead = [words(3, 0, 0, 1, 0, duration, 0, 0, 0, 0), words(...unityMatrix)]
  return box(
    'moov',
    box('mvhd', ...movieHead, words(0, 0, 0, 0, 0, 0, 2)),
    box(
      'trak',
      box('tkhd', ...trackHead, words(width << 16, height << 16)),
      box(
        'mdia',
        box('mdhd', words(0, 0, 0, timescale, duration, undefinedLanguage << 16)),
        box('hdlr', words(0, 0), 'vide', words(0, 0, 0), 'video\0'),
        box(
          'minf',
          box('vmhd', words(1, 0, 0)),
          box('dinf', box('dref', words(0, 1), box('url ', words(1)))),
          tables(options, frames, firstByte),
        ),
      ),
    ),
  )
}

/** Tables of the frames: their kinds, durations and positions. */
function tables(size: FrameSize, frames: readonly Buffer[], firstByte: number): Buffer {
  const keys = frames.flatMap((_, index) => (index % framesPerSecond === 0 ? [index + 1] : []))
  return box(
    'stbl',
    box('stsd', words(0, 1), sampleEntry(size)),
    box('stts', words(0, 1, frames.length, timescale / framesPerSecond)),
    box('stss', words(0, keys.length, ...keys)),
    box('stsc', words(0, 1, 1, frames.length, 1)),
    box('stsz', words(0, 0, frames.length, ...frames.map(({ length }) => length))),
    box('stco', words(0, 1, firstByte)),
  )
}

function sampleEntry(size: FrameSize): Buffer {
  const sequence = sequenceParameters(size)
  const pictures = pictureParameters()
  const configuration = box(
    'avcC',
    // Profile, constraints and level from the parameter sets; lengths of four bytes; one set of each kind.
    Buffer.of(1, ...sequence.subarray(1, 4), 0xff, 0xe1, 0, sequence.length),
    sequence,
    Buffer.of(1, 0, pictures.length),
    pictures,
  )
  const pixels = (size.width << 16) | size.height
  const name = [0, 0, 0, 0, 0, 0, 0]
  const entry = words(0, 1, 0, 0, 0, 0, pixels, 0x480000, 0x480000, 0, 0x10000, ...name, 0x18)
  return box('avc1', entry, Buffer.of(0xff, 0xff), configuration)
}

function box(type: string, ...content: readonly (string | Uint8Array)[]): Buffer {
  const parts = content.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))
  const length = parts.reduce((sum, part) => sum + part.length, 8)
  return Buffer.concat([words(length), Buffer.from(type), ...parts])
}

/** Each value as 32 bits, big-endian. */
function words(...values: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(values).buffer).swap32()
}
