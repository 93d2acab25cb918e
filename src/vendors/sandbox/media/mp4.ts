// A small film as an MP4 (ISO/IEC 14496-12, -15): a still scene a second, its discs a little further each time.

import {
  type FrameSize,
  keyFrame,
  pictureParameters,
  sameFrame,
  sequenceParameters,
} from './h264.ts'
import { joined } from './png.ts'
import { sceneOf } from './scene.ts'

export const framesPerSecond = 24
/** Units of time a second, in the film and its track. */
const timescale = 1_200
const unityMatrix = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000]
const undefinedLanguage = 0x55c4

export interface FilmOptions extends FrameSize {
  /** Whole seconds, at least 1. */
  readonly seconds: number
}

/** Even width and height in pixels, up to 2048 by 1088. A few kilobytes a second. */
export function mp4(text: string, options: FilmOptions): Uint8Array {
  const frames = framesOf(text, options)
  const head = box('ftyp', ascii('isom'), four(0x200), ascii('isomiso2avc1mp41'))
  // The place of the frames is as many digits wherever it is, so the length of what is before them is known.
  const before = head.length + moov(options, frames, 0).length + 8
  return joined([head, moov(options, frames, before), box('mdat', ...frames)])
}

function framesOf(text: string, { seconds, width, height }: FilmOptions): Uint8Array[] {
  const size = { width, height }
  const frames: Uint8Array[] = []
  for (let second = 0; second < seconds; second += 1) {
    frames.push(measured(keyFrame(sceneOf(text, second / 20), size, second)))
    for (let index = 1; index < framesPerSecond; index += 1)
      frames.push(measured(sameFrame(size, index)))
  }
  return frames
}

function moov(options: FilmOptions, frames: readonly Uint8Array[], firstByte: number): Uint8Array {
  const { seconds, width, height } = options
  const duration = seconds * timescale
  const zeros = (count: number) => new Uint8Array(count)
  const movieHead = full(
    'mvhd',
    0,
    words(0, 0, timescale, duration, 0x10000),
    Uint8Array.of(1, 0),
    zeros(10),
    words(...unityMatrix),
    zeros(24),
    four(2),
  )
  const trackHead = full(
    'tkhd',
    3,
    words(0, 0, 1, 0, duration),
    zeros(16),
    words(...unityMatrix, width << 16, height << 16),
  )
  const media = box(
    'mdia',
    full('mdhd', 0, words(0, 0, timescale, duration, undefinedLanguage << 16)),
    full('hdlr', 0, four(0), ascii('vide'), zeros(12), ascii('video\0')),
    box(
      'minf',
      full('vmhd', 1, zeros(8)),
      box('dinf', full('dref', 0, four(1), full('url ', 1))),
      tables(options, frames, firstByte),
    ),
  )
  return box('moov', movieHead, box('trak', trackHead, media))
}

/** What each frame is, how long it is shown, where it stands. */
function tables(size: FrameSize, frames: readonly Uint8Array[], firstByte: number): Uint8Array {
  const keys = frames.flatMap((_, index) => (index % framesPerSecond === 0 ? [index + 1] : []))
  return box(
    'stbl',
    full('stsd', 0, four(1), sampleEntry(size)),
    full('stts', 0, words(1, frames.length, timescale / framesPerSecond)),
    full('stss', 0, words(keys.length, ...keys)),
    full('stsc', 0, words(1, 1, frames.length, 1)),
    full('stsz', 0, words(0, frames.length, ...frames.map(({ length }) => length))),
    full('stco', 0, words(1, firstByte)),
  )
}

function sampleEntry(size: FrameSize): Uint8Array {
  const parameters = sequenceParameters(size)
  const pictures = pictureParameters()
  const configuration = box(
    'avcC',
    // Profile, constraints and level as the parameters have them; lengths of four bytes; one set of each.
    Uint8Array.of(1, ...parameters.subarray(1, 4), 0xff, 0xe1),
    two(parameters.length),
    parameters,
    Uint8Array.of(1),
    two(pictures.length),
    pictures,
  )
  return box(
    'avc1',
    new Uint8Array(6),
    two(1),
    new Uint8Array(16),
    two(size.width),
    two(size.height),
    words(0x480000, 0x480000, 0),
    two(1),
    new Uint8Array(32),
    two(24),
    two(0xffff),
    configuration,
  )
}

/** A unit with its length before it. */
function measured(unit: Uint8Array): Uint8Array {
  return joined([four(unit.length), unit])
}

function box(type: string, ...content: readonly Uint8Array[]): Uint8Array {
  const length = content.reduce((sum, part) => sum + part.length, 8)
  return joined([four(length), ascii(type), ...content])
}

/** A box of version 0 with flags. */
function full(type: string, flags: number, ...content: readonly Uint8Array[]): Uint8Array {
  return box(type, four(flags), ...content)
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function two(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 255)
}

function four(value: number): Uint8Array {
  return words(value)
}

function words(...values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 4))
  for (const [index, value] of values.entries()) view.setUint32(index * 4, value)
  return new Uint8Array(view.buffer)
}
