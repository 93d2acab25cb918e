// Tests that a name which a client wrote, and Anthropic repeats in its refusal, says nothing of the channel.

import { expect, test } from 'bun:test'
import { readFault } from './fault.ts'

test.each([
  'overloaded_error',
  '"type":"overloaded_error"',
  'invalid api key',
  'insufficient balance',
  'Your credit balance is too low to access the Anthropic API',
])('%s', (name) => {
  const message = `${name}: Extra inputs are not permitted`
  const body = { type: 'error', error: { type: 'invalid_request_error', message } }
  expect(readFault(400, () => null, JSON.stringify(body))).toMatchObject({
    kind: 'rejected',
    message,
  })
})

test('what Anthropic itself says does', () => {
  const kindOf = (status: number, type: string, message: string) =>
    readFault(status, () => null, JSON.stringify({ type: 'error', error: { type, message } })).kind
  expect(kindOf(500, 'overloaded_error', 'Overloaded')).toBe('overloaded')
  const credit = 'Your credit balance is too low to access the Anthropic API. Please go to Plans.'
  expect(kindOf(400, 'invalid_request_error', credit)).toBe('quota')
})
