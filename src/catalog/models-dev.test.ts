// Tests cards from the data of models.dev: which names, which prices, which prices of longer prompts, and what is left
// out.

import { expect, test } from 'bun:test'
import { isModelsDev, readModelsDev } from './models-dev.ts'

const data = {
  openai: {
    id: 'openai',
    models: {
      'gpt-4o': {
        id: 'gpt-4o',
        cost: { input: 2.5, output: 10, cache_read: 1.25 },
        limit: { context: 128_000 },
      },
      tiny: { cost: { input: 1e-7, output: 0.0000000001 } },
      free: { cost: { input: 0, output: 0 } },
      unset: { limit: { context: 1 } },
      wrong: { cost: { input: 'a lot', output: 1 } },
      below: { cost: { input: -1, output: 1 } },
    },
  },
  'google-vertex': {
    models: {
      pro: {
        cost: {
          input: 1.25,
          output: 10,
          reasoning: 12,
          input_audio: 2,
          image: 5,
          context_over_200k: { input: 2.5, output: 15 },
        },
      },
    },
  },
}

test('the form is distinguished from our own and from the list of genai-prices', () => {
  expect(isModelsDev(data)).toBeTrue()
  for (const other of [{}, [], null, 'x', { o3: { prices: { input: '1' } } }]) {
    expect(isModelsDev(other)).toBeFalse()
  }
})

test('prices are taken by our names, longer prompts as tiers, and what has no name here is said', () => {
  const read = readModelsDev(data)
  expect(read.find('openai', 'gpt-4o', 0)).toEqual({
    prices: { input: '2.5', output: '10', cachedInput: '1.25' },
    source: 'https://models.dev (openai)',
    leftOut: [],
  })
  expect(read.find('vertex', 'pro', 0)).toEqual({
    prices: {
      input: '1.25',
      output: '10',
      reasoning: '12',
      audioInput: '2',
      'input>200000': '2.5',
      'output>200000': '15',
    },
    source: 'https://models.dev (google-vertex)',
    leftOut: ['image'],
  })
  expect(read.find('openai', 'tiny', 0)?.prices).toEqual({
    input: '0.0000001',
    output: '0.000000001',
  })
  expect(read.models('openai')).toContain('tiny')
})

test('nothing is free by accident, unknown names are none, and a price that is none is named', () => {
  const read = readModelsDev(data)
  for (const name of ['free', 'unset', 'nobody', 'constructor', '__proto__']) {
    expect(read.find('openai', name, 0)).toBeNull()
  }
  expect(read.models('nobody')).toBeNull()
  expect(read.models('constructor')).toBeNull()
  expect(() => read.find('openai', 'wrong', 0)).toThrow('openai wrong: input: not a price')
  expect(() => read.find('openai', 'below', 0)).toThrow('openai below: input: not a price')
})
