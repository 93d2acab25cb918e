// Tests that Google's sums become disjoint kinds, and sums again that add up.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readUsage, writeUsage } from './usage.ts'

test('W28: thoughts are counted, beside the candidates', () => {
  expect(
    readUsage({
      promptTokenCount: 9,
      candidatesTokenCount: 29,
      thoughtsTokenCount: 282,
      totalTokenCount: 320,
    }),
  ).toEqual({ input: 9, cachedInput: 0, cacheWrite: 0, output: 29, reasoning: 282 })
})

test('thoughts that the total says are among the candidates are not counted twice', () => {
  const raw = {
    promptTokenCount: 10,
    candidatesTokenCount: 30,
    thoughtsTokenCount: 20,
    totalTokenCount: 40,
  }
  expect(readUsage(raw)).toMatchObject({ output: 10, reasoning: 20 })
})

test('a count of the reply alone is none: the prompt is not known to be empty', () => {
  expect(readUsage({ candidatesTokenCount: 5 })).toBeNull()
  expect(readUsage({ candidatesTokenCount: 5, totalTokenCount: 9 })).toMatchObject({ input: 4 })
})

test('the prompt holds what came from the cache, and leaves out what tools brought', () => {
  const raw = {
    promptTokenCount: 100,
    cachedContentTokenCount: 60,
    toolUsePromptTokenCount: 7,
    candidatesTokenCount: 5,
    totalTokenCount: 112,
  }
  expect(readUsage(raw)).toMatchObject({ input: 47, cachedInput: 60, output: 5 })
})

test('sound and pictures are kinds of their own, what is cached of them left out', () => {
  const raw = {
    promptTokenCount: 100,
    cachedContentTokenCount: 30,
    candidatesTokenCount: 50,
    totalTokenCount: 150,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 20 },
      { modality: 'AUDIO', tokenCount: 50 },
      { modality: 'IMAGE', tokenCount: 30 },
    ],
    cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 30 }],
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 40 }],
  }
  expect(readUsage(raw)).toEqual({
    input: 20,
    cachedInput: 30,
    cacheWrite: 0,
    audioInput: 20,
    imageInput: 30,
    output: 10,
    reasoning: 0,
    imageOutput: 40,
  })
})

test.each([
  [undefined],
  [null],
  [{ trafficType: 'ON_DEMAND' }],
  [{ promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 }],
  [{ promptTokenCount: -1, totalTokenCount: 'x' }],
])('%j counts nothing', (raw) => {
  expect(readUsage(raw)).toBeNull()
})

test('a prompt alone is a count, and a missing side is what the total leaves', () => {
  expect(readUsage({ promptTokenCount: 5, totalTokenCount: 5 })).toMatchObject({
    input: 5,
    output: 0,
  })
  expect(readUsage({ promptTokenCount: 5, totalTokenCount: 9 })).toMatchObject({ output: 4 })
})

test('written and read again it is the same, and its total is the sum', () => {
  const count = fc.nat(100_000)
  const usages = fc.record({
    input: count.map((tokens) => tokens + 1),
    cachedInput: count,
    output: count,
    reasoning: count,
    audioInput: count.map((tokens) => tokens + 1),
    imageOutput: count.map((tokens) => tokens + 1),
  })
  fc.assert(
    fc.property(usages, (given) => {
      const usage = { ...given, cacheWrite: 0 }
      const raw = writeUsage(usage)
      expect(raw['totalTokenCount']).toBe(Object.values(usage).reduce((a, b) => a + b))
      expect(readUsage(raw)).toEqual(usage)
    }),
  )
})
