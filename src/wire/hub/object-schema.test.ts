// Tests schemas that are composed at their root, as plain objects that allow at least the same values.

import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv'
import fc from 'fast-check'
import { messagesHub } from '../anthropic-messages/hub.ts'
import { bedrockConverse } from '../bedrock-converse/dialect.ts'
import type { JsonObject, Tool } from '../ir.ts'
import { chatHub } from '../openai-chat/hub.ts'
import { responsesHub } from '../openai-responses/hub.ts'
import { withPlainRoot } from './object-schema.ts'

const shape = (kind: string, more: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties: { kind: { type: 'string', const: kind }, ...more },
  required: ['kind', ...required],
  additionalProperties: false,
})
const number = { type: 'number' }
const text = { type: 'string' }

function plain(parameters: JsonObject): { parameters: unknown; description: string } {
  const tool = withPlainRoot({ type: 'function', name: 'f', description: 'Does.', parameters })
  return { parameters: tool.parameters, description: tool.description ?? '' }
}

describe('a root', () => {
  test('of alternatives has the members of all, and says which belong together', () => {
    const anyOf = [
      shape('circle', { radius: number }, ['radius']),
      shape('square', { side: number, color: text }, ['side']),
    ]
    for (const name of ['anyOf', 'oneOf']) {
      expect(plain({ [name]: anyOf })).toEqual({
        parameters: {
          type: 'object',
          properties: {
            kind: { type: 'string', enum: ['circle', 'square'] },
            radius: number,
            side: number,
            color: text,
          },
          required: ['kind'],
          additionalProperties: false,
        },
        description:
          'Does.\nThe arguments must have the members of one of: ' +
          '{kind: "circle", radius}, {kind: "square", side, color?}.',
      })
    }
  })

  test('whose alternatives only require members keeps its own', () => {
    const own = { type: 'object', properties: { id: text, name: text, at: number } }
    const anyOf = [{ required: ['id'] }, { required: ['name'] }]
    expect(plain({ ...own, required: ['at'], anyOf })).toEqual({
      parameters: { ...own, required: ['at'] },
      description: 'Does.\nThe arguments must have the members of one of: {id}, {name}.',
    })
  })

  test('of all its parts is their intersection, one by reference is what it refers to', () => {
    const $defs = {
      a: { type: 'object', properties: { a: text, c: { $ref: '#/$defs/c' } }, required: ['a'] },
      c: number,
    }
    const [a, c] = [text, { $ref: '#/$defs/c' }]
    const b = { properties: { b: number }, required: ['b'] }
    expect(plain({ $defs, allOf: [{ $ref: '#/$defs/a' }, b] }).parameters).toEqual({
      $defs,
      type: 'object',
      properties: { a, c, b: number },
      required: ['b', 'a'],
    })
    expect(plain({ $defs, $ref: '#/$defs/a' }).parameters).toEqual({
      $defs,
      type: 'object',
      properties: { a, c },
      required: ['a'],
    })
  })

  test('of different schemas for one member takes each of them; other types are no arguments', () => {
    const of = (x: JsonObject): JsonObject => ({ type: 'object', properties: { x } })
    expect(plain({ anyOf: [of(text), of(number), { type: 'null' }, text] }).parameters).toEqual({
      type: 'object',
      properties: { x: { anyOf: [text, number] } },
    })
  })

  test('that forbids says so to the model, and one that refers to itself ends', () => {
    const not = { required: ['a', 'b'] }
    expect(plain({ type: 'object', properties: {}, not })).toEqual({
      parameters: { type: 'object', properties: {} },
      description: `Does.\nThe arguments must not match ${JSON.stringify(not)}.`,
    })
    expect(plain({ anyOf: [{ $ref: '#' }] }).parameters).toEqual({
      type: 'object',
      properties: {},
    })
  })

  test('that describes more than anybody can read is answered at once', () => {
    const circular = { type: 'object', anyOf: Array.from({ length: 20 }, () => ({ $ref: '#' })) }
    expect(plain(circular).parameters).toEqual({ type: 'object', properties: {} })
    const inner = { anyOf: Array.from({ length: 20 }, () => ({ $ref: '#/$defs/b' })) }
    const deep = { anyOf: Array.from({ length: 20 }, () => ({ $ref: '#/$defs/a' })) }
    const $defs = { a: inner, b: { anyOf: Array.from({ length: 20 }, () => shape('c', {})) } }
    expect(plain({ ...deep, $defs }).parameters).toMatchObject({ type: 'object' })
    const names = Array.from({ length: 10_000 }, (_, at) => `n${at}`)
    const wide = { type: 'object', required: names }
    expect(plain({ anyOf: [wide, wide] }).parameters).toMatchObject({ required: names })
    const members = {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, {}])),
    }
    const all = Array.from({ length: 8_000 }, (_, at) => ({ properties: { [`m${at}`]: {} } }))
    expect(plain({ allOf: [members, ...all] }).parameters).toMatchObject({ type: 'object' })
  })

  test('that is plain is not touched', () => {
    const tool = { type: 'function', name: 'f', parameters: shape('a', {}) } as const
    expect(withPlainRoot(tool)).toBe(tool)
  })
})

test('whatever the composed schema allows, the plain one allows too', () => {
  const ajv = new Ajv({ strict: false })
  const names = fc.constantFrom('a', 'b', 'c')
  const leaf = fc.constantFrom<JsonObject>(text, number, { const: 1 }, { enum: ['x', 1] }, {})
  const object = fc.record(
    {
      type: fc.constant('object'),
      properties: fc.dictionary(names, leaf),
      required: fc.uniqueArray(names),
      // An alternative counts as having only the members that it names.
      additionalProperties: fc.constant(false),
    },
    { requiredKeys: ['additionalProperties'] },
  )
  const branches = fc.array(object, { minLength: 1, maxLength: 3 })
  const schemas = fc.oneof(
    fc.tuple(object, branches).map(([base, anyOf]) => ({ ...base, anyOf })),
    fc.tuple(object, branches).map(([base, oneOf]) => ({ ...base, oneOf })),
    branches.map((allOf) => ({ allOf })),
    fc.tuple(branches, branches).map(([anyOf, oneOf]) => ({ anyOf: [{ oneOf }, ...anyOf] })),
  )
  const values = fc.array(fc.dictionary(names, fc.constantFrom<unknown>('x', 1, 2, null)))
  fc.assert(
    fc.property(schemas, values, (schema, list) => {
      const [before, after] = [schema, plain(schema as JsonObject).parameters as object].map(
        (each) => ajv.compile(each),
      )
      for (const value of list) if (before?.(value)) expect(after?.(value)).toBe(true)
    }),
    { numRuns: 50 },
  )
})

describe('vendors that refuse a composed root', () => {
  const tool: Tool = {
    type: 'function',
    name: 'f',
    parameters: { anyOf: [shape('a', {}), shape('b', {})] },
    extra: { gemini: {} },
  }
  const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] }]
  const request = { model: 'm', messages, stream: false, tools: [tool], maxOutputTokens: 9 }
  const expected = { type: 'object', properties: { kind: { enum: ['a', 'b'] } } }
  const description = expect.stringContaining('one of: {kind: "a"}, {kind: "b"}')

  test.each([
    [
      'openai-chat',
      chatHub,
      { tools: [{ function: { name: 'f', description, parameters: expected } }] },
    ],
    ['openai-responses', responsesHub, { tools: [{ description, parameters: expected }] }],
    ['anthropic-messages', messagesHub, { tools: [{ description, input_schema: expected }] }],
    [
      'bedrock-converse',
      bedrockConverse.vendor.hub,
      { toolConfig: { tools: [{ toolSpec: { description, inputSchema: { json: expected } } }] } },
    ],
  ])('%s gets a plain one', (_, hub, body) => {
    const { value } = hub.encodeRequest(request, 'claude-sonnet-4-5')
    expect(value).toMatchObject(body)
    expect(JSON.stringify(value)).not.toContain('anyOf')
  })
})
