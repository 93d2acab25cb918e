// Sound vendors for tests, by their documentation; and independent readers of the results.

import { Buffer } from 'node:buffer'

/** Samples of 16 bits, one channel: a slope, which cannot be mistaken for silence. */
export function samples(count: number): Buffer {
  const bytes = Buffer.alloc(count * 2)
  for (let at = 0; at < count; at++) bytes.writeInt16LE((at % 2_000) - 1_000, at * 2)
  return bytes
}

export interface Wav {
  readonly rate: number
  readonly channels: number
  readonly bits: number
  readonly data: Buffer
}

/** Strict: every length in the file must be right. */
export function readWav(file: Uint8Array): Wav {
  const bytes = Buffer.from(file)
  const name = (at: number) => bytes.toString('latin1', at, at + 4)
  if (name(0) !== 'RIFF' || name(8) !== 'WAVE') throw new Error('no WAV')
  if (bytes.readUInt32LE(4) !== bytes.length - 8) throw new Error('RIFF has a wrong length')
  let found: Omit<Wav, 'data'> | null = null
  for (let at = 12; at < bytes.length; at += 8 + bytes.readUInt32LE(at + 4)) {
    const start = at + 8
    if (name(at) === 'fmt ') {
      if (bytes.readUInt16LE(start) !== 1) throw new Error('not PCM')
      found = {
        channels: bytes.readUInt16LE(start + 2),
        rate: bytes.readUInt32LE(start + 4),
        bits: bytes.readUInt16LE(start + 14),
      }
    } else if (name(at) === 'data') {
      const data = bytes.subarray(start, start + bytes.readUInt32LE(at + 4))
      if (found === null || data.length !== bytes.readUInt32LE(at + 4)) throw new Error('cut short')
      return { ...found, data }
    }
  }
  throw new Error('no data')
}

export interface ReadCue {
  readonly startMs: number
  readonly endMs: number
  readonly text: string
}

function clockMs(text: string, point: string): number {
  const found = new RegExp(`^(\\d{2,}):([0-5]\\d):([0-5]\\d)\\${point}(\\d{3})$`).exec(text)
  if (found === null) throw new Error(`no time: ${text}`)
  const [hours = 0, minutes = 0, seconds = 0, ms = 0] = found.slice(1).map(Number)
  return ((hours * 60 + minutes) * 60 + seconds) * 1_000 + ms
}

/** A state machine over lines, as players read SubRip: number, times, lines of text, a blank line. */
export function readSrt(file: string): ReadCue[] {
  const cues: ReadCue[] = []
  const lines = file.split('\n')
  let at = 0
  while (at < lines.length) {
    if (lines[at] === '') {
      at++
      continue
    }
    if (lines[at] !== String(cues.length + 1)) throw new Error(`no number: ${lines[at]}`)
    const [from = '', to = '', ...more] = (lines[at + 1] ?? '').split(' --> ')
    if (more.length > 0) throw new Error('two arrows')
    const text: string[] = []
    for (at += 2; at < lines.length && lines[at] !== ''; at++) {
      if (lines[at]?.includes('-->')) throw new Error('an arrow in a text')
      text.push(lines[at] ?? '')
    }
    cues.push({ startMs: clockMs(from, ','), endMs: clockMs(to, ','), text: text.join('\n') })
  }
  return cues
}

/** WebVTT's head, then blocks between blank lines; entities in texts are decoded. */
export function readVtt(file: string): ReadCue[] {
  const [head, ...blocks] = file.replace(/\n+$/, '').split(/\n\n+/)
  if (head !== 'WEBVTT') throw new Error(`no head: ${head}`)
  return blocks.map((block) => {
    const [times = '', ...lines] = block.split('\n')
    const [from = '', to = '', ...more] = times.split(' --> ')
    if (more.length > 0 || lines.some((line) => line.includes('-->'))) throw new Error('an arrow')
    const text = lines.join('\n')
    if (/<|&(?!(amp|lt|gt);)/.test(text)) throw new Error(`markup in a text: ${text}`)
    const plain = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
    return { startMs: clockMs(from, '.'), endMs: clockMs(to, '.'), text: plain }
  })
}
