// Tests that limits which OpenAI's Responses refuse as too small are raised there, and nowhere else.

import { expect, test } from 'bun:test'
import { openai } from './openai.ts'

const own = 'https://api.openai.com/v1'

test.each([
  [own, 'openai-responses', 1, 16],
  [own, 'openai-responses', 17, 17],
  [own, 'openai-responses', undefined, undefined],
  ['http://127.0.0.1:9000/v1', 'openai-responses', 1, 1],
] as const)('at %s in %s %p becomes %p', (baseUrl, dialect, limit, sent) => {
  const body = limit === undefined ? {} : { max_output_tokens: limit }
  const call = { dialect, model: 'm', stream: false, baseUrl }
  expect(openai.quirks.amend?.body(body, call).max_output_tokens).toBe(sent as never)
})
