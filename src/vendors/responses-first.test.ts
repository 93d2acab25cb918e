// Tests at which addresses newer models are asked in Responses.

import { expect, test } from 'bun:test'
import { responsesFirst } from './responses-first.ts'

const choose = responsesFirst(['openai-chat', 'openai-responses'])
const first = ['openai-responses', 'openai-chat'] as const
const newer = { model: 'gpt-5.6-terra', asked: 'gpt-5.6-terra', options: {} }

test.each([
  [null, {}, first],
  ['https://eu.api.openai.com/v1', {}, first],
  ['https://ours.openai.azure.com', {}, first],
  ['https://openai.com.proxy.example/v1', {}, null],
  ['http://127.0.0.1:9000/v1', {}, null],
  ['http://127.0.0.1:9000/v1', { responsesFirst: 'true' }, first],
  ['https://api.openai.com/v1', { responsesFirst: 'false' }, null],
])('at %p with %j: %p', (baseUrl, options, expected) => {
  expect(choose({ ...newer, baseUrl, options })).toEqual(expected)
})
