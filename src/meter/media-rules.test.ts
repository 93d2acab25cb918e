// Compares the tokens of a picture with the examples that vendors publish with their rules.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { mediaRulesOf } from './media-rules.ts'

type Case = readonly [
  model: string,
  width: number,
  height: number,
  detail: string | null,
  tokens: number,
]

/** Each is from the vendor's own page, as `media-rules.ts` names them; the last column is the vendor's result. */
const published: readonly Case[] = [
  ['gpt-4o', 1_024, 1_024, 'high', 765],
  ['gpt-4o', 2_048, 4_096, 'high', 1_105],
  ['gpt-4o', 4_096, 8_192, 'low', 85],
  ['gpt-4o-mini', 1_024, 1_024, 'low', 2_833],
  ['gpt-5', 1_024, 1_024, null, 70 + 4 * 140],
  ['gpt-4.1-mini', 1_024, 1_024, null, Math.ceil(1_024 * 1.62)],
  ['o4-mini', 1_800, 2_400, null, Math.ceil(1_452 * 1.72)],
  ['gpt-5-nano', 1_800, 2_400, 'high', Math.ceil(1_452 * 2.46)],
  ['claude-opus-4-7', 1_920, 1_080, null, 2_691],
  ['claude-opus-4-7', 3_840, 2_160, null, 4_784],
  ['claude-opus-5', 1_000, 1_000, null, 1_296],
  ['claude-sonnet-4-6', 1_000, 1_000, null, 1_296],
  ['gemini-2.5-flash', 384, 384, null, 258],
  ['gemini-2.5-flash', 960, 540, null, 6 * 258],
  ['gemini-3-pro-preview', 10, 10, null, 1_120],
  ['gemini-3.8-flash', 4_000, 4_000, 'media_resolution_low', 280],
  ['gemini-3.8-flash', 4_000, 4_000, 'media_resolution_ultra_high', 2_240],
  // Other vendors' words are not passed on to these vendors.
  ['gemini-3.8-flash', 4_000, 4_000, 'low', 1_120],
  ['gpt-4o', 1_024, 1_024, 'MEDIA_RESOLUTION_LOW', 765],
  ['gpt-5.5', 4_096, 2_048, 'MEDIA_RESOLUTION_HIGH', Math.ceil(8_192 * 1.2)],
  ['grok-4', 448, 448, null, 512],
  ['grok-4', 5_000, 5_000, null, 1_792],
]

describe('a picture', () => {
  test.each(published)(
    'on %s, %d by %d, detail %s, is %d tokens',
    (model, width, height, detail, tokens) => {
      expect(mediaRulesOf(model).picture({ width, height }, detail)).toBe(tokens)
    },
  )

  test('of a model made smaller to fit, is within what is published of it', () => {
    // 1456 by 819: 1,560 tokens. How the vendor rounds in between is not published.
    const tokens = mediaRulesOf('claude-sonnet-4-6').picture({ width: 1_920, height: 1_080 }, null)
    expect(tokens).toBeGreaterThanOrEqual(1_560)
    expect(tokens).toBeLessThanOrEqual(1_568)
  })

  test('is counted alike under every name that a vendor gives its model', () => {
    const size = { width: 3_840, height: 2_160 }
    const names: readonly [string, string][] = [
      ['claude-opus-4-1', 'anthropic.claude-opus-4-1-20250805-v1:0'],
      ['claude-opus-4-1', 'claude-opus-4-1@20250805'],
      ['claude-opus-4-20250514', 'claude-opus-4'],
      ['claude-haiku-4-5', 'claude-haiku-4-5-20251001'],
      ['claude-opus-5', 'global.anthropic.claude-opus-5'],
      ['gpt-4o', 'openai/gpt-4o-2024-11-20'],
      ['gpt-5', 'gpt-5-chat-latest'],
      ['gpt-5-mini', 'gpt-5-mini-2025-08-07'],
      ['gemini-2.5-pro', 'google/gemini-2.5-pro'],
    ]
    for (const [plain, other] of names) {
      const [one, two] = [plain, other].map((name) => mediaRulesOf(name).picture(size, null))
      expect({ other, tokens: two }).toEqual({ other, tokens: one })
    }
    expect(mediaRulesOf('claude-opus-4-8').mostPicture(null)).toBe(4_784)
    expect(mediaRulesOf('claude-sonnet-4-5').mostPicture(null)).toBe(1_568)
    expect(mediaRulesOf('claude-sonnet-5').mostPicture(null)).toBe(4_784)
  })

  test('is a whole number of tokens, at least one, and within the most its family publishes', () => {
    const models = [...published.map(([model]) => model), 'gpt-5.4', 'llama-4-maverick', 'm']
    const side = fc.integer({ min: 1, max: 65_535 })
    const detail = fc.constantFrom(
      null,
      'low',
      'high',
      'auto',
      'original',
      'media_resolution_high',
      'x',
    )
    fc.assert(
      fc.property(fc.constantFrom(...models), side, side, detail, (model, width, height, word) => {
        const rules = mediaRulesOf(model)
        const tokens = rules.picture({ width, height }, word)
        expect(Number.isSafeInteger(tokens) && tokens > 0).toBe(true)
        expect(tokens).toBeLessThanOrEqual(rules.mostPicture(word))
      }),
    )
  })
})
