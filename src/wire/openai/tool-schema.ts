// The schema of a function's arguments as OpenAI takes it.

import type { JsonObject } from '../ir.ts'
import { isObject } from '../json/value.ts'

const composed = ['$ref', 'anyOf', 'oneOf', 'allOf']

/**
 * Where an object's schema names no properties, it says so: OpenAI refuses it else ("object schema missing properties",
 * "schema must be a JSON Schema of 'type: \"object\"'"), and other formats' clients leave both members out.
 */
export function toolSchema(schema: JsonObject): JsonObject {
  const { type = 'object', properties } = schema
  if (type !== 'object' || isObject(properties)) return schema
  if (composed.some((name) => schema[name] !== undefined)) return schema
  return { ...schema, type, properties: {} }
}
