// Tests that every vendor's list of models is requested at its address and read in its format.

import { expect, test } from 'bun:test'
import { modelListOf } from './model-lists.ts'
import { vendors } from './registry.ts'

test.each([
  ['openai', 'http://h/v1', '/v1/models', { object: 'list', data: [{ id: 'a' }, { id: 'b' }] }],
  ['together', 'http://h/v1', '/v1/models', [{ id: 'a' }, { id: 'b' }]],
  ['anthropic', 'http://h', '/v1/models?limit=1000', { data: [{ id: 'a' }, { id: 'b' }] }],
  ['anthropic', 'http://h/v1', '/v1/models?limit=1000', { data: [{ id: 'a' }, { id: 'b' }] }],
  [
    'google',
    'http://h/v1beta',
    '/v1beta/models?pageSize=1000',
    { models: [{ name: 'models/a' }, { name: 'b' }] },
  ],
  ['cohere', 'http://h', '/v1/models?page_size=1000', { models: [{ name: 'a' }, { name: 'b' }] }],
  [
    'deepgram',
    'http://h',
    '/v1/models',
    { stt: [{ canonical_name: 'a', name: 'x' }], tts: [{ name: 'b' }] },
  ],
  ['elevenlabs', 'http://h', '/v1/models', [{ model_id: 'a' }, { model_id: 'b' }]],
])('%s at %s', (vendor, baseUrl, path, reply) => {
  const list = modelListOf(vendor)
  expect(list?.address(baseUrl)).toBe(`http://h${path}`)
  expect(list?.read(reply)).toEqual(['a', 'b'])
  for (const other of [null, 'x', 5, {}, { error: { message: 'no' } }])
    expect(list?.read(other)).toBeNull()
  expect(
    list?.read(
      Array.isArray(reply)
        ? [1, null, {}]
        : { ...reply, data: [3], models: [{}], stt: [], tts: [] },
    ),
  ).toEqual([])
})

test('only vendors that there are have a list', () => {
  expect(modelListOf('constructor')).toBeNull()
  const listed = Object.keys(vendors).filter((vendor) => modelListOf(vendor) !== null)
  expect(listed.length).toBeGreaterThan(20)
})
