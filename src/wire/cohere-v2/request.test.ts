// Tests chat requests written for Cohere, and what is refused or named as left out.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { encodeRequest } from './request.ts'

const plain = 'command-a-03-2025'
const thinking = 'command-a-reasoning-08-2025'
const hello = { role: 'user', content: 'Hello' }

function encode(body: JsonObject, model = plain): { body: JsonObject; dropped: readonly string[] } {
  const asked = chatHub.decodeRequest({ model: 'm', messages: [hello], ...body })
  const { value, dropped } = encodeRequest(asked.value, model)
  return { body: value, dropped: [...asked.dropped, ...dropped] }
}

function encoded(body: JsonObject, model = plain): JsonObject {
  const found = encode(body, model)
  expect(found.dropped).toEqual([])
  return found.body
}

function refusal(body: JsonObject): string | null | undefined {
  try {
    encode(body)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.code).toBe('invalid_request_error')
    return error.detail.param
  }
  throw new Error('it was not refused')
}

const city = { type: 'object', properties: { city: { type: 'string' } } }
const weather = {
  type: 'function',
  function: { name: 'weather', description: 'Of a city.', parameters: city },
}
const now = { type: 'function', function: { name: 'now' } }

describe('messages', () => {
  test('roles, texts and images in their order', () => {
    const image = {
      type: 'image_url',
      image_url: { url: 'https://example.com/a.png', detail: 'low' },
    }
    const body = encoded({
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [{ type: 'text', text: 'See' }, image, { type: 'text', text: 'é你😀' }],
        },
        { role: 'assistant', content: 'A cat.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'Sure?' },
          ],
        },
      ],
    })
    expect(body).toEqual({
      model: plain,
      stream: false,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [{ type: 'text', text: 'See' }, image, { type: 'text', text: 'é你😀' }],
        },
        { role: 'assistant', content: 'A cat.' },
        { role: 'user', content: 'Sure?' },
      ],
    })
  })

  test('W23: system texts are one turn at the beginning; a later one is said by the user, and named', () => {
    const { body, dropped } = encode({
      messages: [
        { role: 'system', content: 'One.' },
        { role: 'system', content: 'Two.' },
        hello,
        { role: 'system', content: 'Three.' },
      ],
    })
    expect(body.messages).toEqual([
      {
        role: 'system',
        content: [
          { type: 'text', text: 'One.' },
          { type: 'text', text: 'Two.' },
        ],
      },
      hello,
      { role: 'user', content: 'Three.' },
    ])
    expect(dropped).toEqual(['messages[3].role'])
  })

  const calls = [
    { id: 'a', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } },
    { id: 'b', type: 'function', function: { name: 'now', arguments: '' } },
  ]
  const said = { role: 'assistant', content: null, reasoning_content: 'I look.', tool_calls: calls }
  const answers = [
    { role: 'tool', tool_call_id: 'a', content: 'Sun' },
    { role: 'tool', tool_call_id: 'b', content: '' },
  ]
  const encodedCalls = [
    calls[0],
    { ...calls[1], function: { name: 'now', arguments: '{}' } },
  ] as JsonValue

  test('calls with their plan and their answers; W35: no arguments are an empty object', () => {
    const body = encoded({ messages: [hello, said, ...answers], tools: [weather, now] })
    expect(body.messages).toEqual([
      hello,
      { role: 'assistant', tool_plan: 'I look.', tool_calls: encodedCalls },
      ...answers,
    ])
  })

  test('thoughts go back as content to models that think, and are named where they would be lost', () => {
    const body = encoded({ messages: [hello, said, ...answers] }, thinking)
    expect(body.messages).toContainEqual({
      role: 'assistant',
      content: [{ type: 'thinking', thinking: 'I look.' }],
      tool_calls: encodedCalls,
    })
    const messages = [hello, { role: 'assistant', content: 'Hi', reasoning_content: 'Hm' }, hello]
    const lost = encode({ messages })
    expect(lost.body.messages).toEqual([hello, { role: 'assistant', content: 'Hi' }, hello])
    expect(lost.dropped).toEqual(['messages[1].reasoning_content'])
  })

  test('images that a tool answered with follow as the user, before what the user says', () => {
    const request = {
      model: 'm',
      stream: false,
      messages: [
        {
          role: 'assistant' as const,
          parts: [{ type: 'tool-call' as const, id: 'a', name: 'w', arguments: '{}' }],
        },
        {
          role: 'tool' as const,
          callId: 'a',
          isError: true as const,
          parts: [{ type: 'image' as const, url: 'data:image/png;base64,AAAA' }],
        },
        { role: 'user' as const, parts: [{ type: 'text' as const, text: 'And?' }] },
      ],
    }
    const { value, dropped } = encodeRequest(request, plain)
    expect(value.messages).toEqual([
      { role: 'assistant', tool_calls: [expect.anything()] },
      { role: 'tool', tool_call_id: 'a', content: '' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'text', text: 'And?' },
        ],
      },
    ])
    expect(dropped).toEqual(['messages[1].is_error'])
  })

  test('a file of text is sent as what it says, of the user and of a tool', () => {
    const file_data = `data:text/plain;base64,${btoa('Sun')}`
    const file = { type: 'file', file: { filename: 'a.txt', file_data } }
    const call = { id: 'a', type: 'function', function: { name: 'w', arguments: '{}' } }
    const called = { role: 'assistant', tool_calls: [call] }
    const answer = { role: 'tool', tool_call_id: 'a', content: [file] }
    const asked = { role: 'user', content: [file, { type: 'text', text: 'And?' }] }
    expect(encoded({ messages: [called, answer, asked] }).messages).toEqual([
      called,
      { role: 'tool', tool_call_id: 'a', content: 'a.txt:\n\nSun' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a.txt:\n\nSun' },
          { type: 'text', text: 'And?' },
        ],
      },
    ])
  })

  test.each([
    [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
    [{ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }],
    [{ type: 'file', file: { file_id: 'file-1' } }],
  ])('refused: %j', (part) => {
    expect(refusal({ messages: [{ role: 'user', content: [part] }] })).toBe(
      'messages[0].content[0]',
    )
  })
})

describe('tools', () => {
  const named = (name: string) => ({ type: 'function', function: { name } })

  test.each([
    ['auto', ['weather', 'now'], undefined],
    ['none', ['weather', 'now'], 'NONE'],
    ['required', ['weather', 'now'], 'REQUIRED'],
    [named('now'), ['now'], 'REQUIRED'],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [named('weather')] } },
      ['weather'],
      undefined,
    ],
  ])('the choice %j', (choice, names, word) => {
    const body = encoded({ tools: [weather, now], tool_choice: choice as JsonValue })
    const tools = body.tools as { function: { name: string } }[]
    expect(tools.map((tool) => tool.function.name)).toEqual(names)
    expect(body.tool_choice).toBe(word as string)
  })

  test('a tool without parameters takes an empty object; strict is said of all or of none', () => {
    expect(encoded({ tools: [now] }).tools).toEqual([
      {
        type: 'function',
        function: { name: 'now', parameters: { type: 'object', properties: {} } },
      },
    ])
    const strict = { type: 'function', function: { ...weather.function, strict: true } }
    expect(encoded({ tools: [strict] }).strict_tools).toBe(true)
    const mixed = encode({ tools: [now, strict] })
    expect(mixed.body.strict_tools).toBeUndefined()
    expect(mixed.dropped).toEqual(['tools[1].function.strict'])
  })

  test('one call at a time cannot be said', () => {
    expect(encode({ tools: [now], parallel_tool_calls: false }).dropped).toEqual([
      'parallel_tool_calls',
    ])
    expect(encode({ parallel_tool_calls: false }).dropped).toEqual([])
  })

  test.each([
    ['tools[0]', { tools: [{ type: 'custom', custom: { name: 'x' } }] }],
    ['tools[0]', { web_search_options: {} }],
    ['n', { n: 2 }],
    ['stop', { stop: ['a', 'b', 'c', 'd', 'e', 'f'] }],
    ['modalities', { modalities: ['text', 'audio'] }],
  ])('refused: %s', (param, body) => {
    expect(refusal(body as JsonObject)).toBe(param)
  })
})

describe('options', () => {
  test('under the names Cohere has for them; W43: zeros are said, W22: one stop text is a list', () => {
    expect(
      encoded({
        temperature: 0,
        top_p: 0.5,
        top_k: 0,
        seed: 0,
        max_completion_tokens: 7,
        stop: 'END',
        frequency_penalty: 0.5,
        presence_penalty: 0,
        stream: true,
      }),
    ).toEqual({
      model: plain,
      messages: [hello],
      temperature: 0,
      p: 0.5,
      k: 0,
      seed: 0,
      max_tokens: 7,
      stop_sequences: ['END'],
      frequency_penalty: 0.5,
      stream: true,
    })
  })

  test('values beyond what Cohere takes are moved to its bounds, and named', () => {
    const asked = {
      temperature: 1.5,
      top_p: 1,
      top_k: 900,
      frequency_penalty: -1,
      presence_penalty: 2,
    }
    const { body, dropped } = encode(asked)
    expect(body).toMatchObject({ temperature: 1, p: 0.99, k: 500, presence_penalty: 1 })
    expect(body.frequency_penalty).toBeUndefined()
    expect(dropped).toEqual([
      'temperature',
      'top_p',
      'top_k',
      'frequency_penalty',
      'presence_penalty',
    ])
  })

  test('the form of the reply', () => {
    const schema = { type: 'object', properties: {} }
    const format = { type: 'json_schema', json_schema: { name: 'it', schema } }
    expect(encoded({ response_format: format }).response_format).toEqual({
      type: 'json_object',
      json_schema: schema,
    })
    expect(encoded({ response_format: { type: 'json_object' } }).response_format).toEqual({
      type: 'json_object',
    })
    expect(encoded({ response_format: { type: 'text' } }).response_format).toBeUndefined()
    const beside = encode({ response_format: format, tools: [weather] })
    expect(beside.body.response_format).toBeUndefined()
    expect(beside.dropped).toEqual(['response_format'])
  })

  test('thinking, by models that think', () => {
    const asked = (body: JsonObject) => encoded(body, thinking).thinking
    expect(asked({ reasoning_effort: 'low' })).toEqual({ type: 'enabled', token_budget: 1_024 })
    expect(asked({ reasoning_effort: 'max' })).toEqual({ type: 'enabled' })
    expect(asked({ reasoning_effort: 'none' })).toEqual({ type: 'disabled' })
    expect(asked({ reasoning: { max_tokens: 99 } })).toEqual({ type: 'enabled', token_budget: 99 })
    expect(asked({})).toBeUndefined()
    expect(encode({ reasoning_effort: 'low' }).dropped).toEqual(['reasoning_effort'])
    expect(encode({ reasoning_effort: 'none' })).toEqual(encode({}))
  })

  test('what Cohere has no word for is named', () => {
    const { dropped } = encode({
      logit_bias: { '1': 1 },
      user: 'u',
      logprobs: true,
      verbosity: 'low',
      service_tier: 'flex',
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      store: true,
      messages: [
        {
          role: 'user',
          name: 'Ada',
          content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }],
        },
      ],
    })
    expect(dropped).toEqual([
      'store',
      'logit_bias',
      'user',
      'logprobs',
      'verbosity',
      'service_tier',
      'metadata',
      'prompt_cache_key',
      'messages[0].name',
      'messages[0].content[0].cache_control',
    ])
  })
})
