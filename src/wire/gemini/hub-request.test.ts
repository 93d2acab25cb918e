// Requests to Google and from its clients: turns, tools, pictures, settings, and what cannot be said.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../errors.ts'
import type { ChatRequest, JsonObject, Message } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { geminiHub } from './hub.ts'

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

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return String(error.detail.param)
    throw error
  }
  return 'none'
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
    const signed = (seal: string): Message => ({
      role: 'assistant',
      parts: [
        { type: 'tool-call', id: 'a', name: 'one', arguments: '{}', sealed: seal },
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

describe('settings', () => {
  test('W43: zeros are settings too, one choice is the habit', () => {
    expect(
      chat({ temperature: 0, top_p: 0, seed: 0, presence_penalty: 0, n: 1 })['generationConfig'],
    ).toEqual({
      temperature: 0,
      topP: 0,
      seed: 0,
      presencePenalty: 0,
    })
  })

  test('what Google knows is said in its words', () => {
    const { value, dropped } = chatEncoded({
      max_completion_tokens: 9,
      temperature: 1.5,
      top_p: 0.5,
      top_k: 7,
      n: 2,
      stop: 'END',
      frequency_penalty: 0.5,
      logprobs: true,
      top_logprobs: 3,
    })
    expect(value['generationConfig']).toEqual({
      maxOutputTokens: 9,
      temperature: 1.5,
      topP: 0.5,
      topK: 7,
      candidateCount: 2,
      stopSequences: ['END'],
      frequencyPenalty: 0.5,
      responseLogprobs: true,
      logprobs: 3,
    })
    expect(dropped).toEqual([])
  })

  test('what it does not know is named', () => {
    const { dropped } = chatEncoded({
      user: 'u',
      logit_bias: { 1: 1 },
      verbosity: 'low',
      service_tier: 'flex',
      prompt_cache_key: 'k',
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      tools: [weather],
      store: true,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
            { type: 'image_url', image_url: { url: 'https://a/b.png', detail: 'high' } },
          ],
        },
        { role: 'assistant', content: 'b', reasoning_content: 'c' },
      ],
    })
    expect(dropped.toSorted()).toEqual(
      [
        ...[
          'user',
          'logit_bias',
          'verbosity',
          'service_tier',
          'prompt_cache_key',
          'metadata',
          'store',
        ],
        ...['parallel_tool_calls', 'messages[0].content[0].cache_control'],
        ...['messages[0].content[1].image_url.detail', 'messages[1].reasoning_content'],
      ].toSorted(),
    )
  })

  test('too many stops or choices are refused, sound too', () => {
    const stop = ['a', 'b', 'c', 'd', 'e', 'f']
    const asked: ChatRequest = { model: 'm', stream: false, messages: [], stop }
    expect(refusal(() => geminiHub.encodeRequest(asked, third))).toBe('stop')
    expect(refusal(() => chat({ n: 9 }))).toBe('n')
    expect(refusal(() => chat({ modalities: ['text', 'audio'] }))).toBe('modalities')
  })

  test('a form of the reply', () => {
    const schema = {
      type: 'object',
      properties: { a: { const: 'x' } },
      additionalProperties: false,
    }
    const asked = { response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } }
    expect(chat(asked, second)['generationConfig']).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    })
    expect(chat(asked, old)['generationConfig']).toEqual({
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING', enum: ['x'] } } },
    })
    expect(chat({ response_format: { type: 'json_object' } })['generationConfig']).toEqual({
      responseMimeType: 'application/json',
    })
    expect(chat({ response_format: { type: 'text' } })).not.toHaveProperty('generationConfig')
  })

  test.each([
    [third, 'low', { thinkingLevel: 'LOW', includeThoughts: true }],
    [third, 'none', { thinkingLevel: 'LOW' }],
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'MINIMAL' }],
    ['gemini-3-flash-preview', 'xhigh', { thinkingLevel: 'HIGH', includeThoughts: true }],
    ['gemini-3.1-pro-preview', 'medium', { thinkingLevel: 'MEDIUM', includeThoughts: true }],
    [second, 'none', { thinkingBudget: 0 }],
    [second, 'low', { thinkingBudget: 1024, includeThoughts: true }],
    [second, 'max', { thinkingBudget: 24_576, includeThoughts: true }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
    ['models/gemini-2.5-pro', 'max', { thinkingBudget: 32_768, includeThoughts: true }],
  ])('%s thinks with effort %s', (model, effort, expected) => {
    expect(chat({ reasoning_effort: effort }, model)['generationConfig']).toEqual({
      thinkingConfig: expected,
    })
  })

  test('a model that does not think is not asked to', () => {
    const { value, dropped } = chatEncoded({ reasoning_effort: 'high' }, old)
    expect(value).not.toHaveProperty('generationConfig')
    expect(dropped).toEqual(['reasoning_effort'])
  })

  test('pictures are asked for', () => {
    expect(chat({ modalities: ['text', 'image'] })['generationConfig']).toEqual({
      responseModalities: ['TEXT', 'IMAGE'],
    })
  })
})

/** What a client of this format asks; every member that Google documents for it. */
const asked: JsonObject = {
  systemInstruction: { parts: [{ text: 'be brief' }] },
  contents: [
    {
      role: 'user',
      parts: [
        { text: 'look' },
        { inlineData: { mimeType: 'image/png', data: 'aWNvbg==' } },
        { inlineData: { mimeType: 'audio/wav', data: 'c291bmQ=' } },
        { inlineData: { mimeType: 'application/pdf', data: 'cGRm' } },
        { fileData: { mimeType: 'image/webp', fileUri: 'https://x.example/a' } },
        {
          fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/a.mp4' },
          videoMetadata: { fps: 1 },
        },
      ],
    },
    {
      role: 'model',
      parts: [
        { text: 'Hm', thought: true, thoughtSignature: 'dGhpbms=' },
        { functionCall: { id: 'f1', name: 'one', args: { x: 1 } }, thoughtSignature: 'c2ln' },
        { functionCall: { id: 'f2', name: 'two', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'f1', name: 'one', response: { output: 'ok' } } },
        { functionResponse: { id: 'f2', name: 'two', response: { a: [1] } } },
      ],
    },
    { role: 'model', parts: [{ text: 'so', thoughtSignature: 'dGV4dA==' }] },
    { role: 'user', parts: [{ text: 'go on' }] },
  ],
  tools: [
    {
      functionDeclarations: [
        {
          name: 'one',
          description: 'd',
          parametersJsonSchema: { type: 'object', properties: { x: { type: 'integer' } } },
        },
        { name: 'two' },
      ],
    },
    { googleSearch: {} },
  ],
  toolConfig: {
    functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['one', 'two'] },
    retrievalConfig: { languageCode: 'de' },
  },
  generationConfig: {
    temperature: 0,
    topP: 0.5,
    topK: 3,
    candidateCount: 2,
    maxOutputTokens: 10,
    stopSequences: ['a', 'b'],
    seed: 4,
    responseMimeType: 'application/json',
    responseJsonSchema: { type: 'object', properties: {} },
    responseLogprobs: true,
    logprobs: 2,
    responseModalities: ['TEXT', 'IMAGE'],
    thinkingConfig: { thinkingBudget: 200, includeThoughts: true },
    mediaResolution: 'MEDIA_RESOLUTION_LOW',
    imageConfig: { aspectRatio: '1:1' },
  },
  safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
}

describe("a request of Google's client", () => {
  test('comes back to this format as it was', () => {
    const { value, dropped } = geminiHub.decodeRequest(asked, { model: third, stream: true })
    expect(value.stream).toBe(true)
    expect(value.model).toBe(third)
    expect(dropped).toEqual([])
    const back = geminiHub.encodeRequest(value, third)
    expect(back.value).toEqual(asked)
    expect(back.dropped).toEqual([])
  })

  test('is the same in the other spelling of its members', () => {
    const snake = (value: unknown, inside: string): unknown => {
      if (Array.isArray(value)) return value.map((each) => snake(each, inside))
      if (typeof value !== 'object' || value === null) return value
      const plain = /^(args|response|parametersJsonSchema|responseJsonSchema)$/.test(inside)
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => [
          plain ? name : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
          plain ? each : snake(each, name),
        ]),
      )
    }
    const { tools: _, ...rest } = asked
    const read = (body: JsonObject) => geminiHub.decodeRequest(body, { model: third }).value
    const other = read(snake(rest, '') as JsonObject)
    expect(other.messages).toHaveLength(read(rest).messages.length)
    expect({ ...other, messages: [], extra: {} }).toEqual({
      ...read(rest),
      messages: [],
      extra: {},
    })
    expect(other.messages[0]).toEqual(read(rest).messages[0] as Message)
    expect(other.messages[2]?.parts).toEqual(read(rest).messages[2]?.parts as Message['parts'])
  })

  test('reaches a chat vendor, with what is left out by name', () => {
    const { tools: _, ...rest } = asked
    const [user, ...others] = rest['contents'] as JsonObject[]
    const parts = (user?.['parts'] as JsonObject[]).slice(0, 4)
    const body = { ...rest, contents: [{ ...user, parts }, ...others] }
    const { value } = geminiHub.decodeRequest(body, { model: 'm' })
    const encoded = chatHub.encodeRequest(value, 'gpt')
    const messages = encoded.value['messages'] as JsonObject[]
    expect(messages.map(({ role }) => role)).toEqual([
      ...['system', 'user', 'assistant', 'tool', 'tool', 'assistant', 'user'],
    ])
    expect(messages.slice(3, 5)).toMatchObject([
      { tool_call_id: 'f1', content: 'ok' },
      { tool_call_id: 'f2', content: '{"a":[1]}' },
    ])
    expect(encoded.value).toMatchObject({ temperature: 0, n: 2, stop: ['a', 'b'], seed: 4 })
    expect(encoded.dropped).toContain('generationConfig.mediaResolution')
    expect(encoded.dropped).toContain('safetySettings')
    expect(encoded.dropped).toContain('toolConfig.retrievalConfig')
  })

  test('calls without ids get some, by which their answers are known', () => {
    const { value } = geminiHub.decodeRequest(
      {
        contents: [
          {
            role: 'model',
            parts: [
              { functionCall: { name: 'a' } },
              { functionCall: { name: 'b' } },
              { functionCall: { name: 'a' } },
            ],
          },
          {
            role: 'function',
            parts: [
              { functionResponse: { name: 'b', response: {} } },
              { functionResponse: { name: 'a', response: { n: 1 } } },
              { functionResponse: { name: 'a', response: { n: 2 } } },
            ],
          },
        ],
      },
      { model: 'm' },
    )
    const ids = value.messages[0]?.parts.map((part) => (part.type === 'tool-call' ? part.id : ''))
    const answers = value.messages.slice(1).map(({ callId }) => callId ?? '')
    expect(new Set(ids).size).toBe(3)
    expect(answers).toEqual([ids?.[1] ?? '', ids?.[0] ?? '', ids?.[2] ?? ''])
    // None of them is told to Google.
    expect(JSON.stringify(geminiHub.encodeRequest(value, third).value)).not.toContain('"id"')
  })

  test("Google's own schema reaches others as JSON Schema", () => {
    const parameters = {
      type: 'OBJECT',
      properties: {
        city: { type: 'STRING', nullable: true, enum: ['a', 'b'], format: 'enum' },
        n: { type: 'ARRAY', items: { type: 'INTEGER' }, minItems: '1' },
        any: { any_of: [{ type: 'STRING' }, { type: 'NUMBER' }] },
      },
      required: ['city'],
      propertyOrdering: ['n', 'city'],
    }
    const tools = [{ function_declarations: [{ name: 'f', parameters }] }]
    const { value } = geminiHub.decodeRequest({ contents: [], tools }, { model: 'm' })
    expect(value.tools).toEqual([
      {
        type: 'function',
        name: 'f',
        parameters: {
          type: 'object',
          properties: {
            city: { type: ['string', 'null'], enum: ['a', 'b', null] },
            n: { type: 'array', items: { type: 'integer' }, minItems: 1 },
            any: { anyOf: [{ type: 'string' }, { type: 'number' }] },
          },
          required: ['city'],
        },
      },
    ])
  })

  test("tools that Google runs are refused by others' formats", () => {
    const tools = [{ googleSearch: {} }]
    const { value } = geminiHub.decodeRequest({ contents: [], tools }, { model: 'm' })
    expect(value.tools).toEqual([{ type: 'other', extra: { gemini: { googleSearch: {} } } }])
    expect(refusal(() => chatHub.encodeRequest(value, 'gpt'))).toContain('tools[0]')
  })

  test.each([
    [{ contents: 'x' }, 'contents'],
    [{ contents: ['x'] }, 'contents[0]'],
    [{ contents: [{ parts: 'x' }] }, 'contents[0].parts'],
    [{ contents: [{ parts: [{ functionCall: {} }] }] }, 'contents[0].parts[0].functionCall.name'],
    [{ contents: [{ parts: [{ inlineData: {} }] }] }, 'contents[0].parts[0].inlineData.mimeType'],
    [{ contents: [{ parts: [{ fileData: {} }] }] }, 'contents[0].parts[0].fileData.fileUri'],
    [{ contents: [], cachedContent: 'cachedContents/1' }, 'cachedContent'],
    [{ contents: [], tools: {} }, 'tools'],
  ])('%j is refused by name', (body, param) => {
    expect(refusal(() => geminiHub.decodeRequest(body, { model: 'm' }))).toBe(param)
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
