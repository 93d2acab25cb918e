// Tests what OpenAI and Azure are not sent of replies that clients send back, and that others are sent it.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../wire/ir.ts'
import { needsAmend } from './amendments.ts'
import { azureOpenai } from './azure-openai.ts'
import { openai } from './openai.ts'

const longId = `chatcmpl-tool-${'a1b2c3d4'.repeat(4)}`
const target = { name: 'weather', arguments: '{}' }

function chat(): JsonObject {
  return {
    model: 'm',
    messages: [
      { role: 'user', content: 'Say hello.' },
      {
        role: 'assistant',
        content: null,
        refusal: null,
        reasoning_content: 'Hm.',
        tool_calls: [{ id: longId, type: 'function', function: target, extra_content: {} }],
      },
      { role: 'tool', tool_call_id: longId, content: 'rain' },
    ],
  }
}

/** What is sent of the body that a client of the same format sends; null: it is not changed. */
function amended(vendor: typeof openai | typeof azureOpenai, baseUrl: string, body: JsonObject) {
  const dialect = body['input'] === undefined ? 'openai-chat' : 'openai-responses'
  const call = { dialect, model: 'm', stream: false, sentBack: 'foreign', baseUrl } as const
  const { amend } = vendor.quirks
  if (amend === undefined) throw new Error(`${vendor.id} changes nothing`)
  const bytes = Buffer.from(JSON.stringify(body))
  return needsAmend(amend, Object.keys(body), bytes, call) ? amend.body(body, call) : null
}

test.each([
  [openai, 'https://api.openai.com/v1'],
  [openai, 'https://eu.api.openai.com/v1'],
  [azureOpenai, 'https://ours.openai.azure.com'],
])('$id at %s is sent what its own replies have, and ids that it takes', (vendor, baseUrl) => {
  const id = expect.stringMatching(/^call_\w{1,35}$/)
  expect(amended(vendor, baseUrl, chat())).toEqual({
    model: 'm',
    messages: [
      { role: 'user', content: 'Say hello.' },
      {
        role: 'assistant',
        content: null,
        refusal: null,
        tool_calls: [{ id, type: 'function', function: target }],
      },
      { role: 'tool', tool_call_id: id, content: 'rain' },
    ],
  })
})

test('of Responses, ids of calls are shortened alike in call and output', () => {
  const callId = `call_${'x'.repeat(85)}`
  const input = [
    { type: 'function_call', call_id: callId, ...target },
    { type: 'function_call_output', call_id: callId, output: 'rain' },
  ]
  const sent = amended(openai, 'https://api.openai.com/v1', { model: 'm', input })
  const ids = (sent?.['input'] as JsonObject[]).map((item) => item['call_id'])
  expect(new Set(ids).size).toBe(1)
  expect(String(ids[0]).length).toBeLessThanOrEqual(64)
})

test('at other addresses nothing is changed: what imitates OpenAI may read it', () => {
  for (const vendor of [openai, azureOpenai])
    expect(amended(vendor, 'http://127.0.0.1:9000/v1', chat())).toBeNull()
})
