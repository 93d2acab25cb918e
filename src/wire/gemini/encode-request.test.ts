// Tests requests to Google: turns, tools, pictures, settings, and what cannot be expressed.

import { describe, expect, test } from 'bun:test'
import type { JsonObject, Message } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { geminiHub } from './hub.ts'
import { refusal } from './testing.ts'

const third = 'gemini-3-pro-preview'
const second = 'gemini-2.5-flash'
const old = 'gemini-2.0-flash'

function chat(body: JsonObject, model = third): JsonObject {
  return chatEncoded(body, model).value
}

function chatEncoded(body: JsonObject, model = third) {
  const asked = chatHub.decodeRequest({
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    ...body,
  })
  return geminiHub.encodeRequest(asked.value, model)
}

function contents(messages: JsonObject[], model = third): JsonObject[] {
  return chat({ messages }, model)['contents'] as JsonObject[]
}

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}
const callOf = (id: string, name: string, args: string, more: JsonObject = {}) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
  ...more,
})

describe('turns', () => {
  test('instructions lead, a later one stands where it was, roles are joined', () => {
    const body = chat({
      messages: [
        { role: 'system', content: 'one' },
        { role: 'developer', content: 'two' },
        { role: 'user', content: 'a' },
        { role: 'user', content: [{ type: 'text', text: 'b' }] },
        { role: 'assistant', content: 'c' },
        { role: 'system', content: 'now' },
        { role: 'user', content: 'd' },
      ],
    })
    expect(body['systemInstruction']).toEqual({ parts: [{ text: 'one' }, { text: 'two' }] })
    expect(body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'model', parts: [{ text: 'c' }] },
      { role: 'user', parts: [{ text: 'now' }, { text: 'd' }] },
    ])
  })

  test('instructions alone are the turn that must be there', () => {
    const body = chat({ messages: [{ role: 'system', content: 'be brief' }] })
    expect(body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'be brief' }] }] })
  })

  test('W34: an empty text is left out and nothing is put in its place', () => {
    expect(
      contents([
        { role: 'user', content: 'a' },
        { role: 'assistant', content: '', tool_calls: [callOf('c1', 'weather', '{}')] },
        { role: 'tool', tool_call_id: 'c1', content: '' },
      ]),
    ).toEqual([
      { role: 'user', parts: [{ text: 'a' }] },
      {
        role: 'model',
        parts: [
          {
            functionCall: { id: 'c1', name: 'weather', args: {} },
            thoughtSignature: 'skip_thought_signature_validator',
          },
        ],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'c1', name: 'weather', response: { result: '' } } }],
      },
    ])
  })

  test('W36: answers of one turn stand together, in the order of their calls, named by them', () => {
    const turns = contents(
      [
        { role: 'user', content: 'a' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [callOf('c1', 'one', '{"x":1}'), callOf('c2', 'two', '')],
        },
        { role: 'tool', tool_call_id: 'c2', content: '[1]' },
        { role: 'tool', tool_call_id: 'c1', content: '{"ok":true}' },
        { role: 'user', content: 'go on' },
      ],
      second,
    )
    expect(turns.slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'one', args: { x: 1 } } },
          { functionCall: { name: 'two', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'one', response: { ok: true } } },
          { functionResponse: { name: 'two', response: { result: [1] } } },
        ],
      },
      { role: 'user', parts: [{ text: 'go on' }] },
    ])
  })

  test('an id that comes twice is of the later call', () => {
    const turns = contents([
      { role: 'assistant', content: null, tool_calls: [callOf('c', 'one', '{}')] },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [callOf('c', 'two', '{}')] },
      { role: 'tool', tool_call_id: 'c', content: 'y' },
    ])
    expect(JSON.stringify(turns[3])).toContain('"name":"two"')
  })

  test('W35: arguments that are no object are wrapped, not sent as they are', () => {
    const [turn] = contents([
      {
        role: 'assistant',
        content: null,
        tool_calls: [callOf('a', 'one', ''), callOf('b', 'one', '{"x'), callOf('c', 'one', '3')],
      },
    ])
    const args = (turn?.['parts'] as JsonObject[]).map(
      (part) => (part['functionCall'] as JsonObject)['args'],
    )
    expect(args).toEqual([{}, { input: '{"x' }, { input: 3 }])
  })

  test('W37: ids go only to models that know them, and never those made here', () => {
    const messages = [
      { role: 'assistant', content: null, tool_calls: [callOf('fc_1', 'one', '{}')] },
      { role: 'tool', tool_call_id: 'fc_1', content: 'x' },
    ]
    expect(JSON.stringify(contents(messages, third)).match(/fc_1/g)).toHaveLength(2)
    expect(JSON.stringify(contents(messages, second))).not.toContain('fc_1')
    const body = {
      candidates: [
        { content: { parts: [{ functionCall: { name: 'one' } }] }, finishReason: 'STOP' },
      ],
    }
    const said = chatHub.writeWhole(geminiHub.readWhole(body, {}), {
      id: 'i',
      model: 'm',
      createdAt: 1,
      wantsUsage: true,
    })
    const { message } = (said['choices'] as JsonObject[])[0] as { message: JsonObject }
    const [made] = message['tool_calls'] as JsonObject[]
    const back = contents([
      message,
      { role: 'tool', tool_call_id: made?.['id'] ?? '', content: 'x' },
    ])
    expect(JSON.stringify(back)).not.toContain('"id"')
    expect(JSON.stringify(back)).toContain('"functionResponse":{"name":"one"')
  })

  test('W31: a signature returns on its own call, and a foreign history says it has none', () => {
    const signed = (signature: string): Message => ({
      role: 'assistant',
      parts: [
        { type: 'tool-call', id: 'a', name: 'one', arguments: '{}', sealed: signature },
        { type: 'tool-call', id: 'b', name: 'two', arguments: '{}' },
      ],
    })
    const encode = (message: Message, model: string) =>
      (
        geminiHub.encodeRequest({ model: 'm', messages: [message], stream: false }, model).value[
          'contents'
        ] as JsonObject[]
      )[0]?.['parts'] as JsonObject[]
    const own = encode(signed('c2ln'), third)
    expect(own.map((part) => part['thoughtSignature'])).toEqual(['c2ln', undefined])
    const { parts } = signed('')
    const foreign: Message = { role: 'assistant', parts: parts.map(({ ...part }) => part) }
    for (const part of foreign.parts) delete (part as { sealed?: string }).sealed
    expect(encode(foreign, third).map((part) => part['thoughtSignature'])).toEqual([
      'skip_thought_signature_validator',
      undefined,
    ])
    expect(encode(foreign, second).map((part) => part['thoughtSignature'])).toEqual([
      undefined,
      undefined,
    ])
  })
})

describe('pictures, sounds and files', () => {
  const png = 'data:image/png;base64,aWNvbg=='
  test('bytes go inline, addresses for Google to fetch', () => {
    const [turn] = contents([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: png } },
          { type: 'image_url', image_url: { url: 'https://x.example/a.webp?b=1' } },
          { type: 'input_audio', input_audio: { data: 'c291bmQ=', format: 'wav' } },
          {
            type: 'file',
            file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,cGRm' },
          },
        ],
      },
    ])
    expect(turn?.['parts']).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'aWNvbg==' } },
      { fileData: { mimeType: 'image/webp', fileUri: 'https://x.example/a.webp?b=1' } },
      { inlineData: { mimeType: 'audio/wav', data: 'c291bmQ=' } },
      { inlineData: { mimeType: 'application/pdf', data: 'cGRm' } },
    ])
  })

  test('a file that lies with another vendor is refused', () => {
    const content = [{ type: 'file', file: { file_id: 'file-1' } }]
    expect(refusal(() => chat({ messages: [{ role: 'user', content }] }))).toBe(
      'messages[0].content[0]',
    )
  })

  test('a picture a tool answered with is inside the answer, or follows it where that is not known', () => {
    const messages: Message[] = [
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'c', name: 'see', arguments: '{}' }] },
      {
        role: 'tool',
        callId: 'c',
        parts: [
          { type: 'text', text: 'seen' },
          { type: 'image', url: png },
        ],
      },
    ]
    const encode = (model: string) =>
      geminiHub.encodeRequest({ model: 'm', messages, stream: false }, model).value[
        'contents'
      ] as JsonObject[]
    expect(encode(third)[1]).toEqual({
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'c',
            name: 'see',
            response: { result: 'seen' },
            parts: [{ inlineData: { mimeType: 'image/png', data: 'aWNvbg==' } }],
          },
        },
      ],
    })
    expect(encode(second).slice(1)).toEqual([
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'see', response: { result: 'seen' } } }],
      },
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'aWNvbg==' } }] },
    ])
  })

  test('a tool that failed says so', () => {
    const messages: Message[] = [
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'c', name: 'see', arguments: '{}' }] },
      { role: 'tool', callId: 'c', isError: true, parts: [{ type: 'text', text: 'no' }] },
    ]
    const body = geminiHub.encodeRequest({ model: 'm', messages, stream: false }, second).value
    expect(JSON.stringify(body)).toContain('"response":{"error":"no"}')
  })
})

describe('tools', () => {
  test('W41: real JSON Schema where the model takes it, else the subset', () => {
    const parameters = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { n: { type: 'integer', exclusiveMinimum: 0 } },
      additionalProperties: false,
    }
    const tools = [{ type: 'function', function: { name: 'f', description: 'd', parameters } }]
    const { $schema: _, ...real } = parameters
    expect(chat({ tools }, second)['tools']).toEqual([
      { functionDeclarations: [{ name: 'f', description: 'd', parametersJsonSchema: real }] },
    ])
    expect(chat({ tools }, old)['tools']).toEqual([
      {
        functionDeclarations: [
          {
            name: 'f',
            description: 'd',
            parameters: { type: 'OBJECT', properties: { n: { type: 'INTEGER', minimum: 0 } } },
          },
        ],
      },
    ])
  })

  test('a tool without arguments has no parameters, an empty list is no list', () => {
    const tools = [
      { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } },
    ]
    expect(chat({ tools })['tools']).toEqual([{ functionDeclarations: [{ name: 'f' }] }])
    expect(chat({ tools: [] })).not.toHaveProperty('tools')
  })

  test.each([
    ['none', { mode: 'NONE' }],
    ['auto', { mode: 'AUTO' }],
    ['required', { mode: 'ANY' }],
    [
      { type: 'function', function: { name: 'weather' } },
      { mode: 'ANY', allowedFunctionNames: ['weather'] },
    ],
  ])('W38: tool_choice %j', (choice, expected) => {
    const body = chat({ tools: [weather], tool_choice: choice })
    expect(body['toolConfig']).toEqual({ functionCallingConfig: expected })
  })

  test('allowed tools: the others are not offered', () => {
    const other = { type: 'function', function: { name: 'other' } }
    const allowed = (mode: string) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'weather' } }] },
    })
    const free = chat({ tools: [weather, other], tool_choice: allowed('auto') })
    expect(JSON.stringify(free['tools'])).not.toContain('other')
    expect(free['toolConfig']).toEqual({ functionCallingConfig: { mode: 'AUTO' } })
    const bound = chat({ tools: [weather, other], tool_choice: allowed('required') })
    expect(bound['toolConfig']).toEqual({
      functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] },
    })
  })

  test('strict tools are validated', () => {
    const strict = { type: 'function', function: { ...weather.function, strict: true } }
    expect(chat({ tools: [strict] })['toolConfig']).toEqual({
      functionCallingConfig: { mode: 'VALIDATED' },
    })
    expect(chatEncoded({ tools: [strict] }, old).dropped).toContain('tools[0].function.strict')
  })

  test('tools of others are refused, by their place', () => {
    const custom = { type: 'custom', custom: { name: 'c' } }
    expect(refusal(() => chat({ tools: [weather, custom] }))).toBe('tools[1]')
    expect(refusal(() => chat({ tools: [{ type: 'web_search' }] }))).toBe('tools[0]')
    expect(refusal(() => chat({ tool_choice: 'required' }))).toBe('tool_choice')
  })
})

test('a chat comes back from Gemini with its roles, ids, order and arguments', () => {
  const messages = [
    { role: 'system', content: 'be brief' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aWNvbg==' } },
      ],
    },
    {
      role: 'assistant',
      content: 'b',
      tool_calls: [callOf('c1', 'one', '{"x":1}'), callOf('c2', 'two', '{}')],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'r1' },
    { role: 'tool', tool_call_id: 'c2', content: '{"r":2}' },
    { role: 'assistant', content: 'd' },
    { role: 'user', content: 'e' },
  ]
  const there = chat({ messages, tools: [weather], temperature: 0.5 })
  const back = geminiHub.decodeRequest(there, { model: 'm' }).value
  const again = chatHub.encodeRequest(back, 'm').value
  const plain = messages.map(({ content, ...message }) => ({ ...message, content }))
  expect(again['messages']).toEqual(plain.map((message) => expect.objectContaining(message)))
  expect(again['tools']).toEqual([weather])
  expect(again['temperature']).toBe(0.5)
})
