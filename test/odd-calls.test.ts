// Tests replies whose calls, texts and errors have another JSON type or form than their format says: nothing is lost.

import { expect, test } from 'bun:test'
import type { VendorDialectId } from '../src/wire/formats.ts'
import type { JsonObject, JsonValue } from '../src/wire/ir.ts'
import { chatHub } from '../src/wire/openai-chat/hub.ts'
import { SseFrames } from '../src/wire/sse-frames.ts'
import { readAll } from './replies.ts'
import { vendorHub } from './support/dialects.ts'

const head = { id: 'chatcmpl-1', model: 'm', createdAt: 1, wantsUsage: true }
const call = { function: { name: 'f', arguments: '{"x":1}' } }
const called = { message: { tool_calls: [call] }, finish_reason: 'tool_calls' }

function streamed(id: VendorDialectId, frames: readonly JsonObject[]): JsonValue | undefined {
  const events = readAll(
    vendorHub(id).reader({}),
    frames.map((frame) => JSON.stringify(frame)),
  )
  return chatHub.writeWhole(events, head)['choices']
}

function whole(id: VendorDialectId, body: JsonObject): JsonValue | undefined {
  return chatHub.writeWhole(vendorHub(id).readWhole(body, {}), head)['choices']
}

const responseOf = (item: JsonObject): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'm',
  output: [item],
})

test('Responses: arguments as an object', () => {
  const item = { type: 'function_call', call_id: 'c', name: 'f', arguments: { x: 1 } }
  expect(whole('openai-responses', responseOf(item))).toMatchObject([called])
  const done = { type: 'response.output_item.done', output_index: 0, item }
  const frames = [done, { type: 'response.completed', response: responseOf(item) }]
  expect(streamed('openai-responses', frames)).toMatchObject([called])
})

test('Responses: the content of a message as a text', () => {
  const item = { type: 'message', role: 'assistant', content: 'hello' }
  expect(whole('openai-responses', responseOf(item))).toMatchObject([
    { message: { content: 'hello' }, finish_reason: 'stop' },
  ])
})

test('Bedrock: the input of a streamed call as an object, of a whole one as a text', () => {
  const toolUse = { toolUseId: 't', name: 'f' }
  const frames = [
    { messageStart: { role: 'assistant' } },
    { contentBlockStart: { contentBlockIndex: 0, start: { toolUse } } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: { x: 1 } } } } },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { messageStop: { stopReason: 'tool_use' } },
  ]
  expect(streamed('bedrock-converse', frames)).toMatchObject([called])
  const piece = (input: JsonValue) => ({
    contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input } } },
  })
  const pieces = [...frames.slice(0, 2), piece({}), piece('{"x"'), piece(':1}'), ...frames.slice(3)]
  expect(streamed('bedrock-converse', pieces)).toMatchObject([called])
  const content = [{ toolUse: { ...toolUse, input: '{"x":1}' } }]
  const message = { role: 'assistant', content }
  expect(whole('bedrock-converse', { output: { message }, stopReason: 'tool_use' })).toMatchObject([
    called,
  ])
})

test('Anthropic: the input of a whole call as a text', () => {
  const body = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'tool_use', id: 't', name: 'f', input: '{"x":1}' }],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  expect(whole('anthropic-messages', body)).toMatchObject([called])
})

test('chat: the deprecated function_call, for clients of another format', () => {
  const chunk = (choice: JsonObject) => ({ id: 'c', choices: [{ index: 0, ...choice }] })
  const frames = [
    chunk({ delta: { role: 'assistant', function_call: { name: 'f', arguments: '' } } }),
    chunk({ delta: { function_call: { arguments: '{"x"' } } }),
    chunk({ delta: { function_call: { arguments: ':1}' } } }),
    chunk({ delta: {}, finish_reason: 'function_call' }),
  ]
  const { choices } = {
    choices: chunk({
      message: { role: 'assistant', content: null, function_call: call.function },
      finish_reason: 'function_call',
    }).choices,
  }
  for (const events of [
    readAll(
      vendorHub('openai-chat').reader({}),
      frames.map((frame) => JSON.stringify(frame)),
    ),
    vendorHub('openai-chat').readWhole({ id: 'c', choices }, {}),
  ]) {
    expect(events.filter(({ type }) => type !== 'response-start')).toMatchObject([
      { type: 'part-start', head: { type: 'tool-call', name: 'f' } },
      ...events.filter(({ type }) => type === 'part-delta'),
      { type: 'part-end' },
      { type: 'choice-end', reason: 'tool_calls' },
    ])
    const said = events.flatMap((event) => (event.type === 'part-delta' ? event.text : []))
    expect(said.join('')).toBe('{"x":1}')
  }
})

test.each([
  ['{"message":"too busy","code":529}'],
  ['{"type":"overloaded_error","message":"too busy"}'],
  ['{"error":{"message":"too busy"}}'],
  ['{"type":"error","error":{"message":"too busy"}}'],
  ['too busy'],
])('an event of the name error is one, whatever its data: %s', (data) => {
  const ids = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const
  for (const id of ids) {
    const frames = new SseFrames().push(Buffer.from(`event: error\ndata: ${data}\n\n`))
    const [event] = readAll(vendorHub(id).reader({}), frames)
    expect([id, event]).toMatchObject([
      id,
      { type: 'fault', fault: { message: expect.stringContaining('too busy') } },
    ])
  }
})
