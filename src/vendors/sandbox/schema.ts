// The smallest value that satisfies a JSON Schema's required properties; for tool calls and structured output.

import type { JsonObject, JsonValue } from '../../wire/ir.ts'
import { isObject, listOf, setMember } from '../../wire/json/value.ts'

/** Schemas nested deeper, or recursively, end in null. */
const maxDepth = 16
/** Behind this many characters of names and constants all values are null: a short schema can describe billions. */
const maxCharacters = 100_000

interface Making {
  readonly root: JsonObject
  /** Characters that names and constants may still have; each value and each required name counts as one more. */
  left: number
}

function resolved(reference: string, root: JsonObject): JsonValue | undefined {
  let value: JsonValue | undefined = root
  for (const raw of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    if (!isObject(value)) return undefined
    value = value[raw.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return value
}

function objectOf(schema: JsonObject, making: Making, depth: number): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = listOf(schema.required)
  const names = required.filter((name) => typeof name === 'string')
  making.left -= names.length
  const made: JsonObject = {}
  for (const name of new Set(names)) {
    setMember(made, name, valueOf(properties[name], making, name, depth + 1))
  }
  return made
}

function arrayOf(schema: JsonObject, making: Making, name: string, depth: number): JsonValue[] {
  const least = typeof schema.minItems === 'number' ? Math.min(schema.minItems, 100) : 0
  return Array.from({ length: least }, () => valueOf(schema.items, making, name, depth + 1))
}

function numberOf(schema: JsonObject): number {
  const { minimum, maximum } = schema
  if (typeof minimum === 'number') return minimum
  return typeof maximum === 'number' && maximum < 1 ? maximum : 1
}

function stringOf(schema: JsonObject, name: string): string {
  const least = typeof schema.minLength === 'number' ? Math.min(schema.minLength, 1000) : 0
  return `sandbox ${name}`.trim().padEnd(least, '.')
}

function typeOf(schema: JsonObject): string {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (typeof type === 'string') return type
  return isObject(schema.properties) ? 'object' : 'string'
}

/** A deterministic value for `schema`. */
export function example(schema: JsonObject): JsonValue {
  return valueOf(schema, { root: schema, left: maxCharacters }, '', 0)
}

/** `name` is the property that the value belongs to. */
function valueOf(
  schema: JsonValue | undefined,
  making: Making,
  name: string,
  depth: number,
): JsonValue {
  making.left -= name.length + 1
  if (depth > maxDepth || making.left < 0) return null
  if (!isObject(schema)) return `sandbox ${name}`.trim()
  if (typeof schema.$ref === 'string')
    return valueOf(resolved(schema.$ref, making.root), making, name, depth + 1)
  const [given] = schema.const === undefined ? listOf(schema.enum) : [schema.const]
  if (given !== undefined) {
    making.left -= JSON.stringify(given).length
    return making.left < 0 ? null : given
  }
  const branches = schema.anyOf ?? schema.oneOf
  if (Array.isArray(branches)) return valueOf(branches[0], making, name, depth + 1)
  switch (typeOf(schema)) {
    case 'object':
      return objectOf(schema, making, depth)
    case 'array':
      return arrayOf(schema, making, name, depth)
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return stringOf(schema, name)
  }
}
