// Tests that OpenAI's formats get no longer name of a user than OpenAI takes.

import { expect, test } from 'bun:test'
import { messagesHub } from '../anthropic-messages/hub.ts'
import type { JsonObject } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { responsesHub } from '../openai-responses/hub.ts'

function sent(user: string): JsonObject[] {
  const body = { model: 'm', max_tokens: 9, messages: [], metadata: { user_id: user } }
  const { value } = messagesHub.decodeRequest(body as unknown as JsonObject, {})
  return [chatHub.encodeRequest(value, 'm').value, responsesHub.encodeRequest(value, 'm').value]
}

test('a long one, as of Claude Code, is the same each time and not another person’s', () => {
  const long = (account: string) => JSON.stringify({ device_id: 'd'.repeat(64), account })
  for (const [body, again, other] of [0, 1].map((at) =>
    [long('a'), long('a'), long('b')].map((user) => sent(user)[at]?.['user']),
  )) {
    expect(body).toMatch(/^user_[0-9a-z]{8,59}$/)
    expect(again).toBe(body as string)
    expect(other).not.toBe(body as string)
  }
  expect(sent('ann').map(({ user }) => user)).toEqual(['ann', 'ann'])
})
