// Tests what each vendor changes in a request, and that it changes nothing else.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { VendorDialectId } from '../wire/formats.ts'
import type { JsonObject } from '../wire/ir.ts'
import { needsAmend } from './amendments.ts'
import { vendors } from './registry.ts'
import type { Amend, Call } from './vendor.ts'

const encoder = new TextEncoder()

function amendOf(id: string): Amend {
  const amend = vendors[id]?.quirks.amend
  if (amend === undefined) throw new Error(`vendor ${id} amends nothing`)
  return amend
}

function needed(amend: Amend, body: JsonObject, more: Partial<Call> = {}): boolean {
  const call = { dialect: 'openai-chat', model: 'm', stream: false, ...more } as const
  return needsAmend(amend, Object.keys(body), encoder.encode(JSON.stringify(body)), call)
}

/** Applied as the relay does: only if needed. */
function sent(id: string, body: JsonObject, dialect: VendorDialectId = 'openai-chat'): JsonObject {
  const amend = amendOf(id)
  expect(needed(amend, body)).toBe(true)
  return amend.body(structuredClone(body), { dialect, model: 'm', stream: false })
}

const say = [{ role: 'user', content: 'Say hello.' }]
const developer = [{ role: 'developer', content: 'Be brief.' }, ...say]
const system = [{ role: 'system', content: 'Be brief.' }, ...say]
const call = { type: 'function', function: { name: 'weather', arguments: '{}' } }
const twoResults = [
  {
    role: 'assistant',
    tool_calls: [
      { id: 'aaaaaaaa1', ...call },
      { id: 'aaaaaaaa2', ...call },
    ],
  },
  { role: 'tool', tool_call_id: 'aaaaaaaa1', content: 'sun' },
  { role: 'tool', tool_call_id: 'aaaaaaaa2', content: 'rain' },
]

test.each(Object.keys(vendors))('%s takes a plain request as it is', (id) => {
  const amend = vendors[id]?.quirks.amend
  const body: JsonObject = {
    model: 'm',
    messages: say,
    stream: true,
    temperature: 0.5,
    max_tokens: 9,
    tools: [],
  }
  expect(amend === undefined || !needed(amend, body)).toBe(true)
})

type Golden = readonly [name: string, id: string, body: JsonObject, expected: JsonObject]

const golden: readonly Golden[] = [
  [
    'mistral: names of its own, hints left out',
    'mistral',
    {
      model: 'm',
      messages: developer,
      max_completion_tokens: 7,
      seed: 3,
      tool_choice: 'required',
      stream: true,
      stream_options: { include_usage: true },
      store: false,
      user: 'u1',
    },
    {
      model: 'm',
      messages: system,
      max_tokens: 7,
      random_seed: 3,
      tool_choice: 'any',
      stream: true,
    },
  ],
  [
    'mistral: a named tool choice stays',
    'mistral',
    { model: 'm', messages: say, tool_choice: { type: 'function', function: { name: 'weather' } } },
    { model: 'm', messages: say, tool_choice: { type: 'function', function: { name: 'weather' } } },
  ],
  [
    'mistral: members of a replayed answer that it refuses',
    'mistral',
    {
      messages: [
        ...say,
        {
          role: 'assistant',
          content: 'Hi.',
          refusal: null,
          annotations: [],
          reasoning_content: 'Hm.',
          thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }],
        },
        ...say,
      ],
    },
    { messages: [...say, { role: 'assistant', content: 'Hi.' }, ...say] },
  ],
  [
    'groq: the name of a function stays',
    'groq',
    { messages: [...say, { role: 'function', name: 'weather', content: 'sun' }] },
    { messages: [...say, { role: 'function', name: 'weather', content: 'sun' }] },
  ],
  [
    'mistral: calls that are null, of an answer to be continued',
    'mistral',
    {
      messages: [
        ...say,
        { role: 'assistant', content: 'Hi', tool_calls: null, function_call: null },
      ],
    },
    { messages: [...say, { role: 'assistant', content: 'Hi', prefix: true }] },
  ],
  ...['mistral', 'groq'].map(
    (vendor): Golden => [
      `${vendor}: names of messages, which only a result of a tool may have`,
      vendor,
      {
        messages: [
          { role: 'user', content: 'Hi.', name: 'Ada' },
          { role: 'assistant', tool_calls: [{ id: 'aaaaaaaa1', ...call }], name: 'bot' },
          { role: 'tool', tool_call_id: 'aaaaaaaa1', name: 'weather', content: 'sun' },
        ],
      },
      {
        messages: [
          { role: 'user', content: 'Hi.' },
          { role: 'assistant', tool_calls: [{ id: 'aaaaaaaa1', ...call }] },
          { role: 'tool', tool_call_id: 'aaaaaaaa1', name: 'weather', content: 'sun' },
        ],
      },
    ],
  ),
  [
    'mistral: an answer between results of tools and a reminder',
    'mistral',
    {
      messages: [...say, ...twoResults, ...system, { role: 'assistant', content: 'Hi.' }, ...say],
    },
    {
      messages: [
        ...say,
        ...twoResults,
        { role: 'assistant', content: 'I have read the results.' },
        ...system,
        { role: 'assistant', content: 'Hi.' },
        ...say,
      ],
    },
  ],
  [
    'mistral: no answer of thoughts alone',
    'mistral',
    { messages: [...say, { role: 'assistant', content: null, reasoning_content: 'Hm.' }, ...say] },
    { messages: [...say, ...say] },
  ],
  [
    'mistral: an answer that the model is to continue',
    'mistral',
    { messages: [...say, { role: 'assistant', content: 'Hel' }] },
    { messages: [...say, { role: 'assistant', content: 'Hel', prefix: true }] },
  ],
  [
    'mistral: files are documents, or ids beside the type',
    'mistral',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Read.' },
            {
              type: 'file',
              file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' },
            },
            { type: 'file', file: { file_data: 'JVBE' } },
            { type: 'file', file: { file_id: 'id' } },
          ],
        },
      ],
    },
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Read.' },
            {
              type: 'document_url',
              document_url: 'data:application/pdf;base64,JVBE',
              document_name: 'a.pdf',
            },
            { type: 'document_url', document_url: 'data:application/pdf;base64,JVBE' },
            { type: 'file', file_id: 'id' },
          ],
        },
      ],
    },
  ],
  [
    'deepseek: reasoning goes back with tool turns, under its own name, empty where there was none',
    'deepseek',
    {
      max_completion_tokens: 5,
      messages: [
        ...developer,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', ...call }],
          reasoning: 'Look it up.',
        },
        { role: 'tool', tool_call_id: 'a', content: 'rain' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'b', ...call }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', ...call }],
          reasoning_content: 'Kept.',
        },
        { role: 'assistant', content: 'It rains.' },
      ],
    },
    {
      max_tokens: 5,
      messages: [
        ...system,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', ...call }],
          reasoning_content: 'Look it up.',
        },
        { role: 'tool', tool_call_id: 'a', content: 'rain' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'b', ...call }],
          reasoning_content: '',
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', ...call }],
          reasoning_content: 'Kept.',
        },
        { role: 'assistant', content: 'It rains.' },
      ],
    },
  ],
  [
    'xai: defaults it would refuse are left out, the rest is its to judge',
    'xai',
    { messages: say, frequency_penalty: 0, presence_penalty: 0.5, stop: null },
    { messages: say, presence_penalty: 0.5 },
  ],
  [
    'cerebras: defaults it would refuse are left out',
    'cerebras',
    {
      messages: developer,
      frequency_penalty: 0,
      parallel_tool_calls: true,
      service_tier: 'auto',
      logit_bias: null,
    },
    { messages: system },
  ],
  [
    'zhipu: usage comes unasked',
    'zhipu',
    {
      messages: say,
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 4,
    },
    { messages: say, stream: true, max_tokens: 4 },
  ],
  [
    'the older limit wins where both are given',
    'together',
    { messages: say, max_tokens: 3, max_completion_tokens: 9 },
    { messages: say, max_tokens: 3 },
  ],
  ['dashscope: developer is system', 'dashscope', { messages: developer }, { messages: system }],
  ['moonshot: developer is system', 'moonshot', { messages: developer }, { messages: system }],
]

test.each(golden)('%s', (_name, id, body, expected) => {
  expect(sent(id, body)).toEqual(expected)
})

test('Kimi models get reasoning with each turn that has calls, where there was none a space', () => {
  const turn = { role: 'assistant', content: null, tool_calls: [{ id: 'a', ...call }] }
  const replayed = (id: string, model: string) => {
    const messages = [
      turn,
      { ...turn, reasoning_content: '' },
      { ...turn, reasoning: 'Look.' },
      { ...turn, reasoning_content: 'Kept.' },
      { role: 'assistant', content: 'It rains.' },
    ]
    const asked = { dialect: 'openai-chat', model, stream: false } as const
    const { messages: found } = amendOf(id).body(structuredClone({ messages }), asked)
    return (found as JsonObject[]).map(({ reasoning_content }) => reasoning_content)
  }
  const full = [' ', ' ', 'Look.', 'Kept.', undefined]
  for (const model of ['kimi-k2.5', 'kimi-k2-thinking', 'kimi-k3', 'kimi-for-coding'])
    expect(replayed('moonshot', model)).toEqual(full)
  expect(replayed('siliconflow', 'Pro/moonshotai/Kimi-K2.5')).toEqual(full)
  const asTheyWere = [undefined, '', undefined, 'Kept.', undefined]
  expect(replayed('moonshot', 'kimi-k2-0905-preview')).toEqual(asTheyWere)
  expect(replayed('siliconflow', 'Qwen/Qwen3-32B')).toEqual(asTheyWere)
})

test.each([
  ['deepseek', 'deepseek-v4-pro', { thinking: { type: 'disabled' } }],
  ['deepseek', 'deepseek-reasoner', {}],
  ['moonshot', 'kimi-k2.6', { thinking: { type: 'disabled' } }],
] as const)('%s, %s: an effort of none is %j', (id, model, expected) => {
  const body = { messages: say, reasoning_effort: 'none' }
  const amend = amendOf(id)
  expect(needed(amend, body)).toBe(true)
  expect(amend.body({ ...body }, { dialect: 'openai-chat', model, stream: false })).toEqual({
    messages: say,
    ...expected,
  })
})

test('deepseek: a schema for the reply becomes an instruction behind those of the system', () => {
  const schema = { type: 'object', properties: { title: { type: 'string' } } }
  const format = { type: 'json_schema', json_schema: { name: 'reply', schema } }
  const body = { messages: [...system, ...say], response_format: format }
  const { response_format, messages } = sent('deepseek', body)
  expect(response_format).toEqual({ type: 'json_object' })
  const [first, instruction, ...rest] = messages as JsonObject[]
  expect([first, ...rest]).toEqual([...system, ...say])
  expect(instruction).toEqual({
    role: 'system',
    content: expect.stringContaining(JSON.stringify(schema)),
  })
  expect(instruction?.content).toContain('JSON')
  const plain = { messages: say, response_format: { type: 'json_object' } }
  expect(sent('deepseek', plain)).toEqual(plain)
})

test('mistral: embeddings ask for dimensions by its own name, and for floats', () => {
  const body = { model: 'm', input: 'hi', dimensions: 8, encoding_format: 'base64' }
  expect(sent('mistral', body, 'openai-embeddings')).toEqual({
    model: 'm',
    input: 'hi',
    output_dimension: 8,
  })
})

test('the word developer in a message is no role', () => {
  const body = { messages: [{ role: 'user', content: 'a "developer" asks' }] }
  const amend = amendOf('deepseek')
  expect(
    amend.body(structuredClone(body), { dialect: 'openai-chat', model: 'm', stream: false }),
  ).toEqual(body)
})

test('mistral: any tool call id becomes nine letters or digits, call and answer alike, its own unchanged', () => {
  const ids = fc.uniqueArray(
    fc.oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^[a-zA-Z0-9]{9}$/)),
    {
      minLength: 1,
      maxLength: 20,
    },
  )
  fc.assert(
    fc.property(ids, (given) => {
      const messages = given.flatMap((id) => [
        { role: 'assistant', content: null, tool_calls: [{ id, ...call }] },
        { role: 'tool', tool_call_id: id, content: '' },
      ])
      const amended = sent('mistral', { messages }).messages as unknown as {
        tool_calls?: { id: string }[]
        tool_call_id?: string
      }[]
      const seen = given.map((id, index) => {
        const called = amended[index * 2]?.tool_calls?.[0]?.id ?? ''
        expect(called).toMatch(/^[a-zA-Z0-9]{9}$/)
        expect(amended[index * 2 + 1]?.tool_call_id).toBe(called)
        if (/^[a-zA-Z0-9]{9}$/.test(id)) expect(called).toBe(id)
        return called
      })
      expect(new Set(seen).size).toBe(given.length)
    }),
  )
})

test('DashScope is told not to think where an open model is asked for a whole reply', () => {
  const amend = amendOf('dashscope')
  const body: JsonObject = { model: 'm', messages: say }
  const whole = { dialect: 'openai-chat', model: 'qwen3-32b', stream: false } as const
  expect(needed(amend, body, whole)).toBe(true)
  expect(amend.body(structuredClone(body), whole)).toEqual({ ...body, enable_thinking: false })
  const own = { ...body, enable_thinking: true }
  expect(amend.body(structuredClone(own), whole)).toEqual(own)
  for (const more of [
    { stream: true },
    { model: 'qwen3-235b-a22b-instruct' },
    { model: 'qwen-max' },
  ])
    expect(needed(amend, body, { ...whole, ...more })).toBe(false)
})

test('sampling is left out for Kimi models where it is fixed', () => {
  const parameters = vendors['moonshot']?.quirks.parameters
  const named = (model: string) => parameters?.({ dialect: 'openai-chat', model, asked: model })
  expect(named('kimi-k2.5')?.keys).toContain('temperature')
  expect(named('kimi-k2.6-preview')?.keys).toContain('top_p')
  for (const model of ['kimi-k2-0905-preview', 'moonshot-v1-8k', 'kimi-latest'])
    expect(named(model)).toBeNull()
})
