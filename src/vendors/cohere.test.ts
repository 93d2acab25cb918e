// Tests Cohere's errors, which have messages but no codes, and its address.

import { expect, test } from 'bun:test'
import { readFault } from '../wire/openai/fault.ts'
import { cohere } from './cohere.ts'

test.each([
  [401, 'invalid api token', { kind: 'credentials' }],
  [498, 'invalid token', { kind: 'credentials' }],
  [499, 'the request was cancelled', { kind: 'timeout' }],
  [404, "model 'x' not found, make sure the correct model ID was used", { kind: 'unknown_model' }],
  [402, 'please add a payment method', { kind: 'quota' }],
  [429, 'You are past the per minute request limit', { kind: 'rate_limited' }],
  [
    429,
    'You are using a Trial key, which is limited to 1000 API calls / month.',
    { kind: 'quota' },
  ],
  [
    400,
    'too many tokens: total number of tokens in the prompt cannot exceed 4081',
    { kind: 'rejected', code: 'context_length_exceeded', param: 'messages' },
  ],
  [400, 'invalid request: temperature must be between 0 and 1.0 inclusive.', { kind: 'rejected' }],
  [503, 'overloaded', { kind: 'vendor_error' }],
])('%p %s', (status, message, expected) => {
  const body = JSON.stringify({ id: 'x', message })
  const fault = readFault(status, () => null, body)
  expect(cohere.quirks.refine?.(fault, status, body)).toMatchObject({ ...expected, message })
})

test.each(['https://api.cohere.com', 'https://api.cohere.com/v2', 'https://api.cohere.com/v1'])(
  '%s leads to version 2',
  (baseUrl) => {
    const call = { dialect: 'cohere-v2', model: 'm', stream: true } as const
    expect(cohere.address(call, { baseUrl, key: null, options: {} })).toBe(
      'https://api.cohere.com/v2/chat',
    )
  },
)
