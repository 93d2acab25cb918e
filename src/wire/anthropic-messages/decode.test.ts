// Tests what requests of Anthropic's clients become for a chat vendor and for one of their own format.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import type { Address } from '../request.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeRequest } from './encode-request.ts'
import { peekMessages } from './peek.ts'

const base = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] }

/** The request as a chat vendor gets it. */
function chat(more: JsonObject) {
  const { value } = decodeRequest({ ...base, ...more })
  const written = chatHub.encodeRequest(value, 'gpt')
  return {
    body: written.value,
    messages: written.value.messages as JsonObject[],
    dropped: written.dropped,
  }
}

/** The request as a vendor of the same format gets it through the hub. */
function again(more: JsonObject, model = 'claude-sonnet-4-5'): JsonObject {
  return encodeRequest(decodeRequest({ ...base, ...more }).value, model).value
}

describe('a vendor of chat is sent', () => {
  test('the system prompt first, its blocks as parts', () => {
    const { messages, dropped } = chat({
      system: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', cache_control: { type: 'ephemeral' } },
      ],
    })
    expect(messages[0]).toEqual({
      role: 'system',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    })
    expect(dropped).toEqual(['messages[0].content[1].cache_control'])
    expect(chat({ system: 'a' }).messages[0]).toEqual({ role: 'system', content: 'a' })
  })

  test('a system message in the middle where it stands', () => {
    const turns = [
      { role: 'user', content: 'a' },
      { role: 'system', content: 'b' },
      { role: 'user', content: 'c' },
    ]
    expect(chat({ messages: turns }).messages.map(({ role }) => String(role))).toEqual([
      'user',
      'system',
      'user',
    ])
  })

  test('search results of the client, as texts', () => {
    const found = { type: 'search_result', source: 'https://x', title: 'T' }
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]
    const ask = (block: JsonObject) =>
      chat({ messages: [{ role: 'user', content: [block, { type: 'text', text: 'So?' }] }] })
    expect(ask({ ...found, content }).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'T\nhttps://x\n\na\n\nb' },
          { type: 'text', text: 'So?' },
        ],
      },
    ])
    expect(() => ask({ ...found, content: [{ type: 'image' }] })).toThrow('takes no such part')
  })

  test('calls and their results as messages of their own, results before what the user says beside', () => {
    const { messages } = chat({
      messages: [
        { role: 'user', content: 'a' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Both.' },
            { type: 'tool_use', id: 'x', name: 'f', input: { a: 1 } },
            { type: 'tool_use', id: 'y', name: 'g', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'and this' },
            { type: 'tool_result', tool_use_id: 'x', content: '1' },
            {
              type: 'tool_result',
              tool_use_id: 'y',
              content: [{ type: 'text', text: '2' }],
              is_error: true,
            },
          ],
        },
      ],
    })
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'Both.',
        tool_calls: [
          { id: 'x', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          { id: 'y', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
      { role: 'tool', content: '1', tool_call_id: 'x' },
      { role: 'tool', content: '2', tool_call_id: 'y' },
      { role: 'user', content: 'and this' },
    ])
  })

  test('pictures and documents, by their bytes', () => {
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'iVBO' },
    }
    const pdf = {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
      title: 'a.pdf',
    }
    const { messages } = chat({ messages: [{ role: 'user', content: [image, pdf] }] })
    expect(messages[0]?.content).toEqual([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
    ])
  })

  test('tools, the choice among them, and how many may be called', () => {
    const { body } = chat({
      tools: [{ name: 'f', description: 'F', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
      temperature: 0,
    })
    expect(body).toMatchObject({
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'F', parameters: { type: 'object' } },
        },
      ],
      tool_choice: 'required',
      parallel_tool_calls: false,
      temperature: 0,
      max_completion_tokens: 100,
      // W22
      stop: ['END'],
    })
  })

  test.each([
    [{ type: 'enabled', budget_tokens: 1_024 }, undefined, 'low'],
    [{ type: 'enabled', budget_tokens: 20_000 }, undefined, 'high'],
    [{ type: 'adaptive' }, { effort: 'xhigh' }, 'xhigh'],
    [{ type: 'disabled' }, undefined, 'none'],
    [{ type: 'between_tools' }, undefined, 'minimal'],
    [undefined, { effort: 'low' }, 'low'],
  ])('thinking %j with %j as effort %s', (thinking, config, effort) => {
    const { body } = chat({
      ...(thinking && { thinking: thinking as JsonObject }),
      ...(config && { output_config: config }),
    })
    expect(body.reasoning_effort).toBe(effort)
  })

  test('the form of the reply, in either place', () => {
    const format = { type: 'json_schema', schema: { type: 'object' } }
    const expected = {
      type: 'json_schema',
      json_schema: { name: 'response', schema: { type: 'object' } },
    }
    expect(chat({ output_config: { format } }).body.response_format).toEqual(expected)
    expect(chat({ output_format: format }).body.response_format).toEqual(expected)
  })

  test('what it has no word for is named', () => {
    const { dropped } = chat({
      top_k: 5,
      context_management: { edits: [] },
      container: 'c',
      metadata: { user_id: 'ann' },
    })
    expect(dropped.toSorted()).toEqual(['container', 'context_management', 'top_k'])
  })

  test("tools of the vendor's own are refused", () => {
    const search = { type: 'web_search_20250305', name: 'web_search' }
    expect(() => chat({ tools: [search] })).toThrow(GatewayError)
  })
})

describe('a vendor of the same format gets back', () => {
  const turns = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
        { type: 'image', source: { type: 'url', url: 'https://e.com/a.png' } },
        { type: 'image', source: { type: 'file', file_id: 'file_1' } },
        {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'Grüße' },
          title: 't',
          context: 'c',
          citations: { enabled: true },
        },
        {
          type: 'document',
          source: { type: 'content', content: [{ type: 'text', text: 'x' }] },
          citations: { enabled: true },
        },
        { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'x' }] },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'why', signature: 'sig' },
        { type: 'redacted_thinking', data: 'xyz' },
        { type: 'text', text: 'b', citations: [{ type: 'char_location', cited_text: 'x' }] },
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
        { type: 'tool_use', id: 'x', name: 'f', input: { a: 1 }, caller: { type: 'direct' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'x',
          content: [
            { type: 'text', text: '1' },
            { type: 'image', source: { type: 'url', url: 'https://e.com/b' } },
          ],
          is_error: true,
          cache_control: { type: 'ephemeral' },
        },
        { type: 'tool_result', tool_use_id: 'y', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'go on' },
      ],
    },
  ]

  test('its turns as they were', () => {
    expect(again({ messages: turns }).messages).toEqual(turns)
  })

  test('its fields as they were', () => {
    const fields = {
      system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
      tools: [
        {
          name: 'f',
          input_schema: { type: 'object', properties: {}, additionalProperties: false },
          strict: true,
          cache_control: { type: 'ephemeral' },
        },
        { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
      ],
      stop_sequences: ['END'],
      top_p: 0.97,
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      metadata: { user_id: 'ann', more: 1 },
      service_tier: 'standard_only',
      cache_control: { type: 'ephemeral' },
      container: 'c',
      context_management: { edits: [{ type: 'x' }] },
      mcp_servers: [{ name: 'n' }],
      stream: true,
      max_tokens: 4_000,
    }
    expect(again(fields)).toEqual({
      ...fields,
      model: 'claude-sonnet-4-5',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    })
  })
})

function refused(body: unknown, address?: Address): string | null | undefined {
  try {
    peekMessages(new TextEncoder().encode(JSON.stringify(body)), address)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.code).toBe('invalid_request_error')
    return error.detail.param
  }
  return undefined
}

describe('before any vendor is asked', () => {
  const said = (...content: unknown[]) => ({ ...base, messages: [{ role: 'user', content }] })

  test.each([
    [{ ...base, model: undefined }, 'model'],
    [{ ...base, max_tokens: undefined }, 'max_tokens'],
    [{ ...base, max_tokens: 1.5 }, 'max_tokens'],
    [{ ...base, messages: [] }, 'messages'],
    [{ ...base, messages: 'Hi' }, 'messages'],
    [{ ...base, messages: [{ role: 'tool', content: 'Hi' }] }, 'messages[0].role'],
    [{ ...base, messages: [{ role: 'user' }] }, 'messages[0].content'],
    [{ ...base, messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [said('Hi'), 'messages[0].content[0]'],
    [said({ text: 'Hi' }), 'messages[0].content[0].type'],
    [said({ type: 'text' }), 'messages[0].content[0].text'],
    [said({ type: 'image', source: 'a' }), 'messages[0].content[0].source'],
    [said({ type: 'tool_use', id: 'x', name: 'f', input: '{}' }), 'messages[0].content[0].input'],
    [said({ type: 'tool_result' }), 'messages[0].content[0].tool_use_id'],
    [said({ type: 'tool_result', tool_use_id: 'x', content: 5 }), 'messages[0].content[0].content'],
    [{ ...base, temperature: 1.5 }, 'temperature'],
    [{ ...base, stop_sequences: 'END' }, 'stop_sequences'],
    [{ ...base, system: 5 }, 'system'],
    [{ ...base, tools: {} }, 'tools'],
    [{ ...base, tools: ['f'] }, 'tools[0]'],
    [{ ...base, tool_choice: 'auto' }, 'tool_choice'],
    [{ ...base, thinking: true }, 'thinking'],
    [{ ...base, stream: 1 }, 'stream'],
  ])('%j is refused by %s', (body, param) => {
    expect(refused(body)).toBe(param)
  })

  test('what is right passes, with null for absent and members nobody knows', () => {
    expect(
      refused({ ...base, temperature: null, tools: null, speed: 'fast', x: { y: [1] } }),
    ).toBeUndefined()
    expect(refused({ ...base, max_tokens: undefined }, { counts: true })).toBeUndefined()
  })

  test('the first picture is found, in a result too', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://e.com/a' } }
    const peek = (content: unknown[]) =>
      peekMessages(new TextEncoder().encode(JSON.stringify(said(...content)))).imageParam
    expect(peek([{ type: 'text', text: 'a' }])).toBeNull()
    expect(peek([{ type: 'text', text: 'a' }, image])).toBe('messages[0].content[1]')
    const result = {
      type: 'tool_result',
      tool_use_id: 'x',
      content: [{ type: 'text', text: 'a' }, image],
    }
    expect(peek([result])).toBe('messages[0].content[0].content[1]')
  })

  describe('of version 2026-10-21', () => {
    const address = { headers: { 'anthropic-version': '2026-10-21' } }
    const cited = { type: 'text', text: 'a', citations: [{ type: 'char_location' }] }
    const document = { type: 'document', source: { type: 'url', url: 'https://e.com/a.pdf' } }
    const byAssistant = {
      ...base,
      messages: [...base.messages, { role: 'assistant', content: [document] }],
    }
    test.each([
      [{ ...base, temperature: 1 }, 'temperature'],
      [{ ...base, top_p: 1 }, 'top_p'],
      [{ ...base, top_k: 1 }, 'top_k'],
      [byAssistant, 'messages[1].content[0]'],
      [said(cited), 'messages[0].content[0].citations'],
    ])('%j is refused by %s, which the older one takes', (body, param) => {
      expect(refused(body, address)).toBe(param)
      expect(refused(body)).toBeUndefined()
      expect(refused(body, { headers: { 'anthropic-version': '2023-06-01' } })).toBeUndefined()
    })

    test('empty citations and documents of the user pass', () => {
      expect(refused(said({ ...cited, citations: [] }, document), address)).toBeUndefined()
    })
  })
})
