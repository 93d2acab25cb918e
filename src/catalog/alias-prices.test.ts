// Tests that an operator's own model names take the prices of the model they stand for, if it is only one.

import { expect, test } from 'bun:test'
import { aliasPrices } from './alias-prices.ts'

const card = (model: string, input: string) => ({
  model,
  prices: { input, output: '2' },
  source: 'https://vendor.example/prices',
  sourceDate: '2026-11-01',
})
const shipped = [card('small', '1'), card('twin', '1'), card('large', '9')]

test.each([
  ['stands for one model', [{ fast: 'small' }], ['fast 1']],
  ['stands for models of one price', [{ fast: 'small' }, { fast: 'twin' }], ['fast 1']],
  ['stands for models of two prices', [{ fast: 'small' }, { fast: 'large' }], ['fast none']],
  ['stands for a model nobody priced', [{ fast: 'unknown' }], ['fast none']],
  [
    'stands for one that is priced and one that is not',
    [{ fast: 'small' }, { fast: 'unknown' }],
    ['fast none'],
  ],
  ['is a shipped name itself', [{ small: 'large' }], []],
  ["is a model's own", [{ unknown: 'unknown' }], []],
  ['is a pattern', [{ 'my/*': 'small', 'your/*': '*' }], []],
  ['is in a channel without names', [null, { fast: 'large' }], ['fast 9']],
] as const)('a name that %s', (_what, models, expected) => {
  const channels = models.map((each) => ({ models: each }))
  const cards = aliasPrices(channels, shipped)
  expect(cards.map(({ model, prices }) => `${model} ${prices['input'] ?? 'none'}`)).toEqual([
    ...expected,
  ])
  for (const { source, prices } of cards)
    expect(source).toBe('input' in prices ? 'https://vendor.example/prices' : 'configuration')
})
