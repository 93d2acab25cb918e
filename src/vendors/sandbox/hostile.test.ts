// Tests that short requests which describe huge replies, or texts that are slow to search, are answered at once.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../../wire/ir.ts'
import { call } from './testing.ts'

function user(content: string): JsonObject[] {
  return [{ role: 'user', content }]
}

test.each<[string, JsonObject]>([
  ['lists of lists', { type: 'array', minItems: 100, items: { $ref: '#' } }],
  [
    'objects of objects',
    {
      type: 'object',
      properties: { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#' }, d: { $ref: '#' } },
      required: ['a', 'b', 'c', 'd', ...Array.from({ length: 10_000 }, () => 'a')],
    },
  ],
  [
    'a long constant in lists',
    {
      type: 'array',
      minItems: 100,
      items: { type: 'array', minItems: 100, items: { const: 'x'.repeat(50_000) } },
    },
  ],
  [
    'a long name in lists',
    {
      type: 'array',
      minItems: 100,
      items: {
        type: 'array',
        minItems: 100,
        items: { required: ['x'.repeat(50_000)], type: 'object' },
      },
    },
  ],
])('a schema of %s', async (_, schema) => {
  const format = { type: 'json_schema', json_schema: { name: 'x', schema } }
  const body = { model: 'sandbox/chat', messages: user('x'), response_format: format }
  const { status, text } = await call('openai-chat', body)
  expect(status).toBe(200)
  expect(text.length).toBeLessThan(2_000_000)
})

test('words that end in half a million dots, and texts that end in spaces', async () => {
  const dots = `${'.'.repeat(500_000)}a`
  expect((await call('openai-chat', { model: 'sandbox/chat', messages: user(dots) })).status).toBe(
    200,
  )
  const prompt = `a${' '.repeat(500_000)}`
  const reply = await call('openai-completions', {
    model: 'sandbox/completion',
    prompt,
    echo: true,
  })
  expect(reply.status).toBe(200)
})

test('completions of more than a million tokens are refused, naming n', async () => {
  const body = {
    model: 'sandbox/completion+tokens=100000',
    prompt: Array.from({ length: 100 }, () => 'x'),
    n: 128,
  }
  const { status, text } = await call('openai-completions', body)
  expect(status).toBe(400)
  expect(JSON.parse(text).error).toMatchObject({ param: 'n', type: 'invalid_request_error' })
})
