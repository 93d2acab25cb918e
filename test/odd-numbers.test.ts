// Tests replies with numbers and ids that no client could use: official clients still read the translated reply.

import { expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import OpenAI from 'openai'
import type { VendorDialectId } from '../src/wire/formats.ts'
import type { JsonObject, JsonValue } from '../src/wire/ir.ts'
import { clientHub, vendorHub } from './support/dialects.ts'

const head = { id: 'r_1', model: 'm', createdAt: 1, wantsUsage: true }
const baseURL = 'http://127.0.0.1:9/v1'

function streamed(from: VendorDialectId, body: JsonValue, to: 'openai-chat' | 'openai-responses') {
  const writer = clientHub(to).writer(head)
  const events = vendorHub(from).readWhole(body, {})
  const text = events.map((event) => writer.event(event)).join('') + writer.end()
  const answer = async () =>
    new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  return Object.assign(answer, { preconnect: () => undefined })
}

const message = { role: 'assistant', content: 'hello' }
const parts = [{ text: 'hello' }]

test.each([-1, 1.5, 128, 2 ** 53, '0'])(
  'a choice of the index %p is that of its place',
  async (index) => {
    const chat = { id: 'c', choices: [{ index, message, finish_reason: 'stop' }] }
    const gemini = { candidates: [{ index, content: { parts }, finishReason: 'STOP' }] }
    const bodies = [
      ['openai-chat', chat],
      ['gemini', gemini],
    ] as const
    for (const [from, body] of bodies) {
      const fetch = streamed(from, body, 'openai-chat')
      const client = new OpenAI({ apiKey: 'k', baseURL, fetch, maxRetries: 0 })
      const asked = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] }
      const { choices } = await client.chat.completions.stream(asked).finalChatCompletion()
      expect(choices).toMatchObject([{ index: 0, message }])
    }
  },
)

function responseOf(output: JsonObject[]): JsonObject {
  return { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output }
}

test.each([[['fs', 'fs']], [['', null]], [[7, {}]]])(
  'items of the ids %j get ids of their own',
  async (ids) => {
    const items = ids.map((id) => ({
      type: 'file_search_call',
      id,
      status: 'completed',
      queries: [],
    }))
    const fetch = streamed('openai-responses', responseOf(items), 'openai-responses')
    const client = new OpenAI({ apiKey: 'k', baseURL, fetch, maxRetries: 0 })
    const { output } = await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse()
    expect(output).toHaveLength(2)
    expect(new Set(output.map(({ id }) => id)).size).toBe(2)
  },
)

test('code that a vendor ran has events of its own', async () => {
  const item = {
    type: 'code_interpreter_call',
    id: 'ci_1',
    status: 'completed',
    code: 'print(1)',
    container_id: 'cntr_1',
    outputs: [],
  }
  const fetch = streamed('openai-responses', responseOf([item]), 'openai-responses')
  const client = new OpenAI({ apiKey: 'k', baseURL, fetch, maxRetries: 0 })
  const { output } = await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse()
  expect(output).toEqual([item as (typeof output)[number]])
  const model = createOpenAI({ apiKey: 'k', baseURL, fetch }).responses('m')
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }]
  const { stream } = await model.doStream({ prompt })
  const inputs: string[] = []
  for await (const part of stream) if (part.type === 'tool-call') inputs.push(part.input)
  expect(inputs.map((input) => JSON.parse(input))).toEqual([
    { code: 'print(1)', containerId: 'cntr_1' },
  ])
})
