// Compares subtitles with independent readers, and tests how words are grouped.

import { describe, expect, test } from 'bun:test'
import { readSrt, readVtt } from '../../../test/support/sounds.ts'
import { cuesOf } from './cues.ts'
import { type Cue, subRip, webVtt } from './subtitles.ts'

test('SubRip, to the letter', () => {
  const cues = [
    { start: 0, end: 2.508, text: ' Hello.\n\nThere ' },
    { start: 3_599.9995, end: 3_661.5, text: 'a --> b' },
  ]
  expect(subRip(cues)).toBe(
    '1\n00:00:00,000 --> 00:00:02,508\nHello.\nThere\n\n' +
      '2\n01:00:00,000 --> 01:01:01,500\na -> b\n\n',
  )
})

test('WebVTT, to the letter', () => {
  const cues = [
    { start: 0.0004, end: 2.5, text: 'R&D <b>' },
    { start: 360_000, end: 360_001, text: 'x --> y' },
  ]
  expect(webVtt(cues)).toBe(
    'WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nR&amp;D &lt;b&gt;\n\n' +
      '100:00:00.000 --> 100:00:01.000\nx --&gt; y\n\n',
  )
})

test('what says nothing has no cue, and none gives no file that readers refuse', () => {
  expect(subRip([{ start: 1, end: 2, text: ' \n ' }])).toBe('')
  expect(webVtt([])).toBe('WEBVTT\n\n')
})

test('W54: times that are none become 0, an end is not before its start', () => {
  const cues = [
    { start: Number.NaN, end: -3, text: 'a' },
    { start: 5, end: 4, text: 'b' },
  ]
  expect(readSrt(subRip(cues)).map(({ startMs, endMs }) => [startMs, endMs])).toEqual([
    [0, 0],
    [5_000, 5_000],
  ])
})

/** A repeatable source of numbers in [0, 1). */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const bits = [
  'word',
  ' ',
  '\n',
  '\r\n',
  '\n\n',
  '-->',
  '--',
  '>',
  '1',
  '00:00:01,000',
  '&',
  '<i>',
  '\0',
  'é',
  '語',
  '\u2028',
  'WEBVTT',
  'NOTE',
]

function randomCues(next: () => number): Cue[] {
  let at = 0
  return Array.from({ length: Math.floor(next() * 6) }, () => {
    const start = at + next() * 4_000
    at = start + next() * 10
    const text = Array.from(
      { length: Math.floor(next() * 8) },
      () => bits[Math.floor(next() * bits.length)],
    )
    return { start, end: at, text: text.join('') }
  })
}

describe('whatever is said, readers of others make find the same cues', () => {
  test.each(Array.from({ length: 300 }, (_, seed) => seed))('%d', (seed) => {
    const cues = randomCues(random(seed))
    const clean = (text: string) =>
      text
        .replaceAll('\0', '')
        .split(/[\r\n\u2028]+/)
        .map((line) => line.trim())
        .filter((line) => line !== '')
        .join('\n')
    const said = cues
      .map(({ start, end, text }) => ({
        startMs: Math.round(start * 1000),
        endMs: Math.round(end * 1000),
        text: clean(text),
      }))
      .filter(({ text }) => text !== '')
    expect(readVtt(webVtt(cues))).toEqual(said)
    const plain = said.map((cue) => ({ ...cue, text: cue.text.replace(/-{2,}>/g, '->') }))
    expect(readSrt(subRip(cues))).toEqual(plain)
  })
})

describe('words to parts', () => {
  const words = (text: string, from = 0) =>
    text.split(' ').map((each, at) => ({ start: from + at, end: from + at + 0.5, text: each }))

  test('a part ends with its sentence', () => {
    expect(
      cuesOf(words('Hello there. How are')).map(({ start, end, text }) => [start, end, text]),
    ).toEqual([
      [0, 1.5, 'Hello there.'],
      [2, 3.5, 'How are'],
    ])
  })

  test('a part ends with its speaker, and with a pause', () => {
    const spoken = [
      { start: 0, end: 1, text: 'a', speaker: '0' },
      { start: 1, end: 2, text: 'b', speaker: '1' },
      { start: 2.9, end: 3, text: 'c', speaker: '1' },
    ]
    expect(cuesOf(spoken).map(({ text, speaker }) => [text, speaker])).toEqual([
      ['a', '0'],
      ['b', '1'],
      ['c', '1'],
    ])
  })

  test('no part is long in time or in text, and no word is lost', () => {
    const said = words(Array.from({ length: 200 }, (_, at) => `word${at}`).join(' '))
    const cues = cuesOf(said)
    expect(cues.map(({ text }) => text).join(' ')).toBe(said.map(({ text }) => text).join(' '))
    for (const { start, end, text } of cues) {
      expect(end - start).toBeLessThanOrEqual(7)
      expect(text.length).toBeLessThanOrEqual(84)
    }
  })
})
