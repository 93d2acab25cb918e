// Tests Responses requests through the hub: from items to turns, to chat requests, and back.

import { describe, expect, test } from 'bun:test'
import { messagesHub } from '../anthropic-messages/hub.ts'
import type { ChatRequest, JsonObject, RequestPart } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { responsesHub } from './hub.ts'

function decoded(fields: JsonObject): ChatRequest {
  return responsesHub.decodeRequest({ model: 'm', input: 'hi', ...structuredClone(fields) }).value
}

function asChat(fields: JsonObject): { body: JsonObject; dropped: readonly string[] } {
  const { value: body, dropped } = chatHub.encodeRequest(decoded(fields), 'm')
  return { body, dropped }
}

function ofChat(fields: JsonObject): { body: JsonObject; dropped: readonly string[] } {
  const messages = [{ role: 'user', content: 'hi' }]
  const { value } = chatHub.decodeRequest({ model: 'm', messages, ...structuredClone(fields) })
  const { value: body, dropped } = responsesHub.encodeRequest(value, 'gpt-5')
  return { body, dropped }
}

/** A request of this format with all that the hub knows and much that it does not. */
const everything: JsonObject = {
  model: 'ours',
  instructions: 'Be brief.',
  input: [
    { role: 'developer', content: 'Rules.' },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'see' },
        { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
        { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
        { type: 'input_file', file_url: 'https://x/a.pdf' },
        { type: 'input_file', file_id: 'file-1' },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'why' }],
      encrypted_content: 'enc',
    },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      phase: 'commentary',
      content: [{ type: 'output_text', text: 'calling', annotations: [] }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"x":1}' },
    { type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'free text' },
    { type: 'function_call_output', call_id: 'c1', output: '1' },
    {
      type: 'custom_tool_call_output',
      call_id: 'c2',
      output: [
        { type: 'input_text', text: '2' },
        { type: 'input_image', image_url: 'https://x/a.png', detail: 'auto' },
      ],
    },
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } },
    { type: 'reasoning', summary: [], encrypted_content: 'enc2' },
    { role: 'assistant', content: 'done' },
    { role: 'user', content: 'thanks' },
  ],
  stream: true,
  store: false,
  previous_response_id: 'resp_0',
  include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
  tools: [
    { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
    { type: 'function', name: 'loose', parameters: { type: 'object' } },
    { type: 'custom', name: 'g', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
    { type: 'web_search', search_context_size: 'low' },
  ],
  tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
  parallel_tool_calls: false,
  max_output_tokens: 100,
  max_tool_calls: 3,
  reasoning: { effort: 'high', summary: 'auto', context: 'auto' },
  text: {
    format: { type: 'json_schema', name: 's', schema: { type: 'object' }, strict: true },
    verbosity: 'low',
  },
  temperature: 0,
  top_p: 1,
  top_logprobs: 2,
  truncation: 'disabled',
  metadata: { a: 'b' },
  user: 'u',
  safety_identifier: 's',
  prompt_cache_key: 'k',
  service_tier: 'flex',
}

describe('to itself', () => {
  test('keeps every field but those of what is kept where', () => {
    const { value, dropped } = responsesHub.decodeRequest(structuredClone(everything))
    const again = responsesHub.encodeRequest(value, 'theirs')
    expect([dropped, again.dropped]).toEqual([[], []])
    const { previous_response_id: _, ...rest } = everything
    expect(again.value).toEqual({ ...rest, model: 'theirs' })
  })

  test('does not change the body it is given', () => {
    const body = structuredClone(everything)
    responsesHub.encodeRequest(responsesHub.decodeRequest(body).value, 'x')
    expect(body).toEqual(everything)
  })

  test('a text stays one', () => {
    const body = { model: 'm', input: 'hi' }
    const { value } = responsesHub.decodeRequest(body)
    expect(responsesHub.encodeRequest(value, 'm').value).toEqual({
      model: 'm',
      input: [{ role: 'user', content: 'hi' }],
      store: false,
      include: ['reasoning.encrypted_content'],
    })
  })
})

describe('to a chat', () => {
  test('items become turns', () => {
    const { value } = responsesHub.decodeRequest(structuredClone(everything))
    expect(
      value.messages.map(({ role, parts }) => [role, ...parts.map(({ type }) => type)]),
    ).toEqual([
      ['system', 'text'],
      ['developer', 'text'],
      ['user', 'text', 'image', 'file', 'file', 'file'],
      ['assistant', 'reasoning', 'text', 'tool-call', 'tool-call'],
      ['tool', 'text'],
      ['tool', 'text', 'image'],
      ['assistant', 'other', 'reasoning'],
      ['assistant', 'text'],
      ['user', 'text'],
    ])
  })

  test('consecutive calls are one message, answered by their call ids', () => {
    const { body } = asChat({
      input: [
        { role: 'user', content: 'go' },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'why' }] },
        { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '' },
        { type: 'function_call', id: 'fc_2', call_id: 'c2', name: 'f', arguments: '{"x":1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'one' },
        {
          type: 'function_call_output',
          call_id: 'c2',
          output: [
            { type: 'input_text', text: 't' },
            { type: 'input_text', text: 'wo' },
          ],
        },
      ],
    })
    expect(body.messages).toMatchObject([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'why',
        tool_calls: [
          { id: 'c1', function: { name: 'f', arguments: '{}' } },
          { id: 'c2', function: { name: 'f', arguments: '{"x":1}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'c2' },
    ])
  })

  test('settings are put in its words', () => {
    const { body, dropped } = asChat({
      instructions: 'Be brief.',
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
      tool_choice: { type: 'function', name: 'f' },
      parallel_tool_calls: false,
      max_output_tokens: 100,
      reasoning: { effort: 'high', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 's', schema: {} }, verbosity: 'low' },
      include: ['message.output_text.logprobs'],
      top_logprobs: 2,
      store: true,
      conversation: 'conv_1',
      background: false,
    })
    expect(dropped).toEqual([])
    expect(body).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'f', parameters: { type: 'object', properties: {} } },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
      max_completion_tokens: 100,
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: {} } },
      verbosity: 'low',
      logprobs: true,
      top_logprobs: 2,
    })
  })

  test('grammars are nested as there', () => {
    const grammar = { syntax: 'lark', definition: 'x' }
    const tool = { type: 'custom', name: 'g', format: { type: 'grammar', ...grammar } }
    const { body } = asChat({ tools: [tool] })
    expect(body.tools).toEqual([
      { type: 'custom', custom: { name: 'g', format: { type: 'grammar', grammar } } },
    ])
    expect(ofChat({ tools: body.tools as JsonObject[] }).body.tools).toEqual([tool])
  })

  test.each<[JsonObject, string]>([
    [{ tools: [{ type: 'web_search' }] }, 'tools[0]'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0]'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ input: [{ type: 'function_call_output', output: 'x' }] }, 'input[0].call_id'],
    [{ input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
  ])('%j is refused by name', (fields, param) => {
    expect(() => asChat(fields)).toThrow(expect.objectContaining({ detail: { param } }))
  })

  test('what it does not support is named', () => {
    const { dropped } = asChat({ truncation: 'auto', max_tool_calls: 1, metadata: { a: 'b' } })
    expect(dropped).toEqual(['truncation', 'max_tool_calls', 'metadata'])
  })
})

describe('of a chat', () => {
  test('a conversation with calls, images and files', () => {
    const { body } = ofChat({
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'https://x/a.png' } },
            {
              type: 'file',
              file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,A' },
            },
          ],
        },
        {
          role: 'assistant',
          content: 'calling',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c2', type: 'custom', custom: { name: 'g', input: 'text' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
        { role: 'user', content: 'go on' },
      ],
    })
    expect(body.input).toEqual([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'see' },
          { type: 'input_image', image_url: 'https://x/a.png', detail: 'auto' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,A' },
        ],
      },
      { role: 'assistant', content: 'calling' },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'text' },
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'two' },
      { role: 'user', content: 'go on' },
    ])
  })

  test('an effort that is not known is passed on in this format, and named in any other', () => {
    const reasoning = { effort: 'ultra', summary: 'long' }
    const request = decoded({ reasoning })
    expect(responsesHub.encodeRequest(request, 'gpt-9').value.reasoning).toEqual(reasoning)
    expect(asChat({ reasoning }).dropped).toEqual(['reasoning'])
    expect(decoded({ reasoning: { effort: 'low', summary: 'long' } }).reasoning).toEqual({
      effort: 'low',
    })
  })

  test('W44: the texts of an answer are one string, images make it a list', () => {
    const answer = (...parts: RequestPart[]): JsonObject[] => {
      const { value } = responsesHub.encodeRequest(
        { model: 'm', stream: false, messages: [{ role: 'tool', callId: 'c', parts }] },
        'm',
      )
      return value.input as JsonObject[]
    }
    const one = { type: 'text', text: 'a' } as const
    expect(answer(one, { type: 'text', text: 'b' })[0]?.output).toBe('ab')
    expect(answer()[0]?.output).toBe('')
    const image = { type: 'image', url: 'https://x/a.png' } as const
    expect(answer(one, image)[0]?.output).toMatchObject([
      { type: 'input_text', text: 'a' },
      { type: 'input_image', image_url: 'https://x/a.png' },
    ])
  })

  test('W46: encrypted reasoning goes back as it was, any other is not invented', () => {
    const parts: RequestPart[] = [
      { type: 'reasoning', text: 'why', sealed: 'enc' },
      { type: 'reasoning', text: 'lost' },
      { type: 'reasoning', text: '', sealed: 'enc2', redacted: true },
      { type: 'text', text: 'a' },
    ]
    const request = { model: 'm', stream: false, messages: [{ role: 'assistant' as const, parts }] }
    expect(responsesHub.encodeRequest(request, 'm').value.input).toEqual([
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'why' }],
        encrypted_content: 'enc',
      },
      { type: 'reasoning', summary: [], encrypted_content: 'enc2' },
      { role: 'assistant', content: 'a' },
    ])
  })

  test('nothing is kept with the vendor, and reasoning comes in a form to be given back', () => {
    const { body } = ofChat({ reasoning_effort: 'low' })
    expect(body).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'low' },
    })
    const { value } = chatHub.decodeRequest({
      model: 'm',
      messages: [{ role: 'user', content: 'a' }],
    })
    for (const model of ['gpt-4o-mini', 'openai/gpt-4.1', 'ft:gpt-4o:x']) {
      expect(responsesHub.encodeRequest(value, model).value).not.toHaveProperty('include')
    }
  })

  test('W34: an empty text beside a call is no message', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: '' },
    ]
    expect(ofChat({ messages }).body.input).toEqual([
      { role: 'user', content: 'hi' },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: '' },
    ])
  })

  test('tools are not strict unless asked, and have parameters', () => {
    const tools = [
      { type: 'function', function: { name: 'f' } },
      { type: 'function', function: { name: 'g', parameters: { type: 'object' }, strict: true } },
    ]
    const choice = { type: 'function', function: { name: 'g' } }
    expect(ofChat({ tools, tool_choice: choice }).body).toMatchObject({
      tools: [
        { type: 'function', name: 'f', strict: false, parameters: { type: 'object' } },
        { type: 'function', name: 'g', strict: true },
      ],
      tool_choice: { type: 'function', name: 'g' },
    })
  })

  test.each([
    [{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }, false],
    [
      {
        type: 'object',
        properties: { a: { type: ['string', 'null'] } },
        required: ['a'],
        additionalProperties: false,
      },
      true,
    ],
  ])("another vendor's strict tool stays so where OpenAI can enforce it: %j", (schema, strict) => {
    const { value: asked } = messagesHub.decodeRequest({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ name: 'f', input_schema: schema, strict: true }],
    })
    const named = strict ? [] : ['tools[0].function.strict']
    const flat = responsesHub.encodeRequest(asked, 'm')
    expect(flat.value.tools).toMatchObject([{ parameters: schema, strict }])
    const nested = chatHub.encodeRequest(asked, 'm')
    const target = { name: 'f', parameters: schema, ...(strict && { strict }) }
    expect(nested.value.tools).toEqual([{ type: 'function', function: target }])
    expect([flat.dropped, nested.dropped]).toEqual([named, named])
  })

  test('a search asked for with the chat is the tool that searches', () => {
    const search = {
      search_context_size: 'low',
      user_location: { type: 'approximate', approximate: { country: 'DE' } },
    }
    expect(ofChat({ web_search_options: search }).body.tools).toEqual([
      {
        type: 'web_search',
        search_context_size: 'low',
        user_location: { type: 'approximate', country: 'DE' },
      },
    ])
  })

  test.each<[JsonObject, string]>([
    [{ n: 2 }, 'n'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
  ])('%j is refused by name', (fields, param) => {
    expect(() => ofChat(fields)).toThrow(expect.objectContaining({ detail: { param } }))
  })

  test('what may be left out is named', () => {
    const { body, dropped } = ofChat({
      ...{ seed: 1, top_k: 2, logit_bias: { '1': 2 }, presence_penalty: 0.5, stop: 'x' },
    })
    expect(dropped).toEqual(['top_k', 'seed', 'presence_penalty', 'logit_bias', 'stop'])
    expect(Object.keys(body)).toEqual(['model', 'input', 'store', 'include'])
  })

  test('what says no more than its absence is not named', () => {
    const { dropped } = ofChat({
      ...{ presence_penalty: 0, frequency_penalty: 0, logit_bias: {}, store: false },
    })
    expect(dropped).toEqual([])
    expect(ofChat({ store: true }).dropped).toEqual(['store'])
  })

  test('who is behind a request is told as a chat tells it', () => {
    const { body, dropped } = ofChat({ safety_identifier: 'hash-of-ann' })
    expect(body['safety_identifier']).toBe('hash-of-ann')
    expect(dropped).toEqual([])
    const { value } = responsesHub.decodeRequest({ ...body, model: 'm', input: 'hi' })
    const chat = chatHub.encodeRequest(value, 'm')
    expect(chat.value['safety_identifier']).toBe('hash-of-ann')
    expect(chat.dropped).toEqual([])
  })

  test('a chat that goes through this format comes back', () => {
    const body = {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: 'calling',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
      ],
      temperature: 0,
      max_completion_tokens: 5,
      reasoning_effort: 'low',
      response_format: { type: 'json_object' },
      stream: true,
    }
    const there = responsesHub.encodeRequest(chatHub.decodeRequest(body).value, 'm').value
    const back = chatHub.encodeRequest(responsesHub.decodeRequest(there).value, 'm')
    expect(back).toEqual({ value: body, dropped: [] })
  })
})
