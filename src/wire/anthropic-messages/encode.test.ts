// Tests how the other fields of chat requests are written in Anthropic's format: carried, refused, or dropped by name.

import { describe, expect, test } from 'bun:test'
import {
  call,
  chat,
  hub,
  newest,
  older,
  oldest,
  refused,
  tool,
} from '../../../test/support/anthropic.ts'
import type { JsonObject } from '../ir.ts'

describe('tools', () => {
  test('their schemas are objects, whatever the client left out', () => {
    const { value } = chat({
      tools: [
        { type: 'function', function: { name: 'a' } },
        {
          type: 'function',
          function: { name: 'b', description: 'B', parameters: { properties: { x: {} } } },
        },
      ],
    })
    expect(value.tools).toEqual([
      { name: 'a', input_schema: { type: 'object', properties: {} } },
      { name: 'b', description: 'B', input_schema: { type: 'object', properties: { x: {} } } },
    ])
    expect(value.tool_choice).toBeUndefined()
  })

  test.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [
      { type: 'function', function: { name: 'f' } },
      { type: 'tool', name: 'f' },
    ],
  ])('W38: the choice %j is %j', (choice, expected) => {
    expect(chat({ tools: [tool], tool_choice: choice as string }).value.tool_choice).toEqual(
      expected,
    )
  })

  test('one call at most needs a choice, which is auto unless another was made', () => {
    expect(chat({ tools: [tool], parallel_tool_calls: false }).value.tool_choice).toEqual({
      type: 'auto',
      disable_parallel_tool_use: true,
    })
    expect(chat({ parallel_tool_calls: false }).value.tool_choice).toBeUndefined()
  })

  test('where only some tools may be called the others are not sent', () => {
    const { value } = hub({
      tools: ['a', 'b', 'c'].map((name) => ({ type: 'function', name })),
      toolChoice: { mode: 'allowed', names: ['a', 'c'], required: true },
    })
    expect((value.tools as JsonObject[]).map(({ name }) => String(name))).toEqual(['a', 'c'])
    expect(value.tool_choice).toEqual({ type: 'any' })
  })

  test('a conversation with calls tells their tools even where none is offered', () => {
    const { value } = chat({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', tool_calls: [call('x')] },
        { role: 'tool', tool_call_id: 'x', content: '1' },
      ],
    })
    expect(value.tools).toEqual([{ name: 'f', input_schema: { type: 'object', properties: {} } }])
    expect(value.tool_choice).toEqual({ type: 'none' })
  })

  test('custom tools, tools of another vendor, and a call no model can be made to are refused', () => {
    expect(refused(() => hub({ tools: [{ type: 'custom', name: 'c' }] }))).toBe('tools[0]')
    const search = { type: 'other' as const, extra: { 'openai-responses': { type: 'web_search' } } }
    expect(refused(() => hub({ tools: [{ type: 'function', name: 'a' }, search] }))).toBe(
      'tools[1]',
    )
    expect(refused(() => chat({ tools: [tool], tool_choice: 'required' }, 'claude-opus-5-5'))).toBe(
      'tool_choice',
    )
  })

  test('strict stays where the model has it, its schema within what is taken', () => {
    const parameters = {
      type: 'object',
      properties: { n: { type: 'integer', minimum: 1 } },
      required: ['n'],
    }
    const strict = { type: 'function', function: { name: 'f', parameters, strict: true } }
    expect(chat({ tools: [strict] }).value.tools).toEqual([
      {
        name: 'f',
        input_schema: {
          type: 'object',
          properties: { n: { type: 'integer', description: 'minimum: 1' } },
          required: ['n'],
          additionalProperties: false,
        },
        strict: true,
      },
    ])
    const { value, dropped } = chat({ tools: [strict] }, oldest)
    expect(value.tools).toEqual([{ name: 'f', input_schema: parameters }])
    expect(dropped).toEqual(['tools[0].function.strict'])
  })
})

describe('max_tokens', () => {
  test.each([
    [newest, 128_000],
    [older, 64_000],
    ['claude-opus-4-1-20250805', 32_000],
    [oldest, 4_096],
    ['anthropic/claude-sonnet-4.6', 128_000],
    ['claude-of-the-future', 128_000],
  ])('of %s is %d unless said', (model, expected) => {
    expect(chat({}, model).value.max_tokens).toBe(expected)
    expect(chat({ max_completion_tokens: 7 }, model).value.max_tokens).toBe(7)
  })

  test('beyond what a model may say is what it may say; of a model nobody listed it is left', () => {
    const { value, dropped } = chat({ max_tokens: 900_000 }, older)
    expect([value.max_tokens, dropped]).toEqual([64_000, ['max_tokens']])
    expect(chat({ max_tokens: 900_000 }, 'claude-of-the-future').value.max_tokens).toBe(900_000)
  })
})

describe('sampling', () => {
  test('W43: a temperature of 0 is said, one above 1 is 1', () => {
    expect(chat({ temperature: 0 }, older).value.temperature).toBe(0)
    expect(chat({ temperature: 1.7 }, older)).toMatchObject({
      value: { temperature: 1 },
      dropped: ['temperature'],
    })
  })

  test('of temperature and top_p newer models take one', () => {
    expect(chat({ temperature: 0.2, top_p: 0.9 }, older)).toMatchObject({
      value: { temperature: 0.2 },
      dropped: ['top_p'],
    })
    expect(chat({ top_p: 0.9 }, older).value.top_p).toBe(0.9)
    expect(chat({ temperature: 0.2, top_p: 0.9 }, oldest).dropped).toEqual([])
  })

  test('the newest take none', () => {
    const { value, dropped } = chat({ temperature: 0.2, top_p: 0.9, top_k: 5 })
    expect([value.temperature, value.top_p, value.top_k]).toEqual([undefined, undefined, undefined])
    expect(dropped.toSorted()).toEqual(['temperature', 'top_k', 'top_p'])
  })

  test('W22: stop is always a list, without what is only white space', () => {
    expect(chat({ stop: 'END' }).value.stop_sequences).toEqual(['END'])
    const { value, dropped } = chat({ stop: ['\n', 'END'] })
    expect([value.stop_sequences, dropped]).toEqual([['END'], ['stop']])
  })
})

describe('thinking', () => {
  const thinking = (more: JsonObject, model = newest) => {
    const { value, dropped } = chat(more, model)
    return [value.thinking, (value.output_config as JsonObject | undefined)?.effort, dropped]
  }
  const adaptive = { type: 'adaptive', display: 'summarized' }

  test.each([
    [newest, 'minimal', adaptive, 'low', []],
    [newest, 'medium', adaptive, 'medium', []],
    [newest, 'xhigh', adaptive, 'xhigh', []],
    ['claude-opus-4-6', 'xhigh', adaptive, 'high', ['reasoning_effort']],
    ['claude-opus-4-6', 'max', adaptive, 'max', []],
    [newest, 'none', { type: 'disabled' }, undefined, []],
    ['claude-sonnet-5-5', 'none', { type: 'between_tools' }, undefined, ['reasoning_effort']],
    ['claude-opus-5-5', 'none', undefined, 'low', ['reasoning_effort']],
    [older, 'low', { type: 'enabled', budget_tokens: 1_024 }, undefined, []],
    [older, 'high', { type: 'enabled', budget_tokens: 16_384 }, undefined, []],
    [older, 'none', { type: 'disabled' }, undefined, []],
    [oldest, 'high', undefined, undefined, ['reasoning_effort']],
    [oldest, 'none', undefined, undefined, []],
  ])('of %s with effort %s', (model, effort, field, level, dropped) => {
    expect(thinking({ reasoning_effort: effort }, model)).toEqual([field, level, dropped] as never)
  })

  test('a budget leaves room for the reply, or there is none', () => {
    expect(thinking({ reasoning_effort: 'high', max_tokens: 3_000 }, older)[0]).toEqual({
      type: 'enabled',
      budget_tokens: 2_999,
    })
    expect(thinking({ reasoning_effort: 'high', max_tokens: 1_024 }, older)).toEqual([
      undefined,
      undefined,
      ['reasoning_effort'],
    ])
  })

  test.each([
    'claude-opus-4-7',
    'claude-opus-4-8',
    'claude-opus-5',
    'claude-sonnet-5',
    'claude-new',
  ])('a budget is an effort for %s, which refuses budgets', (model) => {
    const asked = { max_tokens: 20_000, thinking: { type: 'enabled', budget_tokens: 3_000 } }
    expect(thinking(asked, model)).toEqual([adaptive, 'medium', []])
  })

  test('rules temperature out, and is ruled out by a call that must be made', () => {
    const warm = chat({ reasoning_effort: 'low', temperature: 0.3 }, older)
    expect([warm.value.temperature, warm.dropped]).toEqual([undefined, ['temperature']])
    const neutral = chat({ reasoning_effort: 'low', temperature: 1 }, older)
    expect([neutral.value.temperature, neutral.dropped]).toEqual([undefined, []])
    const forced = { tools: [tool], tool_choice: 'required', reasoning_effort: 'low' }
    expect(thinking(forced, older)).toEqual([undefined, undefined, ['reasoning_effort']])
    expect(thinking(forced)).toEqual([{ type: 'disabled' }, undefined, ['reasoning_effort']])
  })

  test('W33: by a budget it is off where the calls under way lost the thought they began with', () => {
    const messages = (thought: JsonObject) => [
      { role: 'user', content: 'a' },
      { role: 'assistant', ...thought, tool_calls: [call('x')] },
      { role: 'tool', tool_call_id: 'x', content: '1' },
    ]
    const lost = { reasoning_effort: 'low', tools: [tool], messages: messages({}) }
    expect(thinking(lost, older)).toEqual([undefined, undefined, ['reasoning_effort']])
    expect(thinking(lost)[0]).toEqual(adaptive)
    const kept = messages({
      thinking_blocks: [{ type: 'thinking', thinking: 'why', signature: 's' }],
    })
    const { value } = chat({ reasoning_effort: 'low', tools: [tool], messages: kept }, older)
    expect(value.thinking).toEqual({ type: 'enabled', budget_tokens: 1_024 })
    expect((value.messages as JsonObject[])[1]?.content).toEqual([
      { type: 'thinking', thinking: 'why', signature: 's' },
      { type: 'tool_use', id: 'x', name: 'f', input: {} },
    ])
    const later = [
      ...messages({}),
      { role: 'assistant', content: 'ok' },
      { role: 'user', content: 'b' },
    ]
    expect(thinking({ ...lost, messages: later }, older)[0]).toEqual({
      type: 'enabled',
      budget_tokens: 1_024,
    })
  })

  test('thoughts nobody signed are not given back', () => {
    const said = { role: 'assistant', content: 'b', reasoning_content: 'why' }
    const { value, dropped } = chat({ messages: [{ role: 'user', content: 'a' }, said] })
    expect((value.messages as JsonObject[])[1]?.content).toEqual([{ type: 'text', text: 'b' }])
    expect(dropped).toEqual(['messages[1].reasoning_content'])
  })
})

describe('the form of the reply', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer', minimum: 1 }, at: { type: 'string', format: 'date' } },
    required: ['n'],
  }
  const asked = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }

  test('is said to models that have a word for it, within what they take', () => {
    expect(chat(asked).value.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            n: { type: 'integer', description: 'minimum: 1' },
            at: { type: 'string', format: 'date' },
          },
          required: ['n'],
          additionalProperties: false,
        },
      },
    })
  })

  test('is the input of a tool where they have none, or where the schema is beyond it', () => {
    const forced = { type: 'tool', name: 'tollgate_json_reply', disable_parallel_tool_use: true }
    const { value } = chat(asked, oldest)
    expect(value.output_config).toBeUndefined()
    expect(value.tool_choice).toEqual(forced)
    expect((value.tools as JsonObject[])[0]).toMatchObject({
      name: 'tollgate_json_reply',
      input_schema: schema,
    })
    const map = { type: 'object', additionalProperties: { type: 'string' } }
    const open = { type: 'json_schema', json_schema: { name: 'x', schema: map } }
    expect(chat({ response_format: open }).value.tool_choice).toEqual(forced)
    expect(chat({ response_format: { type: 'json_object' } }).value.tool_choice).toEqual(forced)
    expect(chat({ ...asked, tools: [tool] }, oldest).value.tool_choice).toEqual({
      type: 'any',
      disable_parallel_tool_use: true,
    })
  })

  test('is left out where no word and no forced tool is', () => {
    const any = { response_format: { type: 'json_object' } }
    expect(chat(any, 'claude-opus-5-5').dropped).toEqual(['response_format'])
  })
})

test('what has no word here is named', () => {
  const { value, dropped } = chat({
    seed: 1,
    frequency_penalty: 1,
    presence_penalty: 1,
    logit_bias: { 1: 1 },
    logprobs: true,
    verbosity: 'low',
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    service_tier: 'flex',
    store: true,
    user: 'ann',
  })
  expect(dropped.toSorted()).toEqual([
    'frequency_penalty',
    'logit_bias',
    'logprobs',
    'metadata',
    'presence_penalty',
    'prompt_cache_key',
    'seed',
    'service_tier',
    'store',
    'verbosity',
  ])
  expect(value.metadata).toEqual({ user_id: 'ann' })
  expect(Object.keys(value).toSorted()).toEqual(['max_tokens', 'messages', 'metadata', 'model'])
})

test('who is behind a request stands in its one place, and what does not fit there is named', () => {
  const alone = chat({ safety_identifier: 'hash-of-ann' })
  expect(alone.value.metadata).toEqual({ user_id: 'hash-of-ann' })
  expect(alone.dropped).toEqual([])
  const both = chat({ safety_identifier: 'hash-of-ann', user: 'ann' })
  expect(both.value.metadata).toEqual({ user_id: 'ann' })
  expect(both.dropped).toEqual(['safety_identifier'])
})

test('several replies, and replies of sound, are refused', () => {
  expect(refused(() => chat({ n: 2 }))).toBe('n')
  expect(chat({ n: 1 }).dropped).toEqual([])
  expect(refused(() => chat({ modalities: ['text', 'audio'] }))).toBe('modalities')
})

test.each([
  ['auto', 'auto'],
  ['default', 'standard_only'],
])('service tier %s is %s', (tier, expected) => {
  expect(chat({ service_tier: tier }).value.service_tier).toBe(expected)
})
