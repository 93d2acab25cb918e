// Tests that vectors reach the client in the form it asked for, whatever the vendor sent.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bytesOf, textOf } from '../testing.ts'
import { BadVector, packVector, unpackVector } from './vectors.ts'
import { wholeEmbeddings } from './whole.ts'

const counted = { input: 5, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

function reply(...vectors: unknown[]): string {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }))
  const usage = { prompt_tokens: 5, total_tokens: 5 }
  return JSON.stringify({ object: 'list', data, model: 'm', usage })
}

function whole(text: string, format: 'float' | 'base64', quirks = {}) {
  return wholeEmbeddings(bytesOf(text), format, quirks)
}

function vectorsOf(bytes: Uint8Array): unknown[] {
  return JSON.parse(textOf(bytes)).data.map(({ embedding }: { embedding: unknown }) => embedding)
}

test('known answers', () => {
  expect(packVector([1])).toBe('AACAPw==')
  expect(unpackVector('AACAPw==')).toEqual([1])
  expect(packVector([1, -2.5])).toBe('AACAPwAAIMA=')
  expect(unpackVector('')).toEqual([])
})

test('packing and unpacking are each other undone', () => {
  const floats = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }))
  fc.assert(
    fc.property(floats, (vector) => {
      const plain = vector.map((number) => (Object.is(number, -0) ? 0 : number))
      expect(unpackVector(packVector(plain))).toEqual(plain)
    }),
  )
})

test('what is no vector is refused', () => {
  for (const text of ['AACAPw=', 'AAC*Pw==', 'AACA', '!', 'AACAfw==']) {
    expect(() => unpackVector(text)).toThrow(BadVector)
  }
  expect(() => packVector([1, null])).toThrow('element 1')
  expect(() => packVector(['1'])).toThrow(BadVector)
})

describe('replies', () => {
  test('in the form asked for they pass byte for byte', () => {
    for (const [format, text] of [
      ['float', reply([1, 0.5], [2])],
      ['base64', reply('AACAPw==', 'AAAAAA==')],
    ] as const) {
      const seen = whole(text, format)
      expect(seen).toMatchObject({ fault: null, model: 'm', outputBytes: 0, finishReason: null })
      expect([textOf(seen.bytes), seen.usage]).toEqual([text, counted])
    }
  })

  test('in the other form they are converted, and only the vectors', () => {
    const packed = reply('AACAPw==', 'AAAAQA==')
    const plain = reply([1], [2])
    expect(textOf(whole(packed, 'float').bytes)).toBe(plain)
    expect(textOf(whole(plain, 'base64').bytes)).toBe(packed)
  })

  test('mixed replies come out in one form', () => {
    expect(vectorsOf(whole(reply([1], 'AACAPw=='), 'float').bytes)).toEqual([[1], [1]])
    expect(vectorsOf(whole(reply([1], 'AACAPw=='), 'base64').bytes)).toEqual([
      'AACAPw==',
      'AACAPw==',
    ])
  })

  test('vectors with escaped solidi are read', () => {
    const seen = whole(
      reply([-1]).replace('[-1]', '"AACAvw=="').replace('AACAvw', 'AACA\\u0076w'),
      'float',
    )
    expect(vectorsOf(seen.bytes)).toEqual([[-1]])
  })

  test.each([
    ['{"data":[{"embedding":"AACAPw"}]}', 'float'],
    ['{"data":[{"embedding":"AACA"}]}', 'base64'],
    ['{"data":[{"embedding":"####"}]}', 'base64'],
    ['{"data":[{"embedding":[1,null]}]}', 'base64'],
    ['{"data":[{"embedding":null}]}', 'float'],
    ['{"data":[{"index":0}]}', 'float'],
    ['{"data":[1]}', 'float'],
    ['{"data":[]}', 'float'],
    ['{"data":{}}', 'float'],
    ['{}', 'float'],
    ['[]', 'float'],
    ['{"data":[', 'float'],
    ['{"data":[]}x', 'float'],
  ] as const)('%s asked as %s is unreadable', (text, format) => {
    expect(whole(text, format).fault?.kind).toBe('unreadable')
  })

  test('an error is one under any status', () => {
    expect(whole('{"error":{"code":429,"message":"m"}}', 'float').fault?.kind).toBe('rate_limited')
    expect(whole('{"error":null,"data":[{"embedding":[1]}]}', 'float').fault).toBeNull()
  })

  test("usage is corrected by the vendor's quirk, and a lone total is the prompt", () => {
    const quirks = { usage: (given: object) => ({ ...given, prompt_tokens: 7, total_tokens: 7 }) }
    const seen = whole(reply([1]), 'base64', quirks)
    expect(seen.usage?.input).toBe(7)
    expect(JSON.parse(textOf(seen.bytes)).usage).toEqual({ prompt_tokens: 7, total_tokens: 7 })
    const lone = whole('{"data":[{"embedding":[1]}],"usage":{"total_tokens":5}}', 'float')
    expect(lone.usage).toEqual(counted)
    expect(JSON.parse(textOf(lone.bytes)).usage).toEqual({ prompt_tokens: 5, total_tokens: 5 })
  })
})
