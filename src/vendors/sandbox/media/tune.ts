// The audio of the sandbox's speech: one tone per word, as long as the text takes to speak.

import { hash } from '../../hash.ts'

/** The rate of OpenAI's `pcm` format. */
export const sampleRate = 24_000
/** About 150 words per minute. */
const charactersPerSecond = 15
const leastSeconds = 0.25
/** A pentatonic scale from the A below middle C, in hertz. */
export const scale: readonly number[] = [220, 247.5, 277.2, 330, 371.3, 440, 495, 554.4]
const loudness = 0.3
/** The part of each word's time that is silence at its end. */
const rest = 0.2

export interface Tune {
  readonly samples: number
  /** The tone at a sample, in hertz; 0: silence. */
  pitchAt(sample: number): number
  /** Samples `[from, to)` as 16 bits, little-endian. */
  pcm(from: number, to: number): Uint8Array
}

/** The seconds that a text takes to speak; `speed` 1 is normal. */
export function secondsToSay(text: string, speed = 1): number {
  return secondsOf([...text].length, speed)
}

/** The seconds that this many characters take. */
export function secondsOf(characters: number, speed = 1): number {
  return Math.max(leastSeconds, characters / charactersPerSecond / speed)
}

export function tuneOf(text: string, speed = 1): Tune {
  const samples = Math.round(secondsToSay(text, speed) * sampleRate)
  const words = text.split(/\s+/).filter((word) => word !== '')
  const perWord = samples / Math.max(1, words.length)
  const pitches = words.map((word) => scale[hash(word) % scale.length] ?? 0)
  const pitchAt = (sample: number): number => {
    const word = Math.floor(sample / perWord)
    return sample - word * perWord > perWord * (1 - rest) ? 0 : (pitches[word] ?? 0)
  }
  return {
    samples,
    pitchAt,
    pcm(from, to) {
      const bytes = new Uint8Array((to - from) * 2)
      const view = new DataView(bytes.buffer)
      for (let sample = from; sample < to; sample += 1) {
        const turns = (pitchAt(sample) * sample) / sampleRate
        const value = Math.sin(2 * Math.PI * turns) * loudness
        view.setInt16((sample - from) * 2, Math.round(value * 32_767), true)
      }
      return bytes
    },
  }
}
