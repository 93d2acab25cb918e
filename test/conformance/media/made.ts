// What the vendors of the media tables make for every request: pictures by size, one recording's words, one sound in
// every format.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mp4 } from '../../../src/vendors/sandbox/media/mp4.ts'
import { png, wav } from '../../support/samples.ts'
import { samples } from '../../support/sounds.ts'

const pictures = new Map<string, Buffer>()

/** The PNG that every vendor makes for a size. */
export function pictureOf(width: number, height: number): Buffer {
  const name = `${width}x${height}`
  const made = pictures.get(name) ?? png(width, height)
  pictures.set(name, made)
  return made
}

/** The picture that is edited and varied. */
export const given = png(64, 64)
export const mask = png(64, 64)

/** The recording that is transcribed: three seconds, in which two people speak. */
export const recording = wav(3)
export const spoken = {
  text: 'Hello from afar. Bye.',
  english: 'Hello, translated.',
  seconds: 3,
  segments: [
    { start: 0, end: 1.4, text: 'Hello from afar.', speaker: 'A' },
    { start: 1.62, end: 2.9, text: 'Bye.', speaker: 'B' },
  ],
  words: [
    { start: 0, end: 0.5, word: 'Hello', speaker: 'A' },
    { start: 0.5, end: 0.9, word: 'from', speaker: 'A' },
    { start: 0.9, end: 1.4, word: 'afar.', speaker: 'A' },
    { start: 1.62, end: 2.9, word: 'Bye.', speaker: 'B' },
  ],
} as const

/** The text that is spoken. */
export const sentence = 'The quick brown fox jumps over the lazy dog.'

/** A second and a half, 24000 samples a second. */
export const speechRate = 24_000
export const speechSamples = samples(36_000)

const fixture = (name: string) => readFileSync(join(import.meta.dir, '../../fixtures/media', name))

function speechWav(): Buffer {
  const head = Buffer.from(wav(0))
  head.writeUInt32LE(36 + speechSamples.length, 4)
  head.writeUInt32LE(speechRate, 24)
  head.writeUInt32LE(2 * speechRate, 28)
  head.writeUInt32LE(speechSamples.length, 40)
  return Buffer.concat([head, speechSamples])
}

export const soundFormats = ['mp3', 'wav', 'pcm', 'opus', 'aac', 'flac'] as const
export type SoundFormat = (typeof soundFormats)[number]

/** One sound as every vendor returns it; no two formats have a byte in common. */
export const sounds: Readonly<Record<SoundFormat, Buffer>> = {
  mp3: fixture('constant.mp3'),
  wav: speechWav(),
  pcm: speechSamples,
  opus: fixture('opus.ogg'),
  aac: fixture('other.aac'),
  flac: fixture('sound.flac'),
}

export const soundTypes: Readonly<Record<SoundFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
}

/** A real film of this many seconds. */
export function filmOf(size: string, seconds: number): Uint8Array {
  const [width = 0, height = 0] = size.split('x').map(Number)
  return mp4('a film', { width, height, seconds })
}
