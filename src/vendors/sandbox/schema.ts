// The smallest value that satisfies a JSON Schema's required properties; for tool calls and structured output.

import type { JsonObject, JsonValue } from '../../wire/ir.ts'
import { isObject, listOf } from '../../wire/json/value.ts'

/** Schemas nested deeper, or recursively, end in null. */
const maxDepth = 16

function resolved(reference: string, root: JsonObject): JsonValue | undefined {
  let value: JsonValue | undefined = root
  for (const raw of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    if (!isObject(value)) return undefined
    value = value[raw.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return value
}

function objectOf(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = listOf(schema.required)
  const names = required.filter((name) => typeof name === 'string')
  return Object.fromEntries(
    names.map((name) => [name, example(properties[name], root, name, depth + 1)]),
  )
}

function arrayOf(schema: JsonObject, root: JsonObject, name: string, depth: number): JsonValue[] {
  const least = typeof schema.minItems === 'number' ? Math.min(schema.minItems, 100) : 0
  return Array.from({ length: least }, () => example(schema.items, root, name, depth + 1))
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

/** A deterministic value for `schema`; `name` is the property that it belongs to. */
export function example(
  schema: JsonValue | undefined,
  root: JsonObject,
  name: string,
  depth = 0,
): JsonValue {
  if (!isObject(schema) || depth > maxDepth)
    return depth > maxDepth ? null : `sandbox ${name}`.trim()
  if (typeof schema.$ref === 'string')
    return example(resolved(schema.$ref, root), root, name, depth + 1)
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum) && schema.enum[0] !== undefined) return schema.enum[0]
  const branches = schema.anyOf ?? schema.oneOf
  if (Array.isArray(branches)) return example(branches[0], root, name, depth + 1)
  switch (typeOf(schema)) {
    case 'object':
      return objectOf(schema, root, depth)
    case 'array':
      return arrayOf(schema, root, name, depth)
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
