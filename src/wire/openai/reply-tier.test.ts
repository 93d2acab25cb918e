// Tests that a client of either of OpenAI's chat formats sees the service tier that a vendor of the other names.

import { expect, test } from 'bun:test'
import { readAll } from '../../../test/replies.ts'
import { clientHub, vendorHub } from '../../../test/support/dialects.ts'
import type { JsonObject } from '../ir.ts'

const head = { id: 'x_1', model: 'm', createdAt: 7, wantsUsage: true }

function streamed(client: 'openai-chat' | 'openai-responses', frames: readonly JsonObject[]) {
  const vendor = client === 'openai-chat' ? 'openai-responses' : 'openai-chat'
  const data = frames.map((frame) => JSON.stringify(frame))
  const writer = clientHub(client).writer(head)
  const events = readAll(vendorHub(vendor).reader({}), data)
  const text = events.map((event) => writer.event(event)).join('') + writer.end()
  return { text, whole: clientHub(client).writeWhole(events, head) }
}

test('that of a chat, to a client of Responses', () => {
  const choice = { index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }
  const chunk = { id: 'c1', model: 'm', service_tier: 'flex', choices: [choice] }
  const { text, whole } = streamed('openai-responses', [chunk])
  expect(whole).toMatchObject({ service_tier: 'flex' })
  expect(text.split('\n\n').at(-2)).toContain('"service_tier":"flex"')
})

test('that of a response, to a client of chat', () => {
  const content = [{ type: 'output_text', text: 'Hi', annotations: [] }]
  const output = [{ type: 'message', id: 'msg_1', role: 'assistant', content }]
  const response = { id: 'resp_1', model: 'm', status: 'completed', service_tier: 'flex', output }
  const { text, whole } = streamed('openai-chat', [{ type: 'response.completed', response }])
  expect(whole).toMatchObject({ service_tier: 'flex' })
  const chunks = text.split('\n\n').filter((each) => each.includes('"choices"'))
  expect(chunks.every((each) => each.includes('"service_tier":"flex"'))).toBe(true)
})
