// Tests the words and numbers that describe a request.

import { expect, test } from 'bun:test'
import { endOf, replyTokens, tokensPerSecond, totalTokens } from './counts.ts'

const tokens = { input: 176, cachedInput: 1_024, output: 300, reasoning: 33, imageOutput: 7 }

test('the tokens of a request are those of every kind', () => {
  expect(totalTokens({ tokens })).toBe(1_540)
  expect(replyTokens({ tokens })).toBe(340)
})

test('what was thought counts for the speed, as in the statistics', () => {
  expect(tokensPerSecond({ tokens, ttftMs: 500, durationMs: 1_500 })).toBe(333)
  expect(tokensPerSecond({ tokens, ttftMs: 1_460, durationMs: 1_500 })).toBeNull()
})

test('a stream that broke off did not end well, whatever status it began with', () => {
  expect(endOf({ status: 200, errorCode: null })).toBe('ok')
  expect(endOf({ status: 200, errorCode: 'service_unavailable' })).toBe('warning')
  expect(endOf({ status: 404, errorCode: 'model_not_found' })).toBe('warning')
  expect(endOf({ status: 503, errorCode: 'service_unavailable' })).toBe('failed')
})
