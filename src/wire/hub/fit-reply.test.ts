// Tests replies that are not objects: requested inside an object and taken out of it.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChatEvent, ChatRequest, JsonObject } from '../ir.ts'
import { fitReply, restorersOf } from './fit-reply.ts'

function asking(schema: JsonObject): ChatRequest {
  const responseFormat = { type: 'schema', name: 'response', schema } as const
  return { model: 'm', messages: [], stream: true, responseFormat }
}

function fitted(schema: JsonObject): { schema: unknown; wrapped: boolean } {
  const { request, wrapped } = fitReply(asking(schema))
  const { responseFormat: format } = request
  return { schema: format?.type === 'schema' ? format.schema : null, wrapped }
}

const inside = (value: JsonObject, more: JsonObject = {}) => ({
  schema: {
    type: 'object',
    properties: { value },
    required: ['value'],
    additionalProperties: false,
    ...more,
  },
  wrapped: true,
})

const text = { type: 'string' }

describe('the schema', () => {
  test.each<JsonObject>([
    { type: 'array', items: text },
    { type: 'string', enum: ['a', 'b'] },
    { type: ['object', 'null'], properties: {} },
    { anyOf: [{ type: 'object', properties: { a: text } }, { type: 'null' }] },
    {},
  ])('%j is that of a member', (schema) => {
    expect(fitted(schema)).toEqual(inside(schema))
  })

  test('of an object stays as it is', () => {
    for (const schema of [{ type: 'object', properties: { a: text } }, { type: 'object' }]) {
      const request = asking(schema)
      expect(fitReply(request)).toEqual({ request, wrapped: false })
    }
  })

  test('of an object that does not say so, or only refers to one, says so', () => {
    const properties = { a: text, next: { $ref: '#/$defs/node' } }
    const $defs = { node: { properties } }
    expect(fitted({ $ref: '#/$defs/node', $defs })).toEqual({
      schema: { type: 'object', properties, $defs },
      wrapped: false,
    })
  })

  test('keeps its references', () => {
    const $defs = { leaf: { type: 'array', items: { $ref: '#/$defs/leaf' } } }
    const items = { anyOf: [{ $ref: '#/$defs/leaf' }, { $ref: '#' }, { $ref: '#/items' }] }
    const moved = {
      anyOf: [
        { $ref: '#/$defs/leaf' },
        { $ref: '#/properties/value' },
        { $ref: '#/properties/value/items' },
      ],
    }
    expect(fitted({ type: 'array', items, $defs })).toEqual(
      inside({ type: 'array', items: moved }, { $defs }),
    )
  })
})

const at = { choice: 0, part: 0 }

/** The text that the client gets of a vendor's text in these pieces. */
function shown(pieces: readonly string[]): string {
  const [unwrapper] = restorersOf(
    { request: asking({}), dropped: [], calls: null, wrapped: true },
    false,
  )
  const events: ChatEvent[] = [
    { type: 'part-start', ...at, head: { type: 'text' } },
    ...pieces.map((piece): ChatEvent => ({ type: 'part-delta', ...at, text: piece })),
    { type: 'part-end', ...at },
  ]
  const out = events.flatMap((event) => unwrapper?.event(event) as ChatEvent | ChatEvent[])
  expect([out[0], out.at(-1)]).toEqual([events[0] as ChatEvent, events.at(-1) as ChatEvent])
  return out.map((event) => (event.type === 'part-delta' ? event.text : '')).join('')
}

describe('the text', () => {
  test('is the value, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.nat(400)), fc.boolean(), (value, cuts, spaced) => {
        const json = JSON.stringify({ value }, null, spaced ? 2 : 0)
        const places = [0, ...cuts.map((each) => each % (json.length + 1)).sort((a, b) => a - b)]
        const pieces = places.map((from, index) => json.slice(from, places[index + 1]))
        const said = shown([...pieces, '\n'])
        expect(JSON.parse(said)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(said.trim()).toBe(said)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    [['{"value":["a', '"'], '["a"'],
    [['["a"', ']'], '["a"]'],
    [['{"va', 'lues":[]}'], '{"values":[]}'],
    [['{"value"'], '{"value"'],
    [['I cannot.'], 'I cannot.'],
    [['{"value":1,"more":2}'], '1'],
    [[], ''],
  ])('%j is shown as %j', (pieces, expected) => {
    expect(shown(pieces)).toBe(expected)
  })

  test('of reasoning and of calls is not touched', () => {
    const [unwrapper] = restorersOf(
      { request: asking({}), dropped: [], calls: null, wrapped: true },
      false,
    )
    const delta: ChatEvent = { type: 'part-delta', ...at, text: '{"value":1}' }
    const head = { type: 'tool-call', id: 'c', name: 'f' } as const
    for (const event of [{ type: 'part-start', ...at, head } as const, delta]) {
      expect(unwrapper?.event(event)).toBe(event)
    }
  })
})
