// Tests the changes that a channel makes in a body, byte by byte.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { join } from '../wire/json/splice.ts'
import { bodyChanges } from './body-changes.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const textOf = (changed: readonly Uint8Array[]) => new TextDecoder().decode(join(changed))
const change = (parameters: Parameters<typeof bodyChanges>[0], body: string) =>
  textOf(bodyChanges(parameters)(bytes(body)))

test('members are set, given where missing or null, and left out; all other bytes stay as they were', () => {
  const parameters = {
    set: { temperature: 0.2, 'thinking.type': 'disabled' },
    defaults: { top_p: 0.9, seed: 7, user: 'x' },
    remove: ['logit_bias', 'thinking.budget_tokens'],
  }
  const body =
    '{ "big": 12345678901234567890,"temperature" : 1,"logit_bias":{},"thinking":{"type":"enabled","budget_tokens":5,"x":1}, "seed":null,"user":"me" }'
  expect(change(parameters, body)).toBe(
    '{ "big": 12345678901234567890,"temperature" : 0.2,"thinking":{"x":1,"type":"disabled"}, "seed":7,"user":"me","top_p":0.9 }',
  )
})

test('where nothing changes the bytes are the very same', () => {
  const body = bytes('{"temperature":0.2,"thinking":"odd"}')
  const made = bodyChanges({
    set: { temperature: 0.2, 'thinking.type': 'x' },
    remove: ['gone'],
    defaults: { temperature: 1 },
  })(body)
  expect(made).toHaveLength(1)
  expect(made[0]).toBe(body)
})

test('a limit that is set is the only one, and a default limit gives way to any other', () => {
  const limit = { max_tokens: 10 }
  const sent = '{"model":"m","max_completion_tokens":500}'
  expect(change({ set: limit }, sent)).toBe('{"model":"m","max_tokens":10}')
  expect(change({ defaults: limit }, sent)).toBe(sent)
  const removed = { defaults: limit, remove: ['max_completion_tokens'] }
  expect(change(removed, sent)).toBe('{"model":"m","max_tokens":10}')
  expect(change({ defaults: limit }, '{}')).toBe('{"max_tokens":10}')
})

test('for any object and changes the result is what the words say', () => {
  const names = ['a', 'b', 'c', 'd']
  const object = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 1 }))
  const parameters = fc.record({
    set: object,
    defaults: object,
    remove: fc.uniqueArray(fc.constantFrom(...names)),
  })
  fc.assert(
    fc.property(object, parameters, fc.nat(3), (body, said, indent) => {
      const expected = { ...body } as Record<string, unknown>
      for (const name of said.remove) delete expected[name]
      for (const [name, value] of Object.entries(said.defaults)) expected[name] ??= value
      Object.assign(expected, said.set)
      const changed = JSON.parse(change(said, JSON.stringify(body, null, indent))) as JsonObject
      expect(changed).toEqual(JSON.parse(JSON.stringify(expected)) as JsonValue as JsonObject)
    }),
  )
})
