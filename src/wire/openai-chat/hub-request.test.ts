// Tests chat requests through the hub: from chat to chat every field keeps its meaning, or is named as dropped.

import { describe, expect, test } from 'bun:test'
import type { ChatRequest, JsonObject, RequestPart } from '../ir.ts'
import { chatHub } from './hub.ts'

function through(body: JsonObject): JsonObject {
  const { value, dropped } = chatHub.decodeRequest(structuredClone(body))
  expect(dropped).toEqual([])
  const encoded = chatHub.encodeRequest(value, 'theirs')
  expect(encoded.dropped).toEqual([])
  return encoded.value
}

const messages = [{ role: 'user', content: 'hi' }]

/** Every field of OpenAI's chat request, and some that other vendors know. */
const everything: JsonObject = {
  model: 'ours',
  messages: [
    { role: 'developer', content: 'Be brief.', name: 'boss' },
    {
      role: 'system',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'see', cache_control: { type: 'ephemeral' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
        { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
        { type: 'file', file: { file_id: 'file-1' } },
      ],
    },
    {
      role: 'assistant',
      content: 'calling',
      reasoning_content: 'why',
      tool_calls: [
        {
          id: 'a',
          type: 'function',
          function: { name: 'f', arguments: '{"x":1}' },
          extra_content: { google: { thought_signature: 's' } },
        },
        { id: 'b', type: 'custom', custom: { name: 'g', input: 'free text' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: '1' },
    {
      role: 'tool',
      tool_call_id: 'b',
      content: [
        { type: 'text', text: '2' },
        { type: 'text', text: '3' },
      ],
    },
    { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }], audio: { id: 'audio_1' } },
    { role: 'assistant', content: null, function_call: { name: 'h', arguments: '{}' } },
    { role: 'function', name: 'h', content: 'done' },
    { role: 'user', content: '' },
  ],
  frequency_penalty: 0,
  presence_penalty: -2,
  temperature: 0,
  top_p: 1,
  max_completion_tokens: 10,
  n: 1,
  stop: ['a', 'b'],
  stream: true,
  logprobs: true,
  top_logprobs: 0,
  logit_bias: { '50256': -100 },
  seed: -1,
  tools: [
    { type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } },
  ],
  tool_choice: { type: 'function', function: { name: 'f' } },
  parallel_tool_calls: false,
  functions: [{ name: 'h' }],
  function_call: 'auto',
  response_format: { type: 'json_schema', json_schema: { name: 's', schema: {} } },
  reasoning_effort: 'low',
  verbosity: 'high',
  modalities: ['text', 'audio'],
  audio: { voice: 'alloy', format: 'wav' },
  prediction: { type: 'content', content: 'x' },
  web_search_options: { search_context_size: 'low' },
  service_tier: 'auto',
  store: false,
  metadata: { a: 'b' },
  user: 'u',
  safety_identifier: 's',
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  thinking: { type: 'enabled' },
  top_k: 3,
}

describe('chat to chat', () => {
  test('keeps every field', () => {
    expect(through(everything)).toEqual({ ...everything, model: 'theirs' })
  })

  test('decodes what the hub knows and nothing twice', () => {
    const { value } = chatHub.decodeRequest(everything)
    expect(value).toMatchObject({
      maxOutputTokens: 10,
      temperature: 0,
      topP: 1,
      choices: 1,
      seed: -1,
      stop: ['a', 'b'],
      user: 'u',
      stream: true,
      logitBias: { '50256': -100 },
    })
    expect(Object.keys(value.extra?.['openai-chat'] ?? {})).not.toContain('temperature')
    expect(value.messages[3]?.parts.map(({ type }) => type)).toEqual([
      'reasoning',
      'text',
      'tool-call',
      'tool-call',
    ])
  })

  test('gives the token limit back by the name it came under', () => {
    expect(through({ model: 'm', messages, max_tokens: 5 })).toEqual({
      model: 'theirs',
      messages,
      max_tokens: 5,
    })
  })

  test('the newer token limit counts where both are given', () => {
    const body = { model: 'm', messages, max_tokens: 5, max_completion_tokens: 7 }
    const { value, dropped } = chatHub.decodeRequest(body)
    expect([value.maxOutputTokens, dropped]).toEqual([7, ['max_tokens']])
    expect(chatHub.encodeRequest(value, 'm').value).toEqual({
      model: 'm',
      messages,
      max_completion_tokens: 7,
    })
  })

  test('takes null for absent, one stop for a list of one, no tools for none', () => {
    const body = { model: 'm', messages, n: null, stop: 'x', tools: [], user: null, seed: null }
    expect(through(body)).toEqual({ model: 'theirs', messages, stop: ['x'] })
  })

  test('leaves usage on the stream to the relay', () => {
    const body = { model: 'm', messages, stream: true, stream_options: { include_usage: true } }
    expect(through(body)).toEqual({ model: 'theirs', messages, stream: true })
  })

  test('does not change the body it is given', () => {
    const body = structuredClone(everything)
    chatHub.encodeRequest(chatHub.decodeRequest(body).value, 'x')
    expect(body).toEqual(everything)
  })
})

describe('what another dialect alone can say', () => {
  const asking = (role: 'user' | 'assistant'): ChatRequest => ({
    model: 'm',
    stream: false,
    messages: [{ role, parts: [{ type: 'other', extra: { elsewhere: { type: 'video' } } }] }],
    extra: { elsewhere: { odd: 1 } },
  })

  test('is dropped by name', () => {
    const { dropped } = chatHub.encodeRequest(asking('assistant'), 'm')
    expect(dropped).toEqual(['odd', 'messages[0].content[0]'])
  })

  test('is refused where the model was to read it', () => {
    expect(() => chatHub.encodeRequest(asking('user'), 'm')).toThrow(
      expect.objectContaining({ detail: { param: 'messages[0].content[0]' } }),
    )
  })
})

test.each([
  [{ messages }, 'model'],
  [{ model: 'm' }, 'messages'],
  [{ model: 'm', messages: ['hi'] }, 'messages[0]'],
])('names the field at fault in %j', (body, param) => {
  expect(() => chatHub.decodeRequest(body)).toThrow(
    expect.objectContaining({ code: 'invalid_request_error', detail: { param } }),
  )
})

describe("an assistant's message without a text", () => {
  const written = (...parts: RequestPart[]) => {
    const request = { model: 'm', stream: false, messages: [{ role: 'assistant', parts }] } as const
    return chatHub.encodeRequest(request, 'm').value.messages
  }

  test('has an empty one where it has nothing else, which vendors take and null they do not', () => {
    expect(written()).toEqual([{ role: 'assistant', content: '' }])
    expect(written({ type: 'reasoning', text: 'Hm.' })).toEqual([
      { role: 'assistant', content: '', reasoning_content: 'Hm.' },
    ])
  })

  test('has no more than the text of reasoning whose opaque state is forged', () => {
    expect(written({ type: 'reasoning', text: 'Hm.', sealed: '{no JSON' })).toEqual([
      {
        role: 'assistant',
        content: '',
        reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }],
      },
    ])
  })

  test('has null beside calls', () => {
    expect(written({ type: 'tool-call', id: 'c', name: 'f', arguments: '{}' })).toMatchObject([
      { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] },
    ])
  })
})
