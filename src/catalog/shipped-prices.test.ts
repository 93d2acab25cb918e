// Tests that the shipped prices are plausible, name their source, and cover the models that the documentation lists.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { priceNamePattern } from '../config/prices.ts'
import { parseUnits } from '../money.ts'
import { createCatalog } from './catalog.ts'
import { shippedModels } from './shipped-models.ts'
import { readPriceFile, shippedPrices } from './shipped-prices.ts'

const cards = shippedPrices('USD')
const byModel = new Map(cards.map((card) => [card.model, card]))
const catalog = createCatalog({})
const file = readPriceFile()

/** In nano-units for a million; -1 if there is no such price. */
const nano = (prices: Readonly<Record<string, string>>, name: string): bigint =>
  prices[name] === undefined ? -1n : (parseUnits(prices[name]) ?? -2n)

/** Price of a million units; of tokens in prompts up to 1000. */
const bounds: Readonly<Record<string, readonly [least: number, most: number]>> = {
  request: [0, 100_000],
  image: [1_000, 1_000_000],
  second: [5, 2_000_000],
  character: [1, 1_000],
}

describe('every card of every vendor', () => {
  const all = Object.values(file.vendors).flatMap((models) => Object.entries(models))

  test('has names and amounts the configuration would take, within bounds', () => {
    expect(all.length).toBeGreaterThan(150)
    for (const [model, { prices }] of all) {
      for (const [name, price] of Object.entries(prices)) {
        expect(name, model).toMatch(priceNamePattern)
        expect(price).toMatch(/^\d{1,9}(\.\d{1,9})?$/)
        const [least, most] = bounds[name.split('/')[0] ?? ''] ?? [0, 1_000]
        expect(Number(price), `${model} ${name}`).toBeWithin(least, most + 1)
      }
    }
  })

  test('asks more for a larger or a better image or video, and the most where nothing is said', () => {
    for (const [model, { prices }] of all) {
      for (const base of ['image', 'second']) {
        const narrowed = Object.keys(prices).filter((name) => name.startsWith(`${base}/`))
        const otherwise = prices[base] === undefined ? null : nano(prices, base)
        for (const name of base === 'image' && otherwise !== null ? narrowed : [])
          expect(nano(prices, name) <= (otherwise ?? 0n), `${model} ${name}`).toBe(true)
        const lines = narrowed.flatMap((name) => /^second\/(\d+)p$/.exec(name)?.[1] ?? [])
        const byLines = lines.sort((a, b) => Number(a) - Number(b))
        const ascending = byLines.map((line) => nano(prices, `second/${line}p`))
        expect(ascending, model).toEqual(ascending.toSorted((a, b) => (a < b ? -1 : 1)))
      }
    }
  })

  test('asks no more for a cached token than for a fresh one, and less only below a tier', () => {
    for (const [model, { prices }] of all) {
      const { cachedInput } = prices
      if (cachedInput !== undefined)
        expect(nano(prices, 'cachedInput') <= nano(prices, 'input'), model).toBe(true)
      for (const name of Object.keys(prices).filter((each) => each.includes('>'))) {
        const [base = ''] = name.split('>')
        expect(nano(prices, name) > nano(prices, base), `${model} ${name}`).toBe(true)
      }
    }
  })

  test('is of a shipped model and says where it was read', () => {
    const shipped = new Map(shippedModels.map(({ vendor, models }) => [vendor, models]))
    for (const [vendor, models] of Object.entries(file.vendors)) {
      for (const [model, { source }] of Object.entries(models)) {
        expect(shipped.get(vendor)?.[model], `${vendor} ${model}`).toBeDefined()
        expect(source, model).toMatch(/^https:\/\/\S+ \(.+\)$/)
      }
    }
    expect(file.date).toMatch(/^\d{4}-\d{2}-\d{2}$/)
  })
})

describe('the cards handed on', () => {
  test('let every model of text be charged: nothing is free by accident', () => {
    for (const { model, prices } of cards) {
      const kind = catalog.find(model.replace('+*', ''))?.kind ?? 'none'
      if (!['chat', 'completion', 'embedding', 'realtime'].includes(kind)) continue
      expect(nano(prices, 'input') > 0n, model).toBe(true)
      if (kind === 'embedding') continue
      expect(nano(prices, 'output') >= nano(prices, 'input'), model).toBe(true)
    }
  })

  test('ask no less for a token written to the cache than for a fresh one', () => {
    // MiniMax, "Pay as you go": its fast models double the price of input, and not that of writes.
    const known = /^MiniMax-M[\d.]+-highspeed$/
    for (const { model, prices } of cards) {
      if (prices['cacheWrite'] === undefined || known.test(model)) continue
      expect(nano(prices, 'cacheWrite') >= nano(prices, 'input'), model).toBe(true)
    }
  })

  test('are free for moderations alone', () => {
    const free = cards.filter(({ prices }) => Object.values(prices).some((price) => price === '0'))
    const kinds = free.map(({ model }) => catalog.find(model)?.kind)
    expect(new Set(kinds)).toEqual(new Set(['moderation']))
  })

  test('kept by hand stand above the data, and say where each was read', () => {
    expect(byModel.get('gemini-3.8-flash-tts')?.prices).toMatchObject({ output: '9' })
    expect(byModel.get('dall-e-3')).toMatchObject({
      source: 'https://openai.com/api/pricing (from memory, to be checked)',
      sourceDate: '2026-11-21',
    })
  })

  test('are one for each name, the first vendor with a price deciding', () => {
    expect(byModel.size).toBe(cards.length)
    expect(byModel.get('gpt-4o-mini')).toEqual({
      model: 'gpt-4o-mini',
      prices: { input: '0.15', cachedInput: '0.075', output: '0.6' },
      source: 'https://developers.openai.com/api/docs/pricing (@pydantic/genai-prices 0.1.8)',
      sourceDate: '2026-09-23',
    })
    const { groq, openrouter, openai } = file.vendors
    const name = 'openai/gpt-oss-120b'
    expect(groq?.[name]?.prices).not.toEqual(openrouter?.[name]?.prices ?? {})
    expect(byModel.get(name)?.prices).toEqual(groq?.[name]?.prices ?? {})
    expect(byModel.get('o4-mini')?.prices).toEqual(openai?.['o4-mini']?.prices ?? {})
  })

  test('give the sandbox prices of its own, under any currency, and vendors only under theirs', () => {
    const sandbox = cards.filter(({ source }) => source === 'sandbox')
    expect(sandbox.map(({ model }) => model)).toEqual(
      catalog.ofVendor('sandbox').flatMap(({ id }) => [id, `${id}+*`]),
    )
    expect(byModel.get('sandbox/chat')?.prices).toEqual({
      input: '0.50',
      cachedInput: '0.05',
      output: '1.50',
    })
    expect(shippedPrices('CNY')).toEqual(sandbox)
  })
})

test('the documentation lists exactly the prices from memory', async () => {
  const page = await Bun.file(join(import.meta.dirname, '../../docs/catalogue.md')).text()
  const [, section = ''] = page.split('| vendor | prices from memory |')
  const [table = ''] = section.split('\n\n')
  const listed = [...table.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].flatMap(([, vendor, names]) =>
    [...(names ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => `${vendor} ${name}`),
  )
  const remembered = Object.entries(file.vendors).flatMap(([vendor, models]) =>
    Object.entries(models)
      .filter(([, { source }]) => source.includes('from memory'))
      .map(([model]) => `${vendor} ${model}`),
  )
  expect(listed.sort()).toEqual(remembered.sort())
})

test('the documentation lists exactly the shipped models without a price', async () => {
  const page = await Bun.file(join(import.meta.dirname, '../../docs/catalogue.md')).text()
  const [, section = ''] = page.split('## Models without a price')
  const listed = [...section.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].flatMap(([, vendor, names]) =>
    [...(names ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => `${vendor} ${name}`),
  )
  const without = shippedModels.flatMap(({ vendor, models }) =>
    Object.keys(models)
      .filter((model) => vendor !== 'sandbox' && file.vendors[vendor]?.[model] === undefined)
      .map((model) => `${vendor} ${model}`),
  )
  expect(listed.sort()).toEqual(without.sort())
})
