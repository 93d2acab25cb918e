// Tests that the sandbox's sound lasts as long as its text takes to speak, in every format.

import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { flac, mp3, pcm, wav } from './sound.ts'
import { seeFlac, seeMp3, seeWav } from './testing.ts'
import { secondsToSay, tuneOf } from './tune.ts'

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex').slice(0, 16)
const text = 'The quick brown fox jumps over the lazy dog, and then some more words follow.'
const tune = tuneOf(text)

describe('how long a text takes', () => {
  test('is fifteen characters a second, a quarter of one at least, and less at a higher speed', () => {
    expect(secondsToSay('x'.repeat(150))).toBe(10)
    expect(secondsToSay('x'.repeat(150), 2)).toBe(5)
    expect(secondsToSay('é🙂'.repeat(75))).toBe(10)
    expect(secondsToSay('')).toBe(0.25)
  })
})

describe('each format', () => {
  const seconds = text.length / 15

  test('WAV: lasts so long to the sample', () => {
    const seen = seeWav(Buffer.concat([...wav(tune)]))
    expect(seen).toEqual({ rate: 24_000, channels: 1, seconds: tune.samples / 24_000 })
    expect(seen.seconds).toBeCloseTo(seconds, 4)
  })

  test('PCM: the same samples without the head', () => {
    expect(Buffer.concat([...pcm(tune)])).toEqual(Buffer.concat([...wav(tune)]).slice(44))
  })

  test('FLAC: says as much, and has every byte that FFmpeg has read', () => {
    const bytes = Buffer.concat([...flac(tune)])
    expect(seeFlac(bytes)).toEqual({ rate: 24_000, channels: 1, seconds: tune.samples / 24_000 })
    expect(hashOf(bytes)).toBe('a0cd712f1a79b673')
  })

  test('MP3: whole frames, up to one longer, and every byte that FFmpeg has read', () => {
    const bytes = Buffer.concat([...mp3(tune)])
    const { seconds: measured } = seeMp3(bytes)
    expect(measured).toBeGreaterThanOrEqual(seconds)
    expect(measured).toBeLessThan(seconds + 0.024)
    expect(hashOf(bytes)).toBe('ca5cfca9c1905689')
  })
})

test('the tone of a word is heard in the samples, and silence after it', () => {
  const one = tuneOf('hello there hello')
  const samples = new Int16Array(one.pcm(0, one.samples).buffer)
  const pitch = one.pitchAt(100)
  let crossings = 0
  const wordSamples = Math.floor(one.samples / 3)
  const sounding = Math.floor(wordSamples * 0.8)
  for (let at = 1; at < sounding; at += 1)
    if ((samples[at - 1] ?? 0) < 0 && (samples[at] ?? 0) >= 0) crossings += 1
  expect(Math.abs(crossings / (sounding / 24_000) - pitch)).toBeLessThan(10)
  expect(one.pitchAt(2 * wordSamples + 100)).toBe(pitch)
  expect(samples.slice(sounding + 2, wordSamples).every((sample) => sample === 0)).toBe(true)
})
