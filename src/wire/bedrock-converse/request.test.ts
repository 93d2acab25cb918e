// Tests chat requests written for Converse: turns, parts, reasoning, and what is refused or named as left out.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { VendorHub } from '../codec.ts'
import type { ChatRequest, JsonObject, JsonValue } from '../ir.ts'
import { bedrockConverse } from './dialect.ts'
import { encodeRequest } from './request.ts'
import {
  encode,
  encoded,
  hello,
  llama,
  nova,
  opus,
  refusal,
  sonnet,
  spec,
  weather,
} from './testing.ts'

const png = 'iVBORw0KGgoAAAANSUhEUg=='

function user(...content: JsonValue[]): JsonObject {
  return { messages: [{ role: 'user', content }] }
}

function call(id: string, input = '{"city":"Bern"}'): JsonObject {
  return { id, type: 'function', function: { name: 'weather', arguments: input } }
}

describe('a conversation', () => {
  test('system and developer first, turns that alternate', () => {
    const body = encoded({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: 'And kind.' },
        { role: 'user', content: 'Hello é你😀' },
        { role: 'user', content: 'there' },
        { role: 'assistant', content: 'Hi.' },
        { role: 'user', content: 'More' },
      ],
    })
    expect(body).toEqual({
      system: [{ text: 'Be brief.' }, { text: 'And kind.' }],
      messages: [
        { role: 'user', content: [{ text: 'Hello é你😀' }, { text: 'there' }] },
        { role: 'assistant', content: [{ text: 'Hi.' }] },
        { role: 'user', content: [{ text: 'More' }] },
      ],
    })
  })

  test('W23: a system message in the middle is said by the user in its place, and named', () => {
    const { body, dropped } = encode({
      messages: [hello, { role: 'system', content: 'Now in French.' }, hello],
    })
    expect(body.messages).toEqual([
      { role: 'user', content: [{ text: 'Hello' }, { text: 'Now in French.' }, { text: 'Hello' }] },
    ])
    expect(dropped).toEqual(['messages[1].role'])
    const named = { messages: [{ ...hello, name: 'Ada' }] }
    expect(encode(named).dropped).toEqual(['messages[0].name'])
  })

  test('W34: empty and blank texts are left out, and nothing takes their place', () => {
    const body = encoded({
      messages: [
        { role: 'system', content: '' },
        hello,
        { role: 'assistant', content: ' \n' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'Go on' },
          ],
        },
      ],
    })
    expect(body).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hello' }, { text: 'Go on' }] }],
    })
  })

  test('one that begins with the assistant, or has the system alone', () => {
    expect(encoded({ messages: [{ role: 'assistant', content: 'Hi.' }, hello] }).messages).toEqual([
      { role: 'user', content: [{ text: '.' }] },
      { role: 'assistant', content: [{ text: 'Hi.' }] },
      { role: 'user', content: [{ text: 'Hello' }] },
    ])
    expect(encoded({ messages: [{ role: 'system', content: 'Greet.' }] })).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Greet.' }] }],
    })
  })

  test('whatever the order of messages, turns alternate, begin with the user and say something', () => {
    const texts = fc.constantFrom('', ' ', 'Hello', 'é你😀')
    const asking = fc.record({
      role: fc.constantFrom('system', 'developer', 'user', 'assistant'),
      content: texts,
    })
    const calling = fc.record({
      role: fc.constant('assistant'),
      content: texts,
      tool_calls: fc.array(
        fc.constantFrom('a', 'b c', 'd').map((id) => call(id)),
        { minLength: 1 },
      ),
    })
    const answering = fc.record({
      role: fc.constant('tool'),
      tool_call_id: fc.constantFrom('a', 'b c', 'd'),
      content: texts,
    })
    const messages = fc.array(fc.oneof(asking, calling, answering), { maxLength: 8 })
    fc.assert(
      fc.property(messages, (list) => {
        const { body } = encode({ messages: list as JsonObject[] }, nova)
        const turns = body.messages as { role: string; content: JsonObject[] }[]
        expect(turns.map(({ role }) => role)).toEqual(
          turns.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')),
        )
        for (const { content } of turns) {
          expect(content.length).toBeGreaterThan(0)
          const kinds = content.map((block) => Object.keys(block)[0])
          const after = kinds.lastIndexOf('toolResult') + 1
          expect(kinds.slice(0, after).every((kind) => kind === 'toolResult')).toBe(true)
          for (const { text } of content) if (text !== undefined) expect(text).not.toMatch(/^\s*$/)
        }
      }),
    )
  })

  test("the assistant's last words lose the white space they end in", () => {
    const body = encoded({ messages: [hello, { role: 'assistant', content: 'Once upon ' }] })
    expect(body.messages).toContainEqual({ role: 'assistant', content: [{ text: 'Once upon' }] })
  })
})

describe('tool calls in the history', () => {
  const history = [
    hello,
    { role: 'assistant', content: null, tool_calls: [call('a'), call('b', '')] },
    { role: 'tool', tool_call_id: 'a', content: 'Sun' },
    { role: 'user', content: 'And?' },
    { role: 'tool', tool_call_id: 'b', content: '' },
  ]

  test('W36: the answers of one turn are one user turn, before any other text', () => {
    const body = encoded({ messages: history, tools: [weather] })
    expect(body.messages).toEqual([
      { role: 'user', content: [{ text: 'Hello' }] },
      {
        role: 'assistant',
        content: [
          { toolUse: { toolUseId: 'a', name: 'weather', input: { city: 'Bern' } } },
          { toolUse: { toolUseId: 'b', name: 'weather', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'a', content: [{ text: 'Sun' }] } },
          { toolResult: { toolUseId: 'b', content: [] } },
          { text: 'And?' },
        ],
      },
    ])
    expect(body.toolConfig).toEqual({ tools: [spec] })
  })

  test('W35: arguments that are no object are kept under a name, and ids fit what Bedrock takes', () => {
    const long = `call|${'x'.repeat(90)}`
    const calls = [call(long, 'not json'), call('q', '[1]'), call('', 'null')]
    const body = encoded({
      messages: [
        hello,
        { role: 'assistant', tool_calls: calls },
        { role: 'tool', tool_call_id: long, content: 'x' },
      ],
      tools: [weather],
    })
    const [, asked, answered] = body.messages as { content: JsonObject[] }[]
    const uses = (asked?.content ?? []).map(({ toolUse }) => toolUse as JsonObject)
    expect(uses.map(({ input }) => input)).toEqual([
      { input: 'not json' },
      { input: '[1]' },
      { input: 'null' },
    ])
    for (const { toolUseId } of uses) expect(String(toolUseId)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    const result = answered?.content[0]?.['toolResult'] as JsonObject
    expect(result.toolUseId).toBe(uses[0]?.toolUseId)
  })

  test('tools must be listed where there are calls: Claude by its own member, others by an instruction', () => {
    const bare = { tools: [{ toolSpec: { name: 'weather', inputSchema: expect.anything() } }] }
    expect(encoded({ messages: history })).toMatchObject({
      toolConfig: bare,
      additionalModelRequestFields: { tool_choice: { type: 'none' } },
    })
    const other = encoded({ messages: history, tools: [weather], tool_choice: 'none' }, nova)
    expect(other.toolConfig).toEqual({ tools: [spec] })
    expect(other.system).toEqual([{ text: 'Answer in words. Do not call any tool.' }])
  })

  test('an answer with an image, one that failed, and one with a mark', () => {
    const request: ChatRequest = {
      model: 'm',
      stream: false,
      messages: [
        { role: 'assistant', parts: [{ type: 'tool-call', id: 'a', name: 'w', arguments: '' }] },
        {
          role: 'tool',
          callId: 'a',
          isError: true,
          parts: [
            { type: 'text', text: 'No' },
            { type: 'image', url: `data:image/png;base64,${png}`, cache: { ttl: '5m' } },
          ],
        },
      ],
    }
    const { messages } = encodeRequest(request, sonnet).value as { messages: JsonObject[] }
    expect(messages.at(-1)?.['content']).toEqual([
      {
        toolResult: {
          toolUseId: 'a',
          content: [{ text: 'No' }, { image: { format: 'png', source: { bytes: png } } }],
          status: 'error',
        },
      },
      { cachePoint: { type: 'default' } },
    ])
  })
})

describe('images and documents', () => {
  const image = (url: string, more: JsonObject = {}): JsonObject => ({
    type: 'image_url',
    image_url: { url, ...more },
  })
  const file = (data: string, filename?: string): JsonObject => ({
    type: 'file',
    file: { file_data: data, ...(filename !== undefined && { filename }) },
  })

  test('by their bytes, whatever the media type claims', () => {
    const body = encoded(
      user(
        image(`data:image/jpeg;base64,${png}`),
        image('data:image/jpg;base64,/9j/AAAA'),
        image('data:image/webp;base64,UklGRiQA'),
      ),
    )
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          { image: { format: 'png', source: { bytes: png } } },
          { image: { format: 'jpeg', source: { bytes: '/9j/AAAA' } } },
          { image: { format: 'webp', source: { bytes: 'UklGRiQA' } } },
        ],
      },
    ])
  })

  test('documents have a kind and a name that Bedrock takes, none twice', () => {
    const body = encoded(
      user(
        file('data:application/pdf;base64,JVBERi0=', 'Q3_report (final).pdf'),
        file('data:application/pdf;base64,JVBERi0=', 'Q3_report (final).pdf'),
        file('data:text/csv;base64,YSxi'),
        file('data:application/json;base64,e30=', 'ü.json'),
        file(`data:image/png;base64,${png}`, 'cat.png'),
      ),
    )
    const [turn] = body.messages as { content: JsonObject[] }[]
    expect(turn?.content.slice(0, 5)).toEqual([
      { document: { format: 'pdf', name: 'Q3 report (final)', source: { bytes: 'JVBERi0=' } } },
      { document: { format: 'pdf', name: 'Q3 report (final) 2', source: { bytes: 'JVBERi0=' } } },
      { document: { format: 'csv', name: 'document', source: { bytes: 'YSxi' } } },
      { document: { format: 'txt', name: 'document 2', source: { bytes: 'e30=' } } },
      { image: { format: 'png', source: { bytes: png } } },
    ])
  })

  test('an address is fetched first, and its bytes stand in its place', () => {
    const url = 'https://example.com/cat'
    const part = { type: 'image' as const, url }
    const request: ChatRequest = {
      model: 'm',
      stream: false,
      messages: [{ role: 'user', parts: [part, { type: 'file', url }] }],
    }
    const hub: VendorHub = bedrockConverse.vendor.hub
    expect(
      [part, { ...part, type: 'file' as const }].map((each) => hub.needsBytes?.(each)),
    ).toEqual([true, true])
    const pictured = request.messages.map((message) => ({
      ...message,
      parts: message.parts.map((each) => ({ ...each, url: `data:image/png;base64,${png}` })),
    }))
    const { value } = hub.encodeRequest({ ...request, messages: pictured }, sonnet)
    const block = { image: { format: 'png', source: { bytes: png } } }
    expect(value.messages).toEqual([{ role: 'user', content: [block, block] }])
  })

  test('detail is named as left out', () => {
    const { dropped } = encode(user(image(`data:image/png;base64,${png}`, { detail: 'low' })))
    expect(dropped).toEqual(['messages[0].content[0].image_url.detail'])
  })

  test.each([
    ['an address nobody fetched', image('https://example.com/a.png')],
    ['a kind of image Bedrock has no word for', image('data:image/tiff;base64,SUkqAA==')],
    ['a kind of file', file('data:application/zip;base64,UEsDBA==')],
    ["a file of another vendor's", { type: 'file', file: { file_id: 'file-1' } }],
    ['sound', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
  ])('refused: %s', (_what, part) => {
    expect(refusal(user(part))).toBe('messages[0].content[0]')
  })
})

describe('thinking', () => {
  test('a budget for models that take one, with room for the reply', () => {
    expect(encoded({ reasoning_effort: 'medium' })).toMatchObject({
      inferenceConfig: { maxTokens: 64_000 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 4_096 } },
    })
    expect(encoded({ reasoning_effort: 'high', max_completion_tokens: 2_000 })).toMatchObject({
      inferenceConfig: { maxTokens: 2_000 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1_999 } },
    })
  })

  test('an effort for models that take that, and no sampling beside it', () => {
    const { body, dropped } = encode({ reasoning_effort: 'low', temperature: 0.5 }, opus)
    expect(body.additionalModelRequestFields).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
    })
    expect(body.inferenceConfig).not.toHaveProperty('temperature')
    expect(dropped).toEqual(['temperature'])
  })

  test("Nova's and OpenAI's own words; named elsewhere", () => {
    expect(encoded({ reasoning_effort: 'max' }, 'amazon.nova-2-lite-v1:0')).toMatchObject({
      additionalModelRequestFields: {
        reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' },
      },
    })
    expect(encoded({ reasoning_effort: 'low' }, 'openai.gpt-oss-120b-1:0')).toMatchObject({
      additionalModelRequestFields: { reasoning_effort: 'low' },
    })
    expect(encode({ reasoning_effort: 'low' }, llama).dropped).toEqual(['reasoning_effort'])
    expect(encode({ reasoning_effort: 'none' }, llama).dropped).toEqual([])
  })

  test('W33: signed thoughts go back as they came; without them thinking is left off', () => {
    const turn = (sealed?: string, redacted?: true): ChatRequest => ({
      model: 'm',
      stream: false,
      reasoning: { budgetTokens: 2_000 },
      messages: [
        { role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
        {
          role: 'assistant',
          parts: [
            {
              type: 'reasoning',
              text: redacted ? '' : 'Hm',
              ...(sealed !== undefined && { sealed }),
              ...(redacted && { redacted }),
            },
            { type: 'tool-call', id: 'a', name: 'w', arguments: '{}' },
          ],
        },
        { role: 'tool', callId: 'a', parts: [{ type: 'text', text: 'Sun' }] },
      ],
      tools: [{ type: 'function', name: 'w' }],
    })
    const signed = encodeRequest(turn('sig'), sonnet)
    expect(signed.value.messages).toMatchObject([
      {},
      { content: [{ reasoningContent: { reasoningText: { text: 'Hm', signature: 'sig' } } }, {}] },
      {},
    ])
    expect(signed.value.additionalModelRequestFields).toHaveProperty('thinking')
    expect(signed.dropped).toEqual([])
    const hidden = encodeRequest(turn('UkVE', true), sonnet)
    expect(hidden.value.messages).toMatchObject([
      {},
      { content: [{ reasoningContent: { redactedContent: 'UkVE' } }, {}] },
      {},
    ])
    const lost = encodeRequest(turn(), sonnet)
    expect(lost.value.additionalModelRequestFields).toBeUndefined()
    expect(lost.dropped).toEqual(['messages[1].reasoning_content', 'reasoning_effort'])
  })
})

describe('sampling and the rest', () => {
  test('W43: zeros are said, W22: one stop text is a list', () => {
    expect(encoded({ temperature: 0, max_tokens: 5, stop: 'END' })).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
      inferenceConfig: { temperature: 0, maxTokens: 5, stopSequences: ['END'] },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
    })
    const streamed = encoded({ stop: ['A', 'B'], stream: true })
    expect(streamed.additionalModelResponseFieldPaths).toEqual(['/delta/stop_sequence'])
    // The address says that a stream is requested.
    expect(streamed.stream).toBeUndefined()
    expect(streamed.model).toBeUndefined()
  })

  test('the temperature is held to what Bedrock takes; top_k goes where the model looks for it', () => {
    expect(encode({ temperature: 1.7, top_p: 0.5, top_k: 9 }, nova)).toEqual({
      body: {
        messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
        inferenceConfig: { temperature: 1, topP: 0.5 },
        additionalModelRequestFields: { inferenceConfig: { topK: 9 } },
      },
      dropped: ['temperature'],
    })
    expect(encoded({ top_k: 9 }).additionalModelRequestFields).toEqual({ top_k: 9 })
    expect(encode({ top_k: 9 }, llama).dropped).toEqual(['top_k'])
    expect(encode({ temperature: 0.1, top_p: 0.9 }).dropped).toEqual(['top_p'])
    const newest = 'anthropic.claude-opus-5-v1'
    expect(encode({ temperature: 0.1, top_p: 0.9 }, newest).dropped).toEqual([
      'temperature',
      'top_p',
    ])
  })

  test('cache marks become points where the model keeps prompts', () => {
    const marked = {
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'Long', cache_control: { type: 'ephemeral', ttl: '1h' } },
          ],
        },
        hello,
      ],
      tools: [{ ...weather, cache_control: { type: 'ephemeral' } }],
    }
    expect(encoded(marked)).toMatchObject({
      system: [{ text: 'Long' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      toolConfig: { tools: [spec, { cachePoint: { type: 'default' } }] },
    })
    const onNova = encode(marked, nova)
    expect(onNova.body.system).toEqual([{ text: 'Long' }, { cachePoint: { type: 'default' } }])
    expect(onNova.dropped).toEqual(['tools[0].cache_control'])
    const elsewhere = encode(marked, llama)
    expect(elsewhere.body.system).toEqual([{ text: 'Long' }])
    expect(elsewhere.dropped).toEqual([
      'messages[0].content[0].cache_control',
      'tools[0].cache_control',
    ])
    const all = encoded({ cache_control: { type: 'ephemeral' } })
    expect(all.messages).toEqual([
      { role: 'user', content: [{ text: 'Hello' }, { cachePoint: { type: 'default' } }] },
    ])
  })

  test('what Converse has no word for is named, tiers it has are carried', () => {
    const { dropped } = encode({
      seed: 1,
      frequency_penalty: 0.5,
      presence_penalty: 0.5,
      logit_bias: { '1': 1 },
      user: 'u',
      logprobs: true,
      verbosity: 'low',
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      service_tier: 'scale',
      store: true,
    })
    expect(dropped).toEqual([
      'store',
      'seed',
      'frequency_penalty',
      'presence_penalty',
      'logit_bias',
      'user',
      'logprobs',
      'verbosity',
      'metadata',
      'prompt_cache_key',
      'service_tier',
    ])
    expect(encoded({ service_tier: 'flex' }).serviceTier).toEqual({ type: 'flex' })
    expect(encoded({ service_tier: 'auto' }).serviceTier).toBeUndefined()
  })
})
