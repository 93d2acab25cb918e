// Values for a JSON Schema of an OpenAPI document: allowed, nearly allowed, and malicious ones.

import fc from 'fast-check'
import type { Described, Json, JsonObject } from './openapi.ts'

/** Below this depth only values without members are generated. */
const deepest = 5
const textsAtMost = 40

/** Invalid bytes, other alphabets, and characters with a special meaning somewhere. */
const oddTexts = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\uffff\ufffe',
  '\u202eabc\u2066',
  'ÄÖ日本語🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  '__proto__',
  'constructor',
  'null',
  'NaN',
  '-1',
  '1e999',
  '9'.repeat(400),
  '../../etc/passwd',
  "'; DROP TABLE accounts; --",
  '<script>alert(1)</script>',
  '%00%ff%2f',
  '{{7*7}}${7*7}',
  '\r\nx-injected: 1',
  'a'.repeat(70_000),
  '2026-02-30T25:61:61Z',
  'req_',
] as const

const oddNumbers = [0, -0, -1, 0.1, 1e21, -1e21, 1e308, 2 ** 53, -(2 ** 63), 5e-324] as const

const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: textsAtMost }),
  fc.string({ maxLength: textsAtMost }),
)

export const oddText: fc.Arbitrary<string> = fc.oneof(fc.constantFrom(...oddTexts), text)

function nested(depth: number): Json {
  let value: Json = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

/** Any JSON at all, and some that is too large. */
export const oddValue: fc.Arbitrary<Json> = fc.oneof(
  oddText,
  fc.constantFrom<Json>(...oddNumbers),
  fc.constantFrom<Json>(null, true, false, [], {}, [[]], [null], nested(60), nested(70)),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
  fc.constant<Json>(Array.from({ length: 3_000 }, (_, at) => at)),
)

/** Values that the schema allows, ignoring rules that concern several members at once. */
export function allowedBy(
  described: Described,
  schema: Json | undefined,
  depth = 0,
): fc.Arbitrary<Json> {
  const { const: only, enum: words, type, ...rest } = described.resolved(schema)
  if (only !== undefined) return fc.constant(only)
  if (Array.isArray(words)) return fc.constantFrom(...(words as Json[]))
  const choices = (rest['anyOf'] ?? rest['oneOf']) as readonly Json[] | undefined
  if (choices !== undefined && rest['properties'] === undefined)
    return fc.oneof(...choices.map((choice) => allowedBy(described, choice, depth + 1)))
  const all = rest['allOf'] as readonly Json[] | undefined
  if (all !== undefined)
    return fc
      .tuple(...all.map((part) => allowedBy(described, part, depth)))
      .map((parts) => Object.assign({}, ...parts) as Json)
  const types = Array.isArray(type) ? type : [type ?? 'any']
  return fc.oneof(...types.map((one) => ofType(described, String(one), rest, depth)))
}

function ofType(
  described: Described,
  type: string,
  schema: JsonObject,
  depth: number,
): fc.Arbitrary<Json> {
  const bound = (name: string, usual: number) => Number(schema[name] ?? usual)
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({
        min: bound('minimum', -5),
        max: Math.min(bound('maximum', 2 ** 31 - 1), 2 ** 31 - 1),
      })
    case 'number':
      return fc.double({ min: bound('minimum', -1e6), max: bound('maximum', 1e6), noNaN: true })
    case 'string':
      return textBy(schema)
    case 'array': {
      const minLength = bound('minItems', 0)
      const maxLength = Math.max(minLength, Math.min(bound('maxItems', 3), depth > deepest ? 0 : 3))
      return fc.array(allowedBy(described, schema['items'], depth + 1), {
        minLength,
        maxLength,
      }) as fc.Arbitrary<Json>
    }
    case 'object':
      return objectBy(described, schema, depth)
    default:
      return fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>
  }
}

/** By format, if a pattern expresses the same in a more complicated way. */
const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'date-time': fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
    .map((date) => date.toISOString()),
  date: fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
    .map((date) => date.toISOString().slice(0, 10)),
  uuid: fc.uuid(),
  email: fc.emailAddress(),
  uri: fc.webUrl(),
}

function textBy({ pattern, format, minLength, maxLength }: JsonObject): fc.Arbitrary<string> {
  const known = formats[String(format)]
  if (known !== undefined) return known
  // Patterns with look-around cannot be generated.
  if (typeof pattern === 'string' && !/\(\?<?[=!]/.test(pattern))
    return fc.stringMatching(new RegExp(pattern))
  if (minLength === undefined && maxLength === undefined) return text
  const least = Number(minLength ?? 0)
  const most = Math.max(least, Math.min(Number(maxLength ?? textsAtMost), textsAtMost))
  return fc.string({ minLength: least, maxLength: most })
}

/** Optional members are chosen a few at a time, since each may cause a refusal of the rest; seldom many. */
export function someOf<Value extends Json>(
  members: Readonly<Record<string, fc.Arbitrary<Value>>>,
  required: readonly string[],
): fc.Arbitrary<Readonly<Record<string, Value>>> {
  const optional = Object.keys(members).filter((name) => !required.includes(name))
  const few = fc.subarray(optional, { maxLength: Math.min(2, optional.length) })
  const kept = fc.oneof(
    { weight: 4, arbitrary: few },
    { weight: 1, arbitrary: fc.subarray(optional) },
  )
  return kept.chain((names) =>
    fc.record(
      Object.fromEntries(
        Object.entries(members).filter(([name]) => required.includes(name) || names.includes(name)),
      ),
    ),
  )
}

function objectBy(described: Described, schema: JsonObject, depth: number): fc.Arbitrary<Json> {
  const properties = (schema['properties'] ?? {}) as JsonObject
  const required = ((schema['required'] ?? []) as readonly string[]).filter(
    (name) => name in properties,
  )
  const members = Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name) || depth <= deepest)
      .map(([name, member]) => [name, allowedBy(described, member, depth + 1)]),
  )
  return someOf(members, required)
}

/** The same with one place changed: removed, another value, or more than is known. */
export function nearly(value: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc
    .tuple(value, fc.nat(), oddValue, fc.constantFrom('set', 'drop', 'add'))
    .map(([base, at, odd, how]) => {
      const places = placesOf(base)
      const place = places[at % places.length] ?? []
      return changed(base, place, how, odd)
    })
}

/** Paths to all values within one, itself first. */
function placesOf(value: Json, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inside = Object.entries(value).flatMap(([name, member]) =>
    placesOf(member ?? null, [...path, name]),
  )
  return [path, ...inside.slice(0, 200)]
}

function changed(value: Json, [name, ...rest]: readonly string[], how: string, odd: Json): Json {
  if (name === undefined)
    return how === 'add' && isRecord(value)
      ? { ...value, [String(JSON.stringify(odd)).slice(0, 20)]: odd }
      : odd
  if (Array.isArray(value)) {
    const list = value as readonly Json[]
    if (how === 'drop' && rest.length === 0) return list.filter((_, at) => String(at) !== name)
    return list.map((one, at) => (String(at) === name ? changed(one, rest, how, odd) : one))
  }
  if (!isRecord(value)) return odd
  const { [name]: old, ...others } = value
  if (how === 'drop' && rest.length === 0) return others
  return { ...others, [name]: changed(old ?? null, rest, how, odd) }
}

function isRecord(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
