// Tests that vendors' price data becomes cards of our model names: exact, by the data's own matching, and never too
// low.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseUnits } from '../money.ts'
import { readVendorPrices } from './genai-prices.ts'

const day = (text: string) => Date.parse(text)

function vendorOf(models: readonly unknown[], more: Record<string, unknown> = {}): unknown {
  return {
    id: 'acme',
    name: 'Acme',
    pricing_urls: ['https://acme.example/prices'],
    models,
    ...more,
  }
}

function pricesOf(prices: unknown, at = '2026-11-21') {
  const data = readVendorPrices([vendorOf([{ id: 'm', match: { equals: 'm' }, prices }])])
  return data.find('acme', 'm', day(at))
}

describe('prices', () => {
  test('take our names, with tiers, and what has no name here is named', () => {
    const card = pricesOf({
      input_mtok: { base: 3, tiers: [{ start: 200_000, price: 6.5 }] },
      cache_read_mtok: '0.30',
      cache_write_1h_mtok: 6,
      output_mtok: 15,
      web_searches_kcount: 10,
    })
    expect(card).toEqual({
      prices: {
        input: '3',
        'input>200000': '6.5',
        cachedInput: '0.3',
        cacheWrite1h: '6',
        output: '15',
      },
      source: 'https://acme.example/prices',
      leftOut: ['web_searches_kcount'],
    })
  })

  test('of other units are brought to a million, and rounded up past nine places', () => {
    expect(pricesOf({ requests_kcount: 12, audio_hours: 0.111 })?.prices).toEqual({
      request: '12000',
      second: '30.833333334',
    })
    expect(pricesOf({ input_mtok: 0.08333333333333334 })?.prices).toEqual({ input: '0.083333334' })
    expect(pricesOf({ input_mtok: 1e-7 })?.prices).toEqual({ input: '0.0000001' })
  })

  test('of up to nine places stay what they are', () => {
    const decimal = fc
      .tuple(fc.integer({ min: 0, max: 99_999 }), fc.integer({ min: 0, max: 999_999_999 }))
      .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(9, '0')}`)
    fc.assert(
      fc.property(decimal, (text) => {
        const asText = pricesOf({ input_mtok: text })?.prices.input ?? ''
        const asNumber = pricesOf({ input_mtok: Number(text) })?.prices.input ?? ''
        expect(parseUnits(asText)).toBe(parseUnits(text))
        expect(asNumber).toBe(asText)
      }),
    )
  })

  test('change on their first day; of those that change in the day the dearest counts', () => {
    const prices = [
      { prices: { input_mtok: 9, output_mtok: 9 } },
      { constraint: { start_date: '2026-08-17' }, prices: { input_mtok: 1, output_mtok: 2 } },
      { constraint: { start_date: '2027-01-01' }, prices: { input_mtok: 70, output_mtok: 70 } },
      {
        constraint: { start_time: '01:00:00Z', end_time: '04:00:00Z' },
        prices: { input_mtok: 3, output_mtok: 1 },
      },
    ]
    expect(pricesOf(prices, '2026-08-16')?.prices).toEqual({ input: '9', output: '9' })
    expect(pricesOf(prices, '2026-08-17')?.prices).toEqual({ input: '3', output: '2' })
    expect(pricesOf(prices, '2027-01-01')?.prices).toEqual({ input: '70', output: '70' })
  })

  test('that are none make no card', () => {
    expect(pricesOf({})).toBeNull()
    expect(pricesOf({ web_searches_kcount: 10 })).toBeNull()
  })
})

describe('matching', () => {
  const priced = (id: string, match: unknown, input_mtok: number, more = {}) => ({
    id,
    match,
    prices: { input_mtok },
    ...more,
  })
  const both = { and: [{ contains: 'big' }, { ends_with: '-x' }] }
  const either = { or: [{ equals: 'Small' }, { regex: '^s\\d$' }] }
  const data = readVendorPrices([
    vendorOf([priced('both', both, 1), priced('either', either, 2)], {
      fallback_model_providers: ['other', 'nobody'],
    }),
    { id: 'other', models: [priced('beginning', { starts_with: 'far' }, 3)] },
    {
      id: 'x-ai',
      models: [
        priced('grok', { equals: 'grok' }, 4, { price_comments: 'Ref: https://x.example/p.' }),
      ],
    },
  ])
  const input = (vendor: string, model: string) => data.find(vendor, model, 0)?.prices.input ?? null

  test('follows the rules, whatever the case, first the vendor and then those it falls back to', () => {
    expect(input('acme', 'BIG-x')).toBe('1')
    expect(input('acme', 'big')).toBeNull()
    expect(input('acme', 'small')).toBe('2')
    expect(input('acme', 's7')).toBe('2')
    expect(input('acme', 'farther')).toBe('3')
    expect(input('other', 'small')).toBeNull()
    expect(input('nobody', 'small')).toBeNull()
  })

  test('knows vendors by our names, and the page a comment names', () => {
    expect(input('xai', 'grok')).toBe('4')
    expect(data.find('xai', 'grok', 0)?.source).toBe('https://x.example/p')
    expect(data.models('acme')).toEqual(['both', 'either'])
    expect(data.models('nobody')).toBeNull()
  })
})

test('what is not such data is refused with the place', () => {
  for (const [data, words] of [
    [{}, 'expected a list: the file'],
    [[1], 'expected a section: provider 0'],
    [[{ models: [] }], 'expected text: provider 0: id'],
  ] as const) {
    expect(() => readVendorPrices(data)).toThrow(words)
  }
  expect(() => pricesOf({ input_mtok: -1 })).toThrow('not a price: -1')
  expect(() => pricesOf({ input_mtok: 'free' })).toThrow('not a price: free')
  const odd = readVendorPrices([vendorOf([{ id: 'm', match: { sounds_like: 'm' }, prices: {} }])])
  expect(() => odd.find('acme', 'm', 0)).toThrow('unknown matching rule: sounds_like')
})
