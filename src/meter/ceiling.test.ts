// Tests the hold before a request: never negative, never more than the database can store, and enough for what follows.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { maxNano } from '../money.ts'
import { type Bounds, expectedOf, holdFor } from './ceiling.ts'
import { compileRate } from './rate.ts'

const rate = compileRate(
  {
    model: 'm',
    version: 1,
    prices: {
      input: '1',
      cacheWrite: '1.25',
      output: '10',
      reasoning: '12',
      'input>1000': '2',
      'output>1000': '8',
    },
  },
  1_000_000,
)

const request: Bounds = {
  kind: 'chat',
  peek: {
    body: new Uint8Array(300),
    stream: false,
    maxOutputTokens: 50,
    choices: 1,
    tokenInput: false,
  },
  model: { context: null, maxOutput: null },
  media: null,
  usualOutputTokens: 1_024,
  units: null,
}
/** 60 of the 300 bytes are text; there are four pictures and a document. */
const most = { image: 4_000, other: 500, audio: 70 }
const media = { textBytes: 60, most, likely: { image: 1, other: 1, audio: 1 } }
type Changes = Partial<Omit<Bounds, 'peek'>> & { readonly peek?: Partial<Bounds['peek']> }
const sizeOf = (changes: Changes) =>
  expectedOf({ ...request, ...changes, peek: { ...request.peek, ...changes.peek } })

describe('a request is bounded', () => {
  test.each<[string, Changes, number]>([
    ['by a third of its bytes', {}, 100],
    ['by half of them where they spell token ids', { peek: { tokenInput: true } }, 150],
    ['by what its model can read', { model: { context: 64, maxOutput: null } }, 64],
    ['by its text alone, and each picture and page', { media }, 20 + 4 * 1_000 + 500],
  ])('in its prompt %s', (_, changes, tokens) => {
    expect(sizeOf(changes).inputTokens).toBe(tokens)
  })

  test('by the sound of its files, at its own price, in the tier that all of it is in', () => {
    const prices = { input: '1', audioInput: '6', output: '10', 'audioInput>1000': '7' }
    const card = compileRate({ model: 'm', version: 1, prices }, 1_000_000)
    const withAudio = (most: number) => sizeOf({ peek: { audioTokens: { most, likely: 1 } } })
    expect(withAudio(900).audioTokens).toBe(900)
    // 100 tokens of the prompt, 900 or 901 of sound, 50 of the reply; in nano-units.
    expect(card.ceiling(withAudio(900))).toBe(100_000n + 900n * 6_000n + 50n * 10_000n)
    expect(card.ceiling(withAudio(901))).toBe(100_000n + 901n * 7_000n + 50n * 10_000n)
    expect(card.ceiling(sizeOf({}))).toBe(100_000n + 50n * 10_000n)
  })

  const model = { context: null, maxOutput: 2_000 }
  const unset = { maxOutputTokens: null }
  const usual = { usualOutputTokens: 1_500 }
  test.each<[string, Changes, number]>([
    ['whole: by what the client asks', {}, 50],
    ['whole: by what the model can write', { model, peek: unset }, 2_000],
    ['whole: by the lower of both', { model, peek: { maxOutputTokens: 9_000 } }, 2_000],
    ['whole: by 4096 where nobody says', { peek: unset }, 4_096],
    [
      'whole: by the context where it is smaller',
      { model: { context: 3_000, maxOutput: null }, peek: unset },
      3_000,
    ],
    ['whole: times the choices', { peek: { choices: 3 } }, 150],
    ['stream: by what is usual', { ...usual, model, peek: { ...unset, stream: true } }, 1_500],
    ['stream: by what the client asks', { ...usual, peek: { stream: true } }, 50],
    [
      'stream: by what is usual for each choice',
      { ...usual, peek: { ...unset, stream: true, choices: 2 } },
      3_000,
    ],
    ['embedding: by nothing', { kind: 'embedding', peek: unset }, 0],
  ])('in its reply, %s', (_, changes, tokens) => {
    expect(sizeOf(changes).outputTokens).toBe(tokens)
  })
})

describe('the hold', () => {
  test('is at the dearest kind a token may turn out to be', () => {
    expect(holdFor(rate, sizeOf({}))).toBe(100n * 1_250n + 50n * 12_000n)
  })

  test('never falls because a prompt may reach a tier', () => {
    const [below, above] = [1_000, 1_001].map((inputTokens) =>
      rate.ceiling({ kind: 'chat', inputTokens, outputTokens: 100, units: null }),
    )
    expect([below, above]).toEqual([1_250_000n + 1_200_000n, 2_002_000n + 1_200_000n])
  })

  test('covers whatever of these tokens the reply turns out to hold', () => {
    const most = fc.nat(5_000)
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(most, most, share, share, (inputTokens, outputTokens, written, thought) => {
        const cacheWrite = Math.floor(inputTokens * written)
        const reasoning = Math.floor(outputTokens * thought)
        const charge = rate.charge(
          {
            input: inputTokens - cacheWrite,
            cachedInput: 0,
            cacheWrite,
            output: outputTokens - reasoning,
            reasoning,
          },
          null,
        )
        const held = rate.ceiling({ kind: 'chat', inputTokens, outputTokens, units: null })
        expect(held >= charge).toBe(true)
      }),
    )
  })

  test('has room for units', () => {
    const flat = compileRate({ model: 'm', version: 1, prices: { request: '2000' } }, 1_000_000)
    const expected = expectedOf({ ...request, kind: 'rerank', units: { request: 1 } })
    expect(holdFor(flat, expected)).toBe(2_000_000n)
  })
})

describe('B16: no request overflows what is held for it', () => {
  const dear = compileRate(
    { model: 'm', version: 1, prices: { input: '999999999', output: '999999999' } },
    2_000_000,
  )
  const count = fc.oneof(
    fc.nat(),
    fc.maxSafeInteger().map(Math.abs),
    fc.constantFrom(0, 1e300, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER),
  )

  test('it is within what the database holds, or refused', () => {
    let refused = 0
    fc.assert(
      fc.property(
        fc.record({
          maxOutputTokens: fc.option(count),
          choices: count,
          stream: fc.boolean(),
          tokenInput: fc.boolean(),
          imageParam: fc.constantFrom(null, 'messages[0]'),
          length: fc.nat(10_000_000),
        }),
        fc.record({ context: fc.option(count), maxOutput: fc.option(count) }),
        fc.constantFrom(rate, dear),
        ({ length, ...peek }, model, rate) => {
          const body = { length } as Uint8Array
          const hold = holdFor(rate, expectedOf({ ...request, peek: { ...peek, body }, model }))
          if (hold === null) refused++
          else expect(hold >= 0n && hold <= maxNano).toBe(true)
        },
      ),
      { numRuns: 2_000 },
    )
    expect(refused).toBeGreaterThan(0)
  })
})
