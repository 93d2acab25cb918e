// Tests that a conversation translated to the other format and back is unchanged.

import { describe, expect, test } from 'bun:test'
import type { ClientHub, VendorHub } from '../codec.ts'
import type { JsonObject } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { messagesHub } from './hub.ts'

const model = 'claude-sonnet-4-5'

/** The request translated to format `to`, read from there and translated back to `from`. */
type Hub = ClientHub & VendorHub

function through(body: JsonObject, from: Hub, to: Hub): JsonObject {
  const there = to.encodeRequest(from.decodeRequest(body).value, model).value
  return from.encodeRequest(to.decodeRequest(structuredClone(there)).value, model).value
}

const picture = 'data:image/png;base64,iVBORw0KGgo='

describe('chat, Anthropic, chat', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Grüße 👋' },
        { type: 'image_url', image_url: { url: picture } },
      ],
    },
    {
      role: 'assistant',
      content: 'Both.',
      reasoning_content: 'why',
      thinking_blocks: [{ type: 'thinking', thinking: 'why', signature: 'sig' }],
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'f', arguments: '{"b":2,"a":[1,null]}' },
        },
        { id: 'call_2', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    },
    { role: 'tool', content: 'one', tool_call_id: 'call_1' },
    { role: 'tool', content: 'two', tool_call_id: 'call_2' },
    { role: 'user', content: 'go on' },
  ]
  const tools = [
    {
      type: 'function',
      function: { name: 'f', description: 'F', parameters: { type: 'object', properties: {} } },
    },
    { type: 'function', function: { name: 'g', parameters: { type: 'object', properties: {} } } },
  ]

  test('keeps roles, order, ids, arguments and opaque state', () => {
    const again = through(
      { model: 'm', messages, tools, tool_choice: 'auto' },
      chatHub,
      messagesHub,
    )
    expect(again.messages as unknown).toEqual(messages)
    expect(again.tools as unknown).toEqual(tools)
    expect(again.tool_choice).toBe('auto')
  })

  test('keeps what is asked beside the messages', () => {
    const asked = {
      max_completion_tokens: 50,
      temperature: 0,
      stop: ['END'],
      user: 'ann',
      stream: true,
      parallel_tool_calls: false,
      tools,
    }
    expect(through({ model: 'm', messages, ...asked }, chatHub, messagesHub)).toMatchObject(asked)
  })
})

describe('Anthropic, chat, Anthropic', () => {
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'a' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'why', signature: 'sig' },
        { type: 'text', text: 'Both.' },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: { b: 2 } },
        { type: 'tool_use', id: 'toolu_2', name: 'g', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'one' },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'two' },
        { type: 'text', text: 'go on' },
      ],
    },
  ]

  test('keeps turns, order, ids, input and opaque state', () => {
    const body = {
      model: 'm',
      max_tokens: 50,
      system: [{ type: 'text', text: 's' }],
      messages,
      tools: ['f', 'g'].map((name) => ({ name, input_schema: { type: 'object', properties: {} } })),
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
    }
    expect(through(body, messagesHub, chatHub)).toEqual({ ...body, model } as never)
  })
})
