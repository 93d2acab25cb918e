// Tests that parameters that a model refuses are removed from the client's bytes and from a built body, and nothing
// else is.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ParameterRule } from '../vendors/vendor.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { type Edit, join, splice } from '../wire/json/splice.ts'
import { peekChat } from '../wire/openai-chat/peek.ts'
import type { Peek } from '../wire/request.ts'
import { refusedIn, withoutRefused } from './parameters.ts'

const rule: ParameterRule = {
  keys: ['max_tokens', 'temperature', 'top_p', 'stop', 'list'],
  renamed: { max_tokens: 'max_completion_tokens' },
  entry: { list: 'list', entry: 'p', about: 'top_p' },
  dropped: (value) => (value('reasoning_effort') === 'none' ? ['stop'] : ['temperature', 'top_p']),
  replaced: (value) =>
    new Map([
      ...(value('max_tokens') === 1 ? [['max_tokens', { value: 0, name: 'limit' }] as const] : []),
      ...(value('x') === 'none' ? [['x', { value: null, name: 'x' }] as const] : []),
    ]),
}

function edited(
  body: Uint8Array,
  own: readonly Edit[] = [],
): { text: string; dropped: readonly string[] } {
  const { edits, dropped } = refusedIn(rule, { body } as Peek, own)
  return { text: new TextDecoder().decode(join(splice(body, edits))), dropped }
}

const names = fc.constantFrom(
  ...['model', 'max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'stop', 'x', 'é'],
  ...['reasoning_effort', 'list'],
)
const values = fc.oneof(
  fc.constantFrom<JsonValue>(null, 0, 1, 'none', 'a,"}', [], ['p'], ['a', 'p', 1, 'p'], {}),
  fc.jsonValue(),
)
const bodies = fc.dictionary(names, values, { minKeys: 1, maxKeys: 8, noNullPrototype: true })

test('edits and objects come to the same, whatever stands around', () => {
  fc.assert(
    fc.property(bodies, fc.constantFrom(0, 1, '\t', ' \n'), (body, indent) => {
      const text = JSON.stringify(body, null, indent || undefined)
      const found = edited(new TextEncoder().encode(text))
      const made = JSON.parse(text) as JsonObject
      const dropped = withoutRefused(rule, made)
      // A null requests nothing, whatever the name of the field.
      const [one, other] = [JSON.parse(found.text), made].map(given)
      expect(one).toEqual(other as JsonObject)
      expect(new Set(found.dropped)).toEqual(new Set(dropped))
    }),
    { numRuns: 2_000 },
  )
})

function given(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}

test.each([
  ['{"model":"m","temperature":0.5}', '{"model":"m"}'],
  ['{"temperature":0.5,"model":"m"}', '{"model":"m"}'],
  ['{ "temperature" : 0.5 , "top_p" : 1 , "x" : 2 }', '{ "x" : 2 }'],
  ['{"x":1,"max_tokens":7,"top_p":1}', '{"x":1,"max_completion_tokens":7}'],
  ['{"max_tokens":7,"x":1,"max_completion_tokens":5}', '{"x":1,"max_completion_tokens":5}'],
  ['{"max_tokens":7,"max_completion_tokens":null}', '{"max_completion_tokens":7}'],
  ['{"temperature":null,"x":1}', '{"temperature":null,"x":1}'],
  ['{"max_tokens" : 1, "x":"none"}', '{"max_completion_tokens" : 0}'],
  ['{"max_tokens":1,"x":2,"max_completion_tokens":5}', '{"x":2,"max_completion_tokens":5}'],
  [
    '{"temperature":0.5,"stop":"a","reasoning_effort":"none"}',
    '{"temperature":0.5,"reasoning_effort":"none"}',
  ],
])('%s becomes %s', (before, after) => {
  expect(edited(new TextEncoder().encode(before)).text).toBe(after)
})

test('an entry goes with the member it is about, also out of a list that is written anew', () => {
  const body = new TextEncoder().encode('{"list":["p"],"x":1}')
  expect(edited(body)).toEqual({ text: '{"list":[],"x":1}', dropped: ['top_p'] })
  const more = { start: 8, end: 13, text: '["p","q"]' }
  const added = { start: 19, end: 19, text: ',"y":2' }
  expect(edited(body, [added, more]).text).toBe('{"list":["q"],"x":1,"y":2}')
  const taken = new TextEncoder().encode('{"list":["p"],"reasoning_effort":"none"}')
  expect(edited(taken).text).toBe('{"list":["p"],"reasoning_effort":"none"}')
})

test('a body of megabytes keeps its bytes', () => {
  const content = 'x"\\'.repeat(500_000)
  const messages = [{ role: 'user', content }]
  const body = { temperature: 0.1, messages, max_tokens: 5, model: 'gpt-5' }
  const peek = peekChat(new TextEncoder().encode(JSON.stringify(body)))
  const { text } = edited(peek.body)
  expect(text).toBe(JSON.stringify({ messages, max_completion_tokens: 5, model: 'gpt-5' }))
})
