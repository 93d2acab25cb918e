// Tests replies whose calls, texts and errors have another JSON type or form than their format says: nothing is lost.

import { describe, expect, test } from 'bun:test'
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

test('chat: a call without a list around it', () => {
  const { message, finish_reason } = called
  const lone = { role: 'assistant', content: null, tool_calls: { id: 'c', ...call } }
  const body = { id: 'c1', model: 'm', choices: [{ index: 0, message: lone, finish_reason }] }
  expect(whole('openai-chat', body)).toMatchObject([{ message, finish_reason }])
  const deltas = [{ tool_calls: { index: 0, id: 'c', ...call } }, {}]
  const frames = deltas.map((delta, at) => ({
    choices: [{ index: 0, delta, finish_reason: at === 1 ? finish_reason : null }],
  }))
  expect(streamed('openai-chat', frames)).toMatchObject([{ message, finish_reason }])
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

const calledInStart = { toolUse: { toolUseId: 't', name: 'f', input: { x: 1 } } }

test('Bedrock: input that comes with the start of a call, alone or before its pieces', () => {
  const frames = (pieces: readonly JsonObject[]) => [
    { messageStart: { role: 'assistant' } },
    { contentBlockStart: { contentBlockIndex: 0, start: calledInStart } },
    ...pieces.map((toolUse) => ({
      contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse } },
    })),
    { contentBlockStop: { contentBlockIndex: 0 } },
    { messageStop: { stopReason: 'tool_use' } },
  ]
  for (const pieces of [[], [{ input: '' }], [{ input: '{"x"' }, { input: ':1}' }]])
    expect(streamed('bedrock-converse', frames(pieces))).toMatchObject([called])
})

describe('Responses: input that comes', () => {
  const empty = { type: 'function_call', id: 'i', call_id: 'c', name: 'f', arguments: '' }
  const full = { ...empty, arguments: '{"x":1}' }
  const at = { output_index: 0, item_id: 'i' }
  const added = (item: JsonObject) => ({ type: 'response.output_item.added', ...at, item })
  const done = (item: JsonObject) => ({ type: 'response.output_item.done', ...at, item })
  const said = { type: 'response.function_call_arguments.done', ...at, arguments: '{"x":1}' }
  const piece = { type: 'response.function_call_arguments.delta', ...at, delta: '{"x":1}' }
  const completed = (output: readonly JsonObject[]) => ({
    type: 'response.completed',
    response: { ...responseOf(empty), output: [...output] },
  })

  test.each<[string, JsonObject[]]>([
    ['with the end of its pieces alone', [added(empty), said, done(empty), completed([empty])]],
    ['before the name of the call', [said, done(empty), completed([empty])]],
    ['with the finished item alone', [added(empty), done(full), completed([empty])]],
    ['with the final response alone', [added(empty), done(empty), completed([full])]],
    ['at another place there', [added(empty), completed([{ type: 'reasoning' }, full])]],
    ['in a call that no event tells of', [completed([full])]],
    ['every time', [added(full), piece, said, done(full), completed([full])]],
  ])('%s', (_, frames) => {
    expect(streamed('openai-responses', frames)).toMatchObject([called])
    const list = (streamed('openai-responses', frames) as JsonObject[])[0]?.['message']
    expect((list as JsonObject)['tool_calls']).toHaveLength(1)
  })

  test('with a call behind a text, of which no event tells', () => {
    const text = { type: 'response.output_text.delta', output_index: 0, delta: 'hello' }
    const content = [{ type: 'output_text', text: 'hello', annotations: [] }]
    const message = { type: 'message', role: 'assistant', content }
    const other = { ...full, call_id: 'd' }
    for (const output of [
      [message, full],
      [full, message],
    ])
      expect(streamed('openai-responses', [text, completed(output)])).toMatchObject([
        { message: { content: 'hello', tool_calls: [call] }, finish_reason: 'tool_calls' },
      ])
    expect(
      streamed('openai-responses', [piece, done(full), completed([full, other])]),
    ).toMatchObject([{ message: { tool_calls: [call, { ...call, id: 'd' }] } }])
  })

  test('in a custom call', () => {
    const custom = { type: 'custom_tool_call', call_id: 'c', name: 'f', input: '' }
    const input = { type: 'response.custom_tool_call_input.done', ...at, input: 'x' }
    for (const frames of [
      [added(custom), input, done(custom), completed([custom])],
      [added(custom), done(custom), completed([{ ...custom, input: 'x' }])],
    ])
      expect(streamed('openai-responses', frames)).toMatchObject([
        { message: { tool_calls: [{ id: 'c', custom: { name: 'f', input: 'x' } }] } },
      ])
  })
})

test.each(['function_call', 'tool_calls', 'stop'])(
  'chat: the finish reason %s is that of what the client is shown',
  (word) => {
    const older = { function_call: call.function }
    const wholeOf = (message: JsonObject) =>
      whole('openai-chat', { choices: [{ index: 0, message, finish_reason: word }] })
    expect(wholeOf({ content: null, ...older })).toMatchObject([called])
    expect(wholeOf({ content: 'hello' })).toMatchObject([{ finish_reason: 'stop' }])
    const frames = [{ delta: older }, { delta: {}, finish_reason: word }]
    const chunks = frames.map((choice) => ({ choices: [{ index: 0, ...choice }] }))
    expect(streamed('openai-chat', chunks)).toMatchObject([called])
  },
)

test('chat: a client that asks with functions gets one call, streamed or whole', () => {
  const { value: request } = chatHub.decodeRequest({
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    functions: [{ name: 'f' }],
  })
  const calls = [1, 2].map((x) => ({
    id: `c${x}`,
    type: 'function',
    function: { name: 'f', arguments: `{"x":${x}}` },
  }))
  const choice = { index: 0, message: { tool_calls: calls }, finish_reason: 'tool_calls' }
  const events = vendorHub('openai-chat').readWhole({ choices: [choice] }, {})
  const writer = chatHub.writer({ ...head, request })
  const text = events.map((event) => writer.event(event)).join('')
  const shown = text
    .split('\n\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line.slice('data: '.length)).choices[0])
  const given = shown.flatMap(({ delta }) => delta.function_call?.arguments ?? [])
  expect(given.join('')).toBe('{"x":1}')
  expect(shown.at(-1).finish_reason).toBe('function_call')
  expect(chatHub.writeWhole(events, { ...head, request })['choices']).toMatchObject([
    { message: { function_call: call.function }, finish_reason: 'function_call' },
  ])
})

test.each<[VendorDialectId, JsonObject]>([
  ['openai-responses', responseOf({ type: 'function_call', name: 'f', arguments: '{"x":1}' })],
  [
    'anthropic-messages',
    {
      id: 'msg_1',
      content: [{ type: 'tool_use', name: 'f', input: { x: 1 } }],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  ],
])('%s: a call without an id gets one, by which clients can answer', (id, body) => {
  const message = expect.objectContaining({
    tool_calls: [expect.objectContaining({ ...call, id: expect.stringMatching(/^\w+$/) })],
  })
  expect(whole(id, body)).toMatchObject([{ message }])
})
