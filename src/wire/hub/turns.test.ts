// Tests conversations without text of the client, for vendors that require a turn with text.

import { expect, test } from 'bun:test'
import { vendorHub } from '../../../test/support/dialects.ts'
import type { DialectId } from '../formats.ts'
import type { ChatRequest } from '../ir.ts'

test.each<[DialectId, object]>([
  ['anthropic-messages', { messages: [{ role: 'user', content: [{ type: 'text', text: '.' }] }] }],
  ['bedrock-converse', { messages: [{ role: 'user', content: [{ text: '.' }] }] }],
  ['gemini', { contents: [{ role: 'user', parts: [{ text: '.' }] }] }],
  ['cohere-v2', { messages: [{ role: 'user', content: '.' }] }],
])('%s gets a turn for an empty text', (vendor, expected) => {
  const messages = [{ role: 'user', parts: [{ type: 'text', text: '' }] }] as const
  const request: ChatRequest = { model: 'm', messages, stream: false, maxOutputTokens: 9 }
  expect(vendorHub(vendor).encodeRequest(request, 'm').value).toMatchObject(expected)
})
