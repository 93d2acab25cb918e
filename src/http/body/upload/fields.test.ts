// Tests that text fields of a form become the JSON that the same request would have had.

import { expect, test } from 'bun:test'
import { GatewayError } from '../../../errors.ts'
import type { FormFields } from '../../../wire/request.ts'
import { FieldTexts } from './fields.ts'

const fields: FormFields = {
  model: 'text',
  n: 'number',
  stream: 'boolean',
  include: 'list',
  chunking_strategy: 'json',
  image: 'files',
  mask: 'file',
}

function object(...given: readonly (readonly [name: string, text: string])[]) {
  const texts = new FieldTexts(fields)
  for (const [name, text] of given) texts.add(name, text)
  return texts.object()
}

function refusal(...given: readonly (readonly [name: string, text: string])[]): string {
  try {
    object(...given)
  } catch (error) {
    if (error instanceof GatewayError) return `${error.detail.param}: ${error.message}`
    throw error
  }
  return 'none'
}

test('each is of its type', () => {
  expect(
    object(['model', 'm'], ['n', '2'], ['stream', 'True'], ['include', 'logprobs'], ['user', '7']),
  ).toEqual({ model: 'm', n: 2, stream: true, include: ['logprobs'], user: '7' })
  expect(object(['n', '-0.5e1'])).toEqual({ n: -5 })
})

test('lists come under any of their names', () => {
  expect(object(['include', 'a'], ['include[]', 'b'], ['include[2]', 'c'])).toEqual({
    include: ['a', 'b', 'c'],
  })
  expect(object(['unknown[]', 'a'], ['unknown[]', 'b'])).toEqual({ 'unknown[]': ['a', 'b'] })
})

test('objects come as JSON, as a word, or a member at a time', () => {
  const strategy = { type: 'server_vad', threshold: 0.5, silence_duration_ms: 200 }
  expect(object(['chunking_strategy', JSON.stringify(strategy)])).toEqual({
    chunking_strategy: strategy,
  })
  expect(object(['chunking_strategy', 'auto'])).toEqual({ chunking_strategy: 'auto' })
  expect(
    object(
      ['chunking_strategy[type]', 'server_vad'],
      ['chunking_strategy[threshold]', '0.5'],
      ['chunking_strategy[silence_duration_ms]', '200'],
    ),
  ).toEqual({ chunking_strategy: strategy })
  expect(
    object(
      ['chunking_strategy[a][b]', 'true'],
      ['chunking_strategy[c][]', 'x'],
      ['chunking_strategy[c][]', 'null'],
    ),
  ).toEqual({ chunking_strategy: { a: { b: true }, c: ['x', null] } })
})

test('JSON of any depth costs little: what is nested deeply is refused before it is read', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  expect(object(['chunking_strategy', deep(60)])).toEqual({
    chunking_strategy: JSON.parse(deep(60)),
  })
  expect(() => object(['chunking_strategy', deep(32_000)])).toThrow(
    'chunking_strategy is not valid JSON: nested too deeply at byte 64',
  )
})

test('names that mean something in JavaScript mean nothing here', () => {
  const found = object(
    ['__proto__', 'x'],
    ['constructor', 'y'],
    ['chunking_strategy[__proto__][a]', 'z'],
  )
  expect(JSON.stringify(found)).toBe(
    '{"__proto__":"x","constructor":"y","chunking_strategy":{"__proto__":{"a":"z"}}}',
  )
  expect(Object.keys({})).toEqual([])
})

const bad: readonly (readonly [says: string, given: readonly (readonly [string, string])[]])[] = [
  ['n: n must be a number', [['n', 'two']]],
  ['n: n must be a number', [['n', '']]],
  ['n: n must be a number', [['n', '1e999']]],
  ['n: n must be a number', [['n', '0x10']]],
  ['stream: stream must be true or false', [['stream', 'yes']]],
  [
    'chunking_strategy: chunking_strategy is not valid JSON: unexpected end at byte 7',
    [['chunking_strategy', '{"type"']],
  ],
  [
    'model: model may be given only once',
    [
      ['model', 'a'],
      ['model', 'b'],
    ],
  ],
  [
    'user: user may be given only once',
    [
      ['user', 'a'],
      ['user', 'b'],
    ],
  ],
  [
    'chunking_strategy[a]: chunking_strategy[a] may be given only once',
    [
      ['chunking_strategy[a]', '1'],
      ['chunking_strategy[a]', '2'],
    ],
  ],
  [
    'chunking_strategy: chunking_strategy may be given only once',
    [
      ['chunking_strategy', 'auto'],
      ['chunking_strategy[a]', '2'],
    ],
  ],
  [
    'chunking_strategy: chunking_strategy is nested too deep',
    [[`chunking_strategy${'[a]'.repeat(9)}`, '1']],
  ],
]
test.each(bad)('%s', (says, given) => expect(refusal(...given)).toBe(says))
