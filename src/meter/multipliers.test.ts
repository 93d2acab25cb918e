// Tests which multiplier of a group applies to a model.

import { expect, test } from 'bun:test'
import { compileMultipliers, multiplierOf } from './multipliers.ts'

const group = {
  multiplier: '1.25',
  modelMultipliers: { 'gpt-*': '0.8', 'gpt-5*': '0.9', 'gpt-5': '0', 'claude-opus': '2' },
}

test.each([
  ['gpt-4o', '0.8', 800_000],
  ['gpt-5-mini', '0.9', 900_000],
  ['gpt-5', '0', 0],
  ['claude-opus', '2', 2_000_000],
  ['claude-opus-4', '1.25', 1_250_000],
  ['gpt', '1.25', 1_250_000],
])('%s: %s', (model, multiplier, ppm) => {
  expect(multiplierOf(group, model)).toBe(multiplier)
  expect(compileMultipliers(group)(model)).toBe(ppm)
})

test('a group without any has its own for all, and * fits all', () => {
  expect(compileMultipliers({ multiplier: '1.5' })('gpt-5')).toBe(1_500_000)
  expect(multiplierOf({ multiplier: '1', modelMultipliers: { '*': '3' } }, 'any')).toBe('3')
})
