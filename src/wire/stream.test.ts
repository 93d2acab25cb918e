// Tests that a stream means the same however its bytes are divided and its lines end, with splitter and watcher
// together.

import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { FrameSplitter, frameData, frameTooLong, plainDataStart } from './sse.ts'
import { bytesOf, chunk, delta, frame, relay, textOf } from './testing.ts'

const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const sample = [
  ': note\n\n',
  frame(delta({ role: 'assistant', content: '' })),
  frame(delta({ content: 'é你😀 "usage":{' })),
  `event: message\nid: 1\ndata: {"choices":[{"index":0,\ndata: "delta":{"content":"b"}}]}\n\n`,
  frame(delta({ tool_calls: [{ index: 0, function: { arguments: '{"a":"\\n"}' } }] })),
  frame(delta({}, 'stop', { usage })),
  frame(chunk({ choices: [], usage })),
  'data: [DONE]\n\n',
].join('')

/** The result of a relayed stream. */
function essence(pieces: readonly Uint8Array[], wantsUsage: boolean): unknown {
  const { text, kinds, semantics, watcher } = relay(pieces, wantsUsage)
  const { usage: counted, outputBytes, finishReason, model } = watcher
  return { text, kinds, semantics, counted, outputBytes, finishReason, model }
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...new Set(cuts)].toSorted((a, b) => a - b)
  return [...ends, bytes.length].map((end, at) => bytes.slice(at === 0 ? 0 : ends[at - 1], end))
}

describe.each([true, false])('usage asked for: %p', (wantsUsage) => {
  const whole = essence([bytesOf(sample)], wantsUsage)

  test.each([
    ['LF', sample],
    ['CRLF', sample.replaceAll('\n', '\r\n')],
    ['CR', sample.replaceAll('\n', '\r')],
    ['a byte order mark', `\ufeff${sample}`],
    ['a missing last blank line', sample.slice(0, -1)],
    ['no line end at all at the end', sample.slice(0, -2)],
    ['more blank lines', sample.replaceAll('\n\n', '\n\n\n\n')],
  ])('%s: cut once anywhere, and into single bytes', (_name, text) => {
    const bytes = bytesOf(text)
    for (let at = 0; at <= bytes.length; at++) {
      expect(essence([bytes.slice(0, at), bytes.slice(at)], wantsUsage)).toEqual(whole)
    }
    expect(
      essence(
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
        wantsUsage,
      ),
    ).toEqual(whole)
  })

  test('cut in many places at once', () => {
    const crlf = bytesOf(sample.replaceAll('\n', '\r\n'))
    fc.assert(
      fc.property(fc.array(fc.nat(crlf.length), { maxLength: 40 }), (cuts) => {
        expect(essence(cutAt(crlf, cuts), wantsUsage)).toEqual(whole)
      }),
    )
  })
})

describe('frames', () => {
  function framesOf(pieces: readonly Uint8Array[], maxBytes?: number): string[] {
    const splitter = new FrameSplitter(maxBytes)
    const found: string[] = []
    const take = (count: number): void => {
      if (count === frameTooLong) throw new Error('too long')
      for (let at = 0; at < count; at++) {
        found.push(textOf(splitter.bytes.subarray(splitter.starts[at], splitter.ends[at])))
      }
    }
    for (const piece of pieces) take(splitter.push(piece))
    take(splitter.end())
    return found
  }

  test('any lines, cut anywhere, are the frames an independent reading finds', () => {
    const line = fc.constantFrom('data: a', 'data: é', ':', 'event: x', 'x')
    const lineEnd = fc.constantFrom('\n', '\r', '\r\n')
    const frames = fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 5 })
    fc.assert(
      fc.property(frames, lineEnd, fc.array(fc.nat(200)), (list, end, cuts) => {
        const bytes = bytesOf(list.map((lines) => lines.join(end) + end + end).join(''))
        const pieces = cutAt(
          bytes,
          cuts.filter((cut) => cut < bytes.length),
        )
        expect(framesOf(pieces)).toEqual(list.map((lines) => `${lines.join('\n')}\n\n`))
      }),
    )
  })

  test('a frame given away is not overwritten by what follows', () => {
    const splitter = new FrameSplitter()
    splitter.push(bytesOf('data: 1'))
    expect(splitter.push(bytesOf('\n\ndata: 2'))).toBe(1)
    const kept = splitter.bytes.subarray(splitter.starts[0], splitter.ends[0])
    splitter.push(bytesOf('345\n\ndata: 6'))
    splitter.push(bytesOf('789\n\n'))
    expect(textOf(kept)).toBe('data: 1\n\n')
  })

  test('a frame longer than the bound is refused, whole or growing', () => {
    const long = `data: ${'x'.repeat(100)}\n\n`
    expect(() => framesOf([bytesOf(long)], 50)).toThrow('too long')
    const splitter = new FrameSplitter(50)
    const counts = Array.from(bytesOf(long), (byte) => splitter.push(Uint8Array.of(byte)))
    expect(counts).toContain(frameTooLong)
    expect(framesOf([bytesOf(long)], 200)).toEqual([long])
  })

  test('fields of a frame', () => {
    const read = (text: string) => frameData(bytesOf(text), 0, bytesOf(text).length)
    expect(read('data: a\ndata:b\n\n')).toEqual({ data: 'a\nb', event: null })
    expect(read('event: error\ndata: x\n\n')).toEqual({ data: 'x', event: 'error' })
    expect(read(': c\nid: 1\n\n')).toEqual({ data: null, event: null })
    expect(read('data:  two\n\n').data).toBe(' two')
    expect(plainDataStart(bytesOf('data:{}\n\n'), 0, 9)).toBe(5)
    expect(plainDataStart(bytesOf('data: {}\n\n'), 0, 10)).toBe(6)
    expect(plainDataStart(bytesOf('event: x\n\n'), 0, 10)).toBe(-1)
  })
})

/** The folder of recorded replies beside the repository, if there is one. */
function recordings(): string | null {
  for (let at = import.meta.dir; at !== dirname(at); at = dirname(at)) {
    const found = join(at, 'shared', 'recordings')
    if (existsSync(found)) return found
  }
  return null
}

const recorded = recordings()
const streams =
  recorded === null
    ? []
    : [
        'alibaba',
        'deepseek',
        'groq',
        'moonshotai',
        'perplexity',
        'xai',
        'openai-compatible',
        'openai',
      ]
        .flatMap((vendor) => readdirSync(join(recorded, vendor)).map((name) => join(vendor, name)))
        .filter((name) => name.endsWith('.chunks.txt') && !/responses--|speech/.test(name))

interface Said {
  content?: string
  reasoning_content?: string
  reasoning?: string
  tool_calls?: { function?: { arguments?: string } }[]
}

describe('recorded streams', () => {
  test.each(streams)('%s is counted as an independent reading counts it', (name) => {
    const lines = readFileSync(join(recorded ?? '', name), 'utf8')
      .trim()
      .split('\n')
    const stream = bytesOf([...lines, '[DONE]'].map(frame).join(''))
    const quirks = name.startsWith('groq') ? { usagePath: ['x_groq', 'usage'] } : {}
    const { watcher, kinds, text } = relay([stream], false, quirks)
    let bytes = 0
    let total: number | null = null
    for (const line of lines) {
      const value = JSON.parse(line)
      for (const choice of value.choices) {
        const said: Said = choice.delta ?? {}
        const calls = said.tool_calls ?? []
        const texts = [
          said.content,
          said.reasoning_content ?? said.reasoning,
          choice.text,
          ...calls.map((call) => call.function?.arguments),
        ]
        bytes += bytesOf(texts.join('')).length
      }
      if (value.usage) total = value.usage.total_tokens
    }
    expect(watcher.outputBytes).toBe(bytes)
    expect(kinds.at(-1)).toBe(3)
    expect(watcher.finishReason).not.toBeNull()
    const { usage: counted } = watcher
    expect(counted === null ? null : Object.values(counted).reduce((a, b) => a + b)).toBe(total)
    expect(text.includes('"usage":{')).toBe(false)
  })
})

test('an event of megabytes that comes in tiny pieces takes time in proportion to its length', () => {
  const event = bytesOf(`data: ${'x'.repeat(6_000_000)}\n\n`)
  const splitter = new FrameSplitter(8_000_000)
  let frames = 0
  for (let at = 0; at < event.length; at += 4)
    frames += Number(splitter.push(event.subarray(at, at + 4)))
  expect(frames).toBe(1)
})
