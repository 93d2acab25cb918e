// Tests which fields of a Responses request are refused by name, and what is found in it.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../errors.ts'
import { join, splice } from '../json/splice.ts'
import { cutting } from '../json/without.ts'
import type { Peek } from '../request.ts'
import { bytesOf, textOf } from '../testing.ts'
import { peekResponses } from './peek.ts'

function peek(body: unknown): Peek {
  return peekResponses(bytesOf(typeof body === 'string' ? body : JSON.stringify(body)))
}

function refusal(body: unknown): string | null | undefined {
  try {
    peek(body)
  } catch (error) {
    if (error instanceof GatewayError) return error.detail.param
    throw error
  }
  throw new Error('was accepted')
}

const base = { model: 'm', input: 'hi' }
const image = { type: 'input_image', image_url: 'https://x/a.png' }

describe('refused by name', () => {
  test.each<[object, string | null]>([
    [{ input: 'hi' }, 'model'],
    [{ model: 'm', messages: [] }, 'messages'],
    [{ ...base, model: 1 }, 'model'],
    [{ ...base, input: 5 }, 'input'],
    [{ ...base, input: [1] }, 'input[0]'],
    [{ ...base, input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
    [{ ...base, input: [{ content: 'x' }] }, 'input[0].role'],
    [{ ...base, input: [{ type: 5 }] }, 'input[0].type'],
    [{ ...base, input: [{ role: 'user' }] }, 'input[0].content'],
    [{ ...base, input: [{ role: 'user', content: 1 }] }, 'input[0].content'],
    [{ ...base, input: [{ role: 'user', content: ['x'] }] }, 'input[0].content[0]'],
    [{ ...base, input: [{ role: 'user', content: [{}] }] }, 'input[0].content[0].type'],
    ...[{ type: 'input_text', text: 1 }, { type: 'output_text' }, { type: 'text', text: null }].map(
      (part): [object, string] => [
        { ...base, input: [{ role: 'user', content: [part] }] },
        'input[0].content[0].text',
      ],
    ),
    [
      {
        ...base,
        input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text' }] }],
      },
      'input[0].output[0].text',
    ],
    [{ ...base, input: [{ type: 'function_call_output', output: '' }] }, 'input[0].call_id'],
    [{ ...base, input: [{ type: 'function_call_output', call_id: 'c' }] }, 'input[0].output'],
    [{ ...base, stream: 'yes' }, 'stream'],
    [{ ...base, temperature: 3 }, 'temperature'],
    [{ ...base, top_logprobs: 21 }, 'top_logprobs'],
    [{ ...base, max_output_tokens: 1.5 }, 'max_output_tokens'],
    [{ ...base, instructions: [] }, 'instructions'],
    [{ ...base, text: 'x' }, 'text'],
    [{ ...base, reasoning: 'low' }, 'reasoning'],
    [{ ...base, tools: {} }, 'tools'],
    [{ ...base, tools: [{}] }, 'tools[0].type'],
    [{ ...base, stream_options: {} }, 'stream_options'],
  ])('%j', (body, param) => {
    expect(refusal(body)).toBe(param)
  })

  test('what is no JSON object', () => {
    expect([refusal('[]'), refusal('{"model":'), refusal('')]).toEqual([null, null, null])
  })
})

test('finds model, stream, limit and the first image', () => {
  const body = {
    model: 'a/b:c',
    input: [
      { role: 'user', content: 'hi' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }, image] },
      { type: 'function_call_output', call_id: 'c', output: [image] },
    ],
    stream: true,
    max_output_tokens: 50,
  }
  const found = peek(body)
  expect(found).toMatchObject({
    model: 'a/b:c',
    stream: true,
    maxOutputTokens: 50,
    choices: 1,
    imageParam: 'input[1].content[1]',
    wantsUsage: true,
    keys: Object.keys(body),
  })
  const { start, end } = found.modelSpan ?? { start: 0, end: 0 }
  expect(textOf(found.body.subarray(start, end))).toBe('"a/b:c"')
  const answer = { type: 'function_call_output', call_id: 'c', output: [image] }
  expect(peek({ model: 'm', input: [answer] }).imageParam).toBe('input[0].output[0]')
})

test.each([
  { model: 'm' },
  { ...base, input: null },
  { ...base, input: [] },
  { ...base, store: false, previous_response_id: 'resp_1', conversation: { id: 'c' } },
  {
    ...base,
    input: [
      { type: 'item_reference', id: 'x' },
      { type: 'reasoning', summary: [] },
    ],
  },
  { ...base, stream: false, stream_options: { include_obfuscation: false } },
  { ...base, unknown: { a: [1] } },
])('accepts %j', (body) => {
  expect(peek(body).imageParam).toBeNull()
})

test('a reference without a type, and a message with null for it, get it at the place it had', () => {
  const text =
    '{"model":"m","input":[{"id":"a"}, { "type" : null, "id":"b" },{"role":"user","content":"c"},{"role":"user","type":null,"content":"d"}]}'
  expect(new TextDecoder().decode(peekResponses(bytesOf(text)).body)).toBe(
    '{"model":"m","input":[{"type":"item_reference","id":"a"}, { "type" : "item_reference", "id":"b" },{"role":"user","content":"c"},{"role":"user","type":"message","content":"d"}]}',
  )
  const plain = bytesOf('{"model":"m","input":"a"}')
  expect(peekResponses(plain).body).toBe(plain)
})

describe('reasoning without opaque state', () => {
  const plain = '{"type":"reasoning","id":"rs_1","summary":[]}'
  const empty = '{ "encrypted_content" : "", "type": "reasoning", "summary": [] }'
  const sealed = '{"type":"reasoning","summary":[],"encrypted_content":"s"}'
  const asked = '{"role":"user","content":"hi"}'
  test.each<[string, string, string[]]>([
    [`[${asked},${sealed}]`, `[${asked},${sealed}]`, []],
    [`[ ${plain} , ${asked}]`, `[ ${asked}]`, ['input[0]']],
    [
      `[${asked},${empty}, ${sealed} , ${plain} ]`,
      `[${asked},${sealed} ]`,
      ['input[1]', 'input[3]'],
    ],
    [`[${plain}, ${empty}]`, '[]', ['input[0]', 'input[1]']],
  ])('%s', (items, left, names) => {
    const found = peek(`{"model":"m","input":${items}}`)
    const { spans, names: named } = found.thoughts ?? { spans: [], names: [] }
    expect(new TextDecoder().decode(join(splice(found.body, cutting([], spans))))).toBe(
      `{"model":"m","input":${left}}`,
    )
    expect(named).toEqual(names)
  })

  test('no request has that of the one before it', () => {
    peek(`{"model":"m","input":[${plain}]}`)
    expect(peek(base).thoughts).toBeUndefined()
  })
})

test('no request counts an image of the one before it', () => {
  peek({ model: 'm', input: [{ role: 'user', content: [image] }] })
  expect(peek(base).imageParam).toBeNull()
})

test('a repeated role is refused by its path', () => {
  const text = '{"model":"m","input":[{"role":"user","role":"user","content":"x"}]}'
  expect(() => peek(text)).toThrow('input[0].role may be given only once')
})
