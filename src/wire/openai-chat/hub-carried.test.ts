// Tests what chat requests carry: every concept of the hub, from each spelling, and to clients of other formats.

import { describe, expect, test } from 'bun:test'
import { wrapOpaque } from '../hub/opaque-state.ts'
import type { ChatRequest, JsonObject, RequestPart } from '../ir.ts'
import { chatHub } from './hub.ts'

const messages = [{ role: 'user', content: 'hi' }]
const hi: ChatRequest['messages'] = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }]

function decoded(fields: JsonObject): ChatRequest {
  return chatHub.decodeRequest({ model: 'm', messages, ...fields }).value
}

function partsOf(message: JsonObject): readonly RequestPart[] {
  return decoded({ messages: [message] }).messages[0]?.parts ?? []
}

/** The body for a chat vendor of a request in another format. */
function asked(fields: Partial<ChatRequest>): { body: JsonObject; dropped: readonly string[] } {
  const request = { model: 'm', messages: hi, stream: false, ...fields }
  const { value: body, dropped } = chatHub.encodeRequest(request, 'm')
  return { body, dropped }
}

/** The client's messages after a translation through the hub. */
function again(list: readonly JsonObject[]): unknown {
  const { value, dropped } = chatHub.encodeRequest(decoded({ messages: [...list] }), 'm')
  expect(dropped).toEqual([])
  return value.messages
}

const weather = { type: 'function', name: 'f', parameters: { type: 'object' } } as const
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }

describe('tools', () => {
  test('of both kinds come in and go out', () => {
    const custom = {
      type: 'custom',
      custom: { name: 'g', description: 'd', format: { type: 'text' } },
    }
    const list = [{ ...tool, cache_control: { type: 'ephemeral', ttl: '1h' } }, custom]
    const { tools } = decoded({ tools: list })
    expect(tools).toMatchObject([
      { ...weather, cache: { ttl: '1h' } },
      { type: 'custom', name: 'g', description: 'd', format: { type: 'text' } },
    ])
    expect(asked({ tools: tools ?? [] })).toMatchObject({ body: { tools: list }, dropped: [] })
  })

  test('the deprecated functions are tools', () => {
    const value = decoded({ functions: [{ name: 'f', description: 'd' }], function_call: 'auto' })
    expect(value).toMatchObject({
      tools: [{ type: 'function', name: 'f', description: 'd' }],
      toolChoice: { mode: 'auto' },
    })
    expect(decoded({ functions: [], function_call: { name: 'f' } }).toolChoice).toEqual({
      mode: 'tool',
      name: 'f',
    })
  })

  test.each([
    ['none', { mode: 'none' }],
    ['auto', { mode: 'auto' }],
    ['required', { mode: 'required' }],
    [
      { type: 'function', function: { name: 'f' } },
      { mode: 'tool', name: 'f' },
    ],
    [
      { type: 'custom', custom: { name: 'g' } },
      { mode: 'tool', name: 'g' },
    ],
  ] as const)('W38: the choice %j goes both ways', (choice, meant) => {
    const tools = [tool, { type: 'custom', custom: { name: 'g' } }]
    const value = decoded({ tools, tool_choice: choice })
    expect(value.toolChoice).toEqual(meant)
    const { wording: _, ...foreign } = value
    expect(chatHub.encodeRequest(foreign, 'm').value.tool_choice).toEqual(choice)
  })

  test('allowed tools are a shorter list to vendors that know no such choice', () => {
    const names = { type: 'function', function: { name: 'f' } }
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [names] } }
    const other = { type: 'function', function: { name: 'h' } }
    const value = decoded({ tools: [tool, other], tool_choice: choice })
    expect(value.toolChoice).toEqual({ mode: 'allowed', names: ['f'], required: true })
    expect(chatHub.encodeRequest(value, 'm').value).toMatchObject({ tool_choice: choice })
    const { wording: _, ...foreign } = value
    expect(chatHub.encodeRequest(foreign, 'm').value).toMatchObject({
      tools: [tool],
      tool_choice: 'required',
    })
  })

  test('that another vendor runs are refused by name, those of this format return to it', () => {
    const theirs = { type: 'other', extra: { elsewhere: { type: 'web_search_20250305' } } } as const
    expect(() => asked({ tools: [weather, theirs] })).toThrow(
      expect.objectContaining({
        message: expect.stringContaining("'web_search_20250305'"),
        detail: { param: 'tools[1]' },
      }),
    )
    const own = { type: 'builtin_function', function: { name: '$web_search' } }
    const value = decoded({ tools: [own], web_search_options: { search_context_size: 'low' } })
    expect(value.tools?.map(({ type }) => type)).toEqual(['other', 'other'])
    expect(chatHub.encodeRequest(value, 'm').value).toMatchObject({
      tools: [own],
      web_search_options: { search_context_size: 'low' },
    })
  })

  test('without any, nothing is said of their choice', () => {
    const { body } = asked({ tools: [], toolChoice: { mode: 'auto' }, parallelToolCalls: true })
    expect(Object.keys(body)).toEqual(['model', 'messages'])
  })
})

describe('thinking', () => {
  test.each([
    [{ reasoning_effort: 'xhigh' }, { effort: 'xhigh' }],
    [{ reasoning: { effort: 'low', exclude: true } }, { effort: 'low', show: 'none' }],
    [{ reasoning: { max_tokens: 2000 } }, { budgetTokens: 2000 }],
    [{ reasoning: { enabled: true } }, { adaptive: true }],
    [{ reasoning: { enabled: false } }, { effort: 'none' }],
    [{ thinking: { type: 'enabled', budget_tokens: 5000 } }, { budgetTokens: 5000 }],
    [{ thinking: { type: 'disabled' } }, { effort: 'none' }],
    [{ thinking: { type: 'enabled' } }, { adaptive: true }],
  ] as const)('%j is understood and given back as it was', (fields, meant) => {
    const value = decoded(fields)
    expect(value.reasoning).toEqual(meant)
    const body = chatHub.encodeRequest(value, 'm').value
    expect(body).toEqual({ model: 'm', messages, ...fields })
  })

  test.each([
    [1_024, 'low'],
    [4_096, 'medium'],
    [32_000, 'high'],
  ])('a budget of %d is the effort %s', (budgetTokens, effort) => {
    expect(asked({ reasoning: { budgetTokens } }).body.reasoning_effort).toBe(effort)
  })

  test('left to the model is not said', () => {
    expect(asked({ reasoning: { adaptive: true, show: 'auto' } }).body).not.toHaveProperty(
      'reasoning_effort',
    )
  })
})

describe('reasoning given back', () => {
  test.each(['reasoning_content', 'reasoning'])('W39: as %s', (name) => {
    const message = { role: 'assistant', content: 'a', [name]: 'why' }
    expect(partsOf(message)).toEqual([
      { type: 'reasoning', text: 'why' },
      { type: 'text', text: 'a' },
    ])
    expect(again([message])).toEqual([message])
  })

  test('W39: reasoning of other formats comes back as reasoning_content', () => {
    const parts: RequestPart[] = [
      { type: 'reasoning', text: 'why' },
      { type: 'tool-call', id: 'c', name: 'f', arguments: '{}' },
    ]
    const { body } = asked({ messages: [{ role: 'assistant', parts }] })
    expect(body.messages).toMatchObject([
      { role: 'assistant', content: null, reasoning_content: 'why', tool_calls: [{ id: 'c' }] },
    ])
  })

  test('W31: as thinking blocks with their opaque state', () => {
    const message = {
      role: 'assistant',
      content: 'a',
      reasoning_content: 'one',
      thinking_blocks: [
        { type: 'thinking', thinking: '', signature: 's1' },
        { type: 'redacted_thinking', data: 'd' },
      ],
    }
    expect(partsOf(message)).toEqual([
      { type: 'reasoning', text: 'one', sealed: 's1' },
      { type: 'reasoning', text: '', sealed: 'd', redacted: true },
      { type: 'text', text: 'a' },
    ])
    expect(again([message])).toEqual([message])
  })

  test('as OpenRouter has it, pieces joined, unchanged', () => {
    const details = [
      { type: 'reasoning.text', text: 'on', index: 0, format: 'anthropic-claude-v1' },
      { type: 'reasoning.text', text: 'e', signature: 's', index: 0 },
      { type: 'reasoning.encrypted', data: 'e', id: 'r1', index: 1 },
    ]
    const message = { role: 'assistant', content: 'a', reasoning_details: details }
    const parts = partsOf(message)
    expect(parts).toMatchObject([
      { type: 'reasoning', text: 'one' },
      { type: 'reasoning', redacted: true },
      { type: 'text' },
    ])
    expect(again([message])).toEqual([message])
    const { body } = asked({ messages: [{ role: 'assistant', parts }] })
    expect(body.messages).toEqual([
      {
        role: 'assistant',
        content: 'a',
        reasoning_details: [
          { type: 'reasoning.text', text: 'one', signature: 's', index: 0 },
          details[2],
        ],
      },
    ] as JsonObject[])
  })

  test('opaque state marked by the gateway is read from either member', () => {
    const marked = wrapOpaque('sig', { dialect: 'anthropic-messages', channel: 'c1' }) ?? ''
    const detail = { type: 'reasoning.text', text: 't', signature: marked }
    const expected = { type: 'reasoning', text: 't', sealed: marked } as const
    expect(partsOf({ role: 'assistant', reasoning_details: [detail] })).toEqual([expected])
    const block = { type: 'thinking', thinking: 't', signature: marked }
    expect(partsOf({ role: 'assistant', thinking_blocks: [block] })).toEqual([expected])
  })

  test('W31: a call keeps its signature', () => {
    const call = {
      id: 'c',
      type: 'function',
      function: { name: 'f', arguments: '{}' },
      extra_content: { google: { thought_signature: 's', other: 1 } },
    }
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    expect(partsOf(message)).toMatchObject([{ type: 'tool-call', id: 'c', sealed: 's' }])
    expect(again([message])).toEqual([message])
  })
})

describe('parts', () => {
  const user = (part: JsonObject): JsonObject => ({ role: 'user', content: [part] })

  test.each<[JsonObject, object]>([
    [
      { type: 'image_url', image_url: { url: 'https://x/a.png', detail: 'low' } },
      { type: 'image', url: 'https://x/a.png', detail: 'low' },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
      { type: 'audio', data: 'AA==', format: 'mp3' },
    ],
    [
      {
        type: 'file',
        file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
      },
      { type: 'file', url: 'data:application/pdf;base64,AA==', name: 'a.pdf' },
    ],
    [
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'file', url: '', vendorFile: 'file-1' },
    ],
    [
      { type: 'file', file: { filename: 'a.pdf', file_data: 'AA==' } },
      { type: 'file', url: 'data:application/pdf;base64,AA==', name: 'a.pdf' },
    ],
    [
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'a', cache: { ttl: '5m' } },
    ],
    [
      { type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
      { type: 'text', text: 'a', cache: { ttl: '5m' } },
    ],
    [{ type: 'video_url', video_url: { url: 'https://x/a.mp4' } }, { type: 'other' }],
  ])('%j', (part, expected) => {
    expect(partsOf(user(part))).toMatchObject([expected])
    expect(again([user(part)])).toEqual([user(part)])
  })

  test.each<[RequestPart, string]>([
    [{ type: 'image', url: '', vendorFile: 'f1' }, 'an image must be given by'],
    [{ type: 'file', url: 'https://x/a.pdf' }, 'a file must be given by its bytes'],
  ])('%j cannot be said', (part, message) => {
    expect(() => asked({ messages: [{ role: 'user', parts: [part] }] })).toThrow(message)
  })

  test.each([
    ['original', { detail: 'high' }],
    ['tiny', {}],
  ])('a detail of %j, which only another format has, is the nearest one here', (detail, shown) => {
    const url = 'https://x/a.png'
    const [begun, ended] = ['messages[0].content[0]', 'image_url.detail']
    expect(
      asked({ messages: [{ role: 'user', parts: [{ type: 'image', url, detail }] }] }),
    ).toEqual({
      body: {
        model: 'm',
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url, ...shown } }] },
        ],
      },
      dropped: [`${begun}.${ended}`],
    })
    const own = { role: 'user', content: [{ type: 'image_url', image_url: { url, detail } }] }
    expect(again([own])).toEqual([own])
  })

  test('files are fetched for this format, images are not', () => {
    const url = 'https://x/a'
    const asked = (type: 'image' | 'file') => chatHub.needsBytes?.({ type, url })
    expect([asked('file'), asked('image')]).toEqual([true, false])
  })

  test('a mark of another format is named', () => {
    const part = { type: 'text', text: 'a', cache: { ttl: '5m' } } as const
    expect(asked({ messages: [{ role: 'user', parts: [part] }] })).toEqual({
      body: { model: 'm', messages: [{ role: 'user', content: 'a' }] },
      dropped: ['messages[0].content[0].cache_control'],
    })
  })

  test('W34: an empty text beside others is left out, alone it stays', () => {
    const image = { type: 'image', url: 'data:image/png;base64,AA==' } as const
    const empty = { type: 'text', text: '' } as const
    const user = (...parts: RequestPart[]) =>
      asked({ messages: [{ role: 'user', parts }] }).body.messages
    expect(user(empty, image)).toEqual([
      { role: 'user', content: [{ type: 'image_url', image_url: { url: image.url } }] },
    ])
    expect(user(empty)).toEqual([{ role: 'user', content: '' }])
  })

  test('a refusal given back is text to others', () => {
    const list = [
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
      { role: 'assistant', content: null, refusal: 'never' },
    ]
    const value = decoded({ messages: list })
    expect(value.messages.map(({ parts }) => parts)).toMatchObject([
      [{ type: 'text', text: 'no' }],
      [{ type: 'text', text: 'never' }],
    ])
    expect(again(list)).toEqual(list)
  })

  test('images a model made come back with its message', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
    const message = { role: 'assistant', content: 'here', images: [image] }
    expect(partsOf(message)).toMatchObject([{ type: 'text' }, { type: 'image' }])
    expect(again([message])).toEqual([message])
  })
})

describe('turns', () => {
  const call = (id: string): RequestPart => ({
    type: 'tool-call',
    id,
    name: 'f',
    arguments: '',
  })
  const image = { type: 'image', url: 'data:image/png;base64,AA==' } as const

  test('W36: calls in several messages are one, answers keep their order', () => {
    const { body } = asked({
      messages: [
        { role: 'assistant', parts: [{ type: 'text', text: 'a' }, call('1')] },
        { role: 'assistant', parts: [call('2')] },
        { role: 'tool', callId: '1', parts: [{ type: 'text', text: 'one' }] },
        { role: 'tool', callId: '2', parts: [], isError: true },
      ],
    })
    const input = { type: 'function', function: { name: 'f', arguments: '{}' } }
    expect(body.messages).toEqual([
      {
        role: 'assistant',
        content: 'a',
        tool_calls: [
          { id: '1', ...input },
          { id: '2', ...input },
        ],
      },
      { role: 'tool', content: 'one', tool_call_id: '1' },
      { role: 'tool', content: '', tool_call_id: '2' },
    ])
  })

  test('images of tools follow all the answers, with what the user says next', () => {
    const answer = (id: string) =>
      ({ role: 'tool', callId: id, parts: [{ type: 'text', text: id }, image] }) as const
    const shown = { type: 'image_url', image_url: { url: image.url } }
    const calls = { role: 'assistant', parts: [call('1'), call('2')] } as const
    const next = { role: 'user', parts: [{ type: 'text', text: 'and?' }] } as const
    const tail = (list: ChatRequest['messages']) =>
      (asked({ messages: list }).body.messages as JsonObject[]).slice(1)
    const answers = [
      { role: 'tool', content: '1', tool_call_id: '1' },
      { role: 'tool', content: '2', tool_call_id: '2' },
    ]
    expect(tail([calls, answer('1'), answer('2'), next])).toEqual([
      ...answers,
      { role: 'user', content: [shown, shown, { type: 'text', text: 'and?' }] },
    ])
    expect(tail([calls, answer('1'), answer('2')])).toEqual([
      ...answers,
      { role: 'user', content: [shown, shown] },
    ])
  })

  test('an image in a tool message of this format stays there', () => {
    const content = [{ type: 'image_url', image_url: { url: image.url } }]
    const message = { role: 'tool', tool_call_id: '1', content }
    expect(partsOf(message)).toMatchObject([image])
    expect(again([message])).toEqual([message])
  })

  test('deprecated calls and answers meet by an id', () => {
    const list = [
      { role: 'assistant', content: null, function_call: { name: 'h', arguments: '{}' } },
      { role: 'function', name: 'h', content: 'done' },
    ]
    const value = decoded({ messages: list })
    expect(value.messages).toMatchObject([
      { parts: [{ type: 'tool-call', id: 'call_function_0', name: 'h' }] },
      { role: 'tool', callId: 'call_function_0', parts: [{ text: 'done' }] },
    ])
    expect(again(list)).toEqual(list)
  })
})

describe('the rest', () => {
  test('is known to the hub', () => {
    expect(
      decoded({
        logprobs: true,
        top_logprobs: 3,
        verbosity: 'low',
        service_tier: 'flex',
        metadata: { a: 'b' },
        prompt_cache_key: 'k',
        modalities: ['text', 'image'],
        top_k: 5,
        parallel_tool_calls: false,
        response_format: { type: 'json_object' },
      }),
    ).toMatchObject({
      logprobs: 3,
      verbosity: 'low',
      serviceTier: 'flex',
      metadata: { a: 'b' },
      promptCacheKey: 'k',
      modalities: ['text', 'image'],
      topK: 5,
      parallelToolCalls: false,
      responseFormat: { type: 'json' },
    })
  })

  test('that OpenAI takes from its own clients alone is named where others ask it', () => {
    const { body, dropped } = asked({
      topK: 5,
      metadata: { a: 'b' },
      cache: { ttl: '1h' },
      temperature: 0,
      seed: 0,
    })
    expect(dropped).toEqual(['top_k', 'metadata', 'cache_control'])
    expect(body).toMatchObject({ temperature: 0, seed: 0 })
  })

  test('W43: zeros are values', () => {
    const fields = { temperature: 0, top_p: 0, seed: 0, n: 1, presence_penalty: 0, top_k: 0 }
    const value = decoded(fields)
    expect(chatHub.encodeRequest(value, 'm').value).toMatchObject(fields)
  })

  test('more texts to stop at than OpenAI takes are refused', () => {
    expect(() => asked({ stop: ['a', 'b', 'c', 'd', 'e'] })).toThrow(
      expect.objectContaining({ detail: { param: 'stop' } }),
    )
  })

  test('a schema comes back by its own members, and with those nobody knows', () => {
    const json_schema = { name: 's', schema: { type: 'object' }, strict: true }
    const plain = { type: 'json_schema', json_schema }
    const { wording, responseFormat } = decoded({ response_format: plain })
    expect(wording).toBeUndefined()
    expect(responseFormat).toMatchObject({ type: 'schema', ...json_schema })
    const odd = { type: 'json_schema', json_schema, backend: 'x' }
    const value = decoded({ response_format: odd })
    expect(chatHub.encodeRequest(value, 'm').value.response_format).toEqual(odd)
  })
})
