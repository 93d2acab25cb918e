// Tests that any schema becomes one that Google accepts and that still accepts all values of the original.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../ir.ts'
import { jsonSchemaOf } from './json-schema.ts'
import { asksNothing, schemaOf } from './schema.ts'

const allowed = new Set([
  ...[
    'type',
    'format',
    'title',
    'description',
    'nullable',
    'enum',
    'items',
    'minItems',
    'maxItems',
  ],
  ...['properties', 'required', 'propertyOrdering', 'minLength', 'maxLength', 'minProperties'],
  ...['maxProperties', 'minimum', 'maximum', 'pattern', 'anyOf'],
])

function object(value: JsonValue | undefined): JsonObject {
  return value as JsonObject
}

/** What Google would refuse in a schema, by its reference; empty if it refuses nothing. */
function refusals(schema: JsonObject, path = '$'): string[] {
  const found = Object.keys(schema).flatMap((name) =>
    allowed.has(name) ? [] : [`${path}.${name}`],
  )
  const branches = schema['anyOf']
  if (branches !== undefined) {
    if (Object.keys(schema).length > 1) found.push(`${path}: anyOf beside others`)
    const inner = branches as JsonObject[]
    return [...found, ...inner.flatMap((each, at) => refusals(each, `${path}.anyOf[${at}]`))]
  }
  if (typeof schema['type'] !== 'string') found.push(`${path}: no type`)
  const values = schema['enum'] as JsonValue[] | undefined
  if (values !== undefined) {
    if (schema['type'] !== 'STRING') found.push(`${path}: enum of ${schema['type']}`)
    if (!values.every((value) => typeof value === 'string' && value !== ''))
      found.push(`${path}: enum value`)
  }
  if (schema['type'] === 'ARRAY' && schema['items'] === undefined) found.push(`${path}: no items`)
  const properties = object(schema['properties'] ?? {})
  for (const name of (schema['required'] ?? []) as string[])
    if (!Object.hasOwn(properties, name)) found.push(`${path}: required ${name}`)
  for (const [name, each] of Object.entries(properties))
    found.push(...refusals(object(each), `${path}.${name}`))
  if (schema['items'] !== undefined) found.push(...refusals(object(schema['items']), `${path}[]`))
  return found
}

/** Whether a value fits a schema of Google's, by the literal meaning of its keywords. */
function takes(schema: JsonObject, value: JsonValue): boolean {
  const branches = schema['anyOf'] as JsonObject[] | undefined
  if (branches !== undefined) return branches.some((each) => takes(each, value))
  if (value === null) return schema['nullable'] === true
  const fits: Record<string, () => boolean> = {
    STRING: () => typeof value === 'string',
    NUMBER: () => typeof value === 'number',
    INTEGER: () => Number.isInteger(value),
    BOOLEAN: () => typeof value === 'boolean',
    ARRAY: () => Array.isArray(value),
    OBJECT: () => typeof value === 'object' && !Array.isArray(value),
  }
  if (!fits[String(schema['type'])]?.()) return false
  const values = schema['enum'] as JsonValue[] | undefined
  if (values !== undefined && !values.includes(value)) return false
  if (typeof value === 'number') {
    const { minimum = -Infinity, maximum = Infinity } = schema
    return value >= Number(minimum) && value <= Number(maximum)
  }
  if (Array.isArray(value)) return value.every((each) => takes(object(schema['items']), each))
  if (typeof value !== 'object') return true
  const properties = object(schema['properties'] ?? {})
  const needed = (schema['required'] ?? []) as string[]
  if (!needed.every((name) => Object.hasOwn(value, name))) return false
  return Object.entries(value).every(
    ([name, each]) =>
      !Object.hasOwn(properties, name) || takes(object(properties[name]), each ?? null),
  )
}

/** A schema with a value that it accepts. */
interface Sample {
  readonly schema: JsonObject
  readonly value: JsonValue
}

const scalar: fc.Arbitrary<Sample> = fc.oneof(
  fc
    .string()
    .map((value) => ({ schema: { type: 'string', format: 'email', $comment: 'x' }, value })),
  fc.integer().map((value) => ({ schema: { type: 'integer', multipleOf: 1 }, value })),
  fc
    .integer({ min: 6 })
    .map((value) => ({ schema: { type: 'number', exclusiveMinimum: 5 }, value })),
  fc.boolean().map((value) => ({ schema: { type: 'boolean' }, value })),
  fc
    .constantFrom<JsonValue>('a', 1, true, null)
    .map((value) => ({ schema: { const: value }, value })),
  fc
    .constantFrom<JsonValue>('a', 2, false, null, 'b')
    .map((value) => ({ schema: { enum: ['a', 2, false, null, 'b'], description: 'd' }, value })),
  fc
    .oneof(fc.string(), fc.integer(), fc.constant(null))
    .map((value) => ({ schema: { type: ['string', 'integer', 'null'] }, value })),
  fc
    .constantFrom<JsonValue>(1, 2, 3)
    .map((value) => ({ schema: { type: 'integer', enum: [1, 2, 3] }, value })),
)

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie('sample'), { minLength: 1, maxLength: 3 }).map((list) => ({
      schema: { type: 'array', prefixItems: list.map(({ schema }) => schema), uniqueItems: true },
      value: list.map(({ value }) => value),
    })),
    fc.tuple(tie('sample'), tie('sample')).map(([one, other]) => ({
      schema: { oneOf: [one.schema, other.schema], title: 't', not: { const: 'never' } },
      value: other.value,
    })),
    fc.tuple(tie('sample'), tie('sample')).map(([one, other]) => ({
      schema: { anyOf: [one.schema, { type: 'null' }, other.schema], description: 'd' },
      value: one.value,
    })),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('sample')).map((fields) => ({
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(fields).map(([name, each]) => [name, each.schema]),
        ),
        required: Object.keys(fields),
        additionalProperties: false,
        patternProperties: { '^x': { type: 'string' } },
      },
      value: Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, each.value])),
    })),
    fc.tuple(tie('sample'), tie('sample')).map(([one, other]) => ({
      schema: {
        allOf: [
          { type: 'object', properties: { a: one.schema }, required: ['a'] },
          { properties: { b: other.schema } },
        ],
      },
      value: { a: one.value, b: other.value },
    })),
  ),
}))

describe('W41: only keywords of Google come out', () => {
  test('and what the schema took is taken still', () => {
    fc.assert(
      fc.property(sample, ({ schema, value }) => {
        const made = schemaOf(schema)
        expect(refusals(made)).toEqual([])
        expect(takes(made, value)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('of anything at all', () => {
    const words = [
      'type',
      '$ref',
      'anyOf',
      'allOf',
      'enum',
      'const',
      'items',
      'properties',
      'required',
    ]
    const junk = fc.dictionary(fc.constantFrom(...words), fc.jsonValue({ maxDepth: 3 }))
    fc.assert(
      fc.property(junk, (schema) => {
        expect(refusals(schemaOf(schema as JsonObject))).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test.each(['__proto__', 'constructor'])('type %s is no type', (type) => {
    expect(schemaOf({ type })).toEqual({ type: 'STRING', nullable: true })
  })

  test.each(['__proto__', 'constructor'])('a property may be called %s', (name) => {
    const properties = Object.fromEntries([[name, { type: 'string' }]])
    const { properties: written, required } = schemaOf({ properties, required: [name] })
    expect(Object.entries(written ?? {})).toEqual([[name, { type: 'STRING' }]])
    expect(required).toEqual([name])
    expect(jsonSchemaOf({ properties: written })).toEqual({ properties })
  })

  test('a reference is put in place, one that circles is cut', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: { head: { $ref: '#/$defs/node', description: 'the first' } },
      $defs: {
        node: {
          type: 'object',
          properties: { value: { type: 'integer' }, next: { $ref: '#/$defs/node' } },
          required: ['value'],
        },
      },
    }
    const made = schemaOf(schema)
    expect(refusals(made)).toEqual([])
    const list = { head: { value: 1, next: { value: 2, next: { value: 3 } } } }
    expect(takes(made, list)).toBe(true)
    expect(takes(made, { head: { value: 'no' } })).toBe(false)
    expect(object(object(made['properties'])['head'])['description']).toBe('the first')
  })

  test('references that unfold without end stay small', () => {
    const names = Array.from({ length: 30 }, (_, at) => `d${at}`)
    const definitions = Object.fromEntries(
      names.map((name, at) => [
        name,
        {
          type: 'object',
          properties: { l: { $ref: `#/$defs/d${at + 1}` }, r: { $ref: `#/$defs/d${at + 1}` } },
        },
      ]),
    )
    const made = schemaOf({ $ref: '#/$defs/d0', $defs: definitions })
    expect(JSON.stringify(made).length).toBeLessThan(2_000_000)
    expect(refusals(made)).toEqual([])
  })

  test('a name from the prototype is a property like any other', () => {
    const made = schemaOf({ type: 'object', properties: { constructor: { type: 'string' } } })
    expect(object(made['properties'])['constructor']).toEqual({ type: 'STRING' })
    expect(refusals(schemaOf({ $ref: '#/constructor' }))).toEqual([])
  })
})

test('W42: nothing stands beside anyOf', () => {
  const made = schemaOf({
    description: 'an id',
    anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }],
  })
  expect(made).toEqual({
    anyOf: [
      { type: 'STRING', description: 'an id', nullable: true },
      { type: 'INTEGER', description: 'an id', nullable: true },
    ],
  })
})

test('a type or nothing is the type, nullable', () => {
  expect(schemaOf({ type: ['string', 'null'] })).toEqual({ type: 'STRING', nullable: true })
  expect(schemaOf({ anyOf: [{ type: 'string' }, { type: 'null' }] })).toEqual({
    type: 'STRING',
    nullable: true,
  })
})

test('numbers to choose from are bounds and words: only texts may be enumerated', () => {
  expect(schemaOf({ type: 'integer', enum: [3, 1, 2], description: 'how many' })).toEqual({
    type: 'INTEGER',
    description: 'how many One of: 3, 1, 2.',
    minimum: 1,
    maximum: 3,
  })
})

test('a schema of no argument is known', () => {
  expect(asksNothing({ type: 'object', properties: {} })).toBe(true)
  expect(asksNothing({})).toBe(true)
  expect(asksNothing({ type: 'object', properties: { a: {} } })).toBe(false)
  expect(asksNothing({ $ref: '#/$defs/a' })).toBe(false)
})
