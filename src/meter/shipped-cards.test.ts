// Tests that every shipped card has the prices that its kind of model needs, and that charges match calculations by
// hand.

import { describe, expect, test } from 'bun:test'
import { createCatalog } from '../catalog/catalog.ts'
import { imageModel, sideClass } from '../catalog/images.ts'
import { shippedPrices } from '../catalog/shipped-prices.ts'
import type { Usage } from '../wire/ir.ts'
import { compileRate } from './rate.ts'

const catalog = createCatalog({})
const cards = new Map(shippedPrices('USD').map((card) => [card.model, card]))
const nothing: Usage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }

function rateFor(model: string) {
  const card = cards.get(model)
  if (card === undefined) throw new Error(`${model} has no card`)
  return compileRate({ model, version: 1, prices: card.prices }, 1_000_000)
}

describe('every shipped card', () => {
  test('has the prices that its kind needs, and those of what else it answers', () => {
    expect(cards.size).toBeGreaterThan(250)
    for (const model of cards.keys()) {
      const found = catalog.find(model.replace('+*', ''))
      for (const kind of found === null ? [] : [found.kind, ...found.also])
        expect(rateFor(model).missing(kind, null), `${model} as ${kind}`).toBeNull()
    }
  })

  test('of which there is one for each kind that is shipped', () => {
    const kinds = new Set([...cards.keys()].map((model) => catalog.find(model)?.kind))
    for (const kind of ['image', 'video', 'transcription', 'speech', 'moderation', 'realtime'])
      expect(kinds.has(kind as 'image'), kind).toBe(true)
  })
})

test('a size with a price of its own is one the model makes, in the class that its vendor bills', () => {
  for (const [model, classes] of [
    ['fal-ai/nano-banana-pro', { '1K': '150000', '2K': '150000' }],
    ['fal-ai/nano-banana-2', { '1K': '80000', '2K': '120000' }],
  ] as const) {
    const { image, ...sized } = cards.get(model)?.prices ?? {}
    expect(Object.keys(sized).length).toBeGreaterThan(40)
    for (const [name, price] of Object.entries(sized)) {
      const size = name.slice('image/'.length)
      expect(imageModel(model)?.sizes.allows(size), size).toBe(true)
      expect<string | undefined>(
        Object.entries(classes).find(([one]) => one === sideClass(size))?.[1],
        size,
      ).toBe(price)
    }
    expect(image).toBeDefined()
  }
})

describe('what is charged, in billionths of a dollar, by hand', () => {
  test.each([
    // 2 x $0.12
    ['dall-e-3', nothing, { 'image/1792x1024/hd': 2 }, 240_000_000n],
    // $0.018
    ['dall-e-2', nothing, { 'image/512x512': 1 }, 18_000_000n],
    // 10 x $5 + 4160 x $40, a million
    ['gpt-image-1', { ...nothing, input: 10, imageOutput: 4_160 }, null, 166_450_000n],
    // 50 x $5 + 300 x $8 + 1000 x $30, a million
    [
      'gpt-image-2',
      { ...nothing, input: 50, imageInput: 300, imageOutput: 1_000 },
      null,
      32_650_000n,
    ],
    // 8 s x $0.30, x $0.50
    ['sora-2-pro', nothing, { 'second/1280x720': 8 }, 2_400_000_000n],
    ['sora-2-pro', nothing, { 'second/1024x1792': 8 }, 4_000_000_000n],
    // 4 s x $0.60
    ['veo-3.1-generate-001', nothing, { 'second/3840x2160': 4 }, 2_400_000_000n],
    // 90 s at $0.36 an hour
    ['whisper-1', nothing, { second: 90 }, 9_000_000n],
    // 60 s at $0.0043 a minute
    ['nova-3', nothing, { second: 60 }, 4_300_001n],
    // 1500 characters at $15 a million
    ['tts-1', nothing, { character: 1_500 }, 22_500_000n],
    // 200 x $6 + 30 x $10, a million
    ['gpt-4o-transcribe', { ...nothing, audioInput: 200, output: 30 }, null, 1_500_000n],
    // 100 x $32 + 50 x $64 + 20 x $4, a million
    ['gpt-realtime', { ...nothing, input: 20, audioInput: 100, audioOutput: 50 }, null, 6_480_000n],
    ['omni-moderation-latest', nothing, { request: 1 }, 0n],
    // $0.03 as one megapixel, $0.075 as four
    ['flux-2-pro', nothing, { 'image/1024x1024': 1, 'image/2048x2048': 1 }, 105_000_000n],
    // $0.15 in 1K and 2K, $0.30 in 4K; $0.08, $0.12 and $0.16, whatever the ratio
    ['fal-ai/nano-banana-pro', nothing, { 'image/1280x720': 1 }, 150_000_000n],
    ['fal-ai/nano-banana-pro', nothing, { 'image/3840x2160': 1 }, 300_000_000n],
    ['fal-ai/nano-banana-2', nothing, { 'image/1024x1536': 1 }, 80_000_000n],
    ['fal-ai/nano-banana-2', nothing, { 'image/2560x1440': 1 }, 120_000_000n],
    ['sandbox/image', nothing, { 'image/512x512': 3 }, 3_000_000n],
    ['sandbox/transcription', nothing, { second: 6 }, 60_000n],
    ['sandbox/speech', nothing, { character: 100 }, 150_000n],
  ] as const)('%s: %j %j', (model, usage, units, nano) => {
    expect(rateFor(model).charge(usage, units)).toBe(nano)
  })
})
