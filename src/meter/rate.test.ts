// Tests the cost of usage: against an independent calculation, tier by tier, and if a price is missing.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import YAML from 'yaml'
import { billed } from '../../test/support/price-oracle.ts'
import { tokenPrices } from '../config/prices.ts'
import { formatUnits } from '../money.ts'
import type { Usage } from '../wire/ir.ts'
import type { Rate, Units } from './meter.ts'
import { compileRate, multiplierPpm } from './rate.ts'

function rateOf(prices: Readonly<Record<string, string>>, multiplier = '1'): Rate {
  return compileRate({ model: 'm', version: 7, prices }, multiplierPpm(multiplier))
}

const nothing: Usage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }
const used = (tokens: Partial<Usage>): Usage => ({ ...nothing, ...tokens })

const decimal = fc
  .tuple(fc.nat(2_000), fc.nat(999_999_999), fc.nat(9))
  .map(([whole, fraction, places]) => {
    const digits = String(fraction).padStart(9, '0').slice(0, places)
    return digits === '' ? String(whole) : `${whole}.${digits}`
  })
const thresholds = [100, 1_000, 200_000]
const priceName = fc.oneof(
  fc.constantFrom(...tokenPrices),
  fc
    .tuple(fc.constantFrom(...tokenPrices), fc.constantFrom(...thresholds))
    .map(([kind, above]) => `${kind}>${above}`),
  fc.constantFrom('request', 'second', 'character', 'image', 'image/hd', 'image/1024x1024'),
  fc.constantFrom('image/1024x1024/hd', 'image/512x512/low'),
)
const card = fc.dictionary(priceName, decimal, { maxKeys: 12 })
const tokens = fc.oneof(fc.nat(120), fc.nat(300_000), fc.constantFrom(0, 100, 101, 200_000))
const usage = fc.record(
  {
    input: tokens,
    cachedInput: tokens,
    cacheWrite: tokens,
    output: tokens,
    reasoning: tokens,
    cacheWrite1h: tokens,
    audioInput: tokens,
    audioOutput: tokens,
    imageInput: tokens,
    imageOutput: tokens,
  },
  { requiredKeys: ['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'] },
)
const units: fc.Arbitrary<Units | null> = fc.option(
  fc.dictionary(
    fc.constantFrom(
      'request',
      'second',
      'character',
      'image',
      'image/1024x1024',
      'image/hd',
      'image/1024x1024/hd',
      'image/256x256/low',
    ),
    fc.oneof(
      fc.nat(5_000),
      fc.nat(3_600_000_000).map((micro) => micro / 1_000_000),
    ),
  ),
)
const multiplier = fc.nat(5_000_000).map((ppm) => {
  const digits = String(ppm).padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
})

describe('the formula', () => {
  test('I8: is what the oracle says, to the nano', () => {
    fc.assert(
      fc.property(card, multiplier, usage, units, (prices, by, tokens, other) => {
        const rate = rateOf(prices, by)
        const bill = { prices, tokens, ...(other !== null && { units: other }) }
        expect(rate.charge(tokens, other)).toBe(billed({ ...bill, multiplier: by }))
        expect(rate.cost(tokens, other)).toBe(billed({ ...bill, multiplier: '1' }))
      }),
      { numRuns: 3_000 },
    )
  })

  test('explains itself: its text comes to its result', () => {
    fc.assert(
      fc.property(card, multiplier, usage, units, (prices, by, tokens, other) => {
        const text = rateOf(prices, by).explain(tokens, other)
        expect(text).toEndWith(` = ${evaluated(text)}`)
        expect(text).toEndWith(` = ${rateOf(prices, by).charge(tokens, other)}`)
      }),
    )
  })

  test('rounds once, up: parts of a nano add up before they are rounded', () => {
    const rate = rateOf({ input: '0.0004', output: '0.0004' })
    expect(rate.charge(used({ input: 1 }), null)).toBe(1n)
    expect(rate.charge(used({ input: 1, output: 1 }), null)).toBe(1n)
    expect(rate.charge(used({ input: 1, output: 2 }), null)).toBe(2n)
    expect(rate.charge(nothing, null)).toBe(0n)
  })

  test('the documentation works its example out right', () => {
    const page = readFileSync(`${import.meta.dir}/../../docs/pricing.md`, 'utf8')
    const [, prices = ''] = /prices: (\{.+\})/.exec(page) ?? []
    const [, by = ''] = /`multiplier: "(.+?)"`/.exec(page) ?? []
    const rate = rateOf(YAML.parse(prices), by)
    const tokens = used({ input: 176, cachedInput: 1_024, output: 300, reasoning: 33 })
    expect(page).toContain(`\n${rate.explain(tokens, null)}\n`)
    expect(page).toContain(` ${formatUnits(rate.charge(tokens, null))} of the currency`)
  })
})

/** Evaluates `ceil((2 * 3 + 0.5 * 4) * 5 / 10^12) = 1` as arithmetic, in millionths. */
function evaluated(text: string): bigint {
  const [, sum = '', by = ''] = /^ceil\((0|\(.+\)) \* (\d+) \/ 10\^12\)/.exec(text) ?? []
  const terms = sum.replace(/^\(|\)$/g, '').split(' + ')
  const micro = terms.reduce((total, term) => {
    const [count = '0', price = '0'] = term.split(' * ')
    const [whole = '0', places = ''] = count.split('.')
    return total + BigInt(whole + places.padEnd(6, '0')) * BigInt(price)
  }, 0n)
  const dividend = micro * BigInt(by)
  const divisor = 10n ** 18n
  return dividend / divisor + (dividend % divisor === 0n ? 0n : 1n)
}

describe('fallbacks', () => {
  const family = { input: '1', output: '10' }
  test.each([
    ['cachedInput', 1_000n],
    ['cacheWrite', 1_000n],
    ['cacheWrite1h', 1_000n],
    ['audioInput', 1_000n],
    ['imageInput', 1_000n],
    ['reasoning', 10_000n],
    ['audioOutput', 10_000n],
    ['imageOutput', 10_000n],
  ] as const)('%s costs what its parent costs', (kind, nano) => {
    expect(rateOf(family).charge(used({ [kind]: 1 }), null)).toBe(nano)
  })

  test("an hour's write costs what five minutes' do, before it costs what input does", () => {
    expect(rateOf({ ...family, cacheWrite: '1.25' }).charge(used({ cacheWrite1h: 1 }), null)).toBe(
      1_250n,
    )
  })
})

describe('B15: tiers go by the whole prompt', () => {
  const tiered = {
    input: '1',
    'input>1000': '2',
    'input>2000': '3',
    output: '10',
    'output>1000': '20',
    cacheWrite: '5',
    'imageInput>2000': '7',
  }
  const charge = (tokens: Partial<Usage>) => rateOf(tiered).charge(used(tokens), null)

  test('strictly above the threshold', () => {
    expect(charge({ input: 1_000 })).toBe(1_000_000n)
    expect(charge({ input: 1_001 })).toBe(2_002_000n)
    expect(charge({ input: 2_001 })).toBe(6_003_000n)
  })

  test.each(['cachedInput', 'cacheWrite', 'cacheWrite1h', 'audioInput', 'imageInput'] as const)(
    '%s counts towards it',
    (kind) => {
      const [alone, with1] = [charge({ [kind]: 1_000 }), charge({ [kind]: 1_000, input: 1 })]
      const ownPrice = kind.startsWith('cacheWrite')
      expect(with1 - alone).toBe(ownPrice ? 2_000n : 1_002_000n)
    },
  )

  test('output and reasoning do not count towards it, and follow it', () => {
    expect(charge({ input: 1_000, output: 5_000 })).toBe(51_000_000n)
    expect(charge({ input: 1_001, output: 1, reasoning: 1 })).toBe(2_042_000n)
  })

  test('a kind without the tier keeps its lower tier, one of its own none of its parent', () => {
    expect(charge({ input: 2_001, output: 1 })).toBe(6_003_000n + 20_000n)
    expect(charge({ input: 2_001, cacheWrite: 1 })).toBe(6_003_000n + 5_000n)
    expect(charge({ input: 2_000, imageInput: 1 })).toBe(6_000_000n + 7_000n)
    expect(charge({ input: 1_999, imageInput: 1 })).toBe(3_998_000n + 2_000n)
  })
})

describe('units', () => {
  test('an image takes the price that fits it best', () => {
    const rate = rateOf({
      image: '1',
      'image/hd': '2',
      'image/1024x1024': '3',
      'image/1024x1024/hd': '4',
    })
    const charge = (name: string) => rate.charge(nothing, { [name]: 1 })
    expect(charge('image/1024x1024/hd')).toBe(4_000n)
    expect(charge('image/1024x1024/low')).toBe(3_000n)
    expect(charge('image/512x512/hd')).toBe(2_000n)
    expect(charge('image/512x512')).toBe(1_000n)
  })

  test('an image no price fits is missing before the work, and costs the dearest after it', () => {
    const rate = rateOf({ 'image/512x512': '3', 'image/1024x1024': '4' })
    expect(rate.missing('image', { 'image/512x512/hd': 1 })).toBeNull()
    expect(rate.missing('image', { 'image/256x256': 1 })).toBe('image/256x256')
    expect(rate.charge(nothing, { 'image/256x256': 2 })).toBe(8_000n)
  })

  test('parts of a unit count exactly', () => {
    const rate = rateOf({ second: '100' })
    expect(rate.charge(nothing, { second: 12.5 })).toBe(1_250_000n)
    expect(rate.charge(nothing, { second: 0.1 + 0.2 })).toBe(30_000n)
    expect(rate.charge(nothing, { second: 0.000_001 })).toBe(1n)
    expect(rate.prices('second')).toBe(true)
    expect([rate.prices('request'), rate.prices('image')]).toEqual([false, false])
  })
})

describe('B3: what a request cannot do without', () => {
  test.each([
    ['chat', { output: '1' }, 'input'],
    ['chat', { input: '1' }, 'output'],
    ['chat', { 'input>1000': '1', output: '1' }, 'input'],
    ['chat', { input: '0', output: '0' }, null],
    ['chat', { request: '1' }, 'input'],
    ['completion', {}, 'input'],
    ['embedding', { input: '1' }, null],
    ['embedding', { request: '1' }, null],
    ['embedding', { output: '1' }, 'input'],
    ['image', { input: '1' }, 'output'],
    ['image', { input: '1', imageOutput: '1' }, null],
    ['image', { 'image/hd': '1' }, null],
    ['image', {}, 'image'],
    ['transcription', { second: '1' }, null],
    ['transcription', { audioInput: '1' }, 'second'],
    ['speech', { character: '1' }, null],
    ['speech', { input: '1', audioOutput: '1' }, null],
    ['speech', {}, 'character'],
    ['video', { second: '1' }, null],
    ['video', {}, 'second'],
  ] as const)('%s with %j lacks %s', (kind, prices, lacks) => {
    expect(rateOf(prices).missing(kind, null)).toBe(lacks)
  })
})

describe('B16: numbers no reader gives', () => {
  test('what is not finite is refused, what is negative counts nothing', () => {
    const rate = rateOf({ input: '1', output: '1', second: '1' })
    for (const count of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => rate.charge(used({ input: count }), null)).toThrow(RangeError)
      expect(() => rate.charge(nothing, { second: count })).toThrow(RangeError)
    }
    expect(rate.charge(used({ input: -5, output: 1 }), { second: -1.5 })).toBe(1_000n)
    const tiered = rateOf({ input: '1', 'input>10': '2', output: '1' })
    expect(tiered.charge(used({ input: 11, cachedInput: -5 }), null)).toBe(22_000n)
    const size = { kind: 'chat', inputTokens: -1, outputTokens: -1, units: null } as const
    expect(rate.ceiling(size)).toBe(0n)
  })

  test('a billion tokens at the highest price lose nothing', () => {
    const rate = rateOf({ input: '999999999.999999999', output: '0' }, '999999')
    expect(rate.charge(used({ input: 1_000_000_000 }), null)).toBe(
      999_999_999_999_999_999n * 1_000n * 999_999n,
    )
  })

  test('a card that is none is refused when it is read', () => {
    expect(() => rateOf({ inputs: '1' })).toThrow('inputs')
    expect(() => rateOf({ input: '-1' })).toThrow('input')
    expect(() => multiplierPpm('0.0000001')).toThrow('multiplier')
  })
})

test('a second of a video costs by its size, its lines, any second, else what the dearest does', () => {
  const card = { second: '1', 'second/1280x720': '2', 'second/1080p': '3' }
  const cost = (prices: Record<string, string>, unit: string) =>
    rateOf(prices).charge(nothing, { [unit]: 1_000 })
  const lines = { 'second/720p': '4', 'second/1080p': '9' }
  const cases = [
    [card, 'second', 1n],
    [card, 'second/1280x720', 2n],
    [card, 'second/720x1280', 1n],
    [card, 'second/1080x1920', 3n],
    [lines, 'second/720x1280', 4n],
    [lines, 'second/1920x1080', 9n],
    [lines, 'second/640x480', 9n],
    [lines, 'second', 9n],
  ] as const
  for (const [prices, unit, price] of cases)
    expect([unit, cost(prices, unit)]).toEqual([unit, price * 1_000_000n])
  expect(rateOf(lines).missing('video', null)).toBeNull()
  expect(rateOf({ input: '1' }).missing('video', null)).toBe('second')
  expect(rateOf({ 'second/720p': '1' }).prices('second/640x480')).toBe(true)
  expect(rateOf({ image: '1' }).prices('second/640x480')).toBe(false)
})
