// Converts Google's `Schema` to JSON Schema, for tools and response formats that go to other vendors.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, objectsIn, setMember, stringOf } from '../json/value.ts'
import { membersOf, numberOf } from './fields.ts'

/** 64-bit numbers, which ProtoJSON may write as strings. */
const counts: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])

/** The type in lower case; null where the schema has none (API reference, `Schema`). */
function typeOf(value: JsonValue | undefined, nullable: boolean): JsonValue | null {
  const type = stringOf(value).toLowerCase()
  if (type === '' || type === 'type_unspecified') return null
  return nullable && type !== 'null' ? [type, 'null'] : type
}

/** Google writes numbers in an enum as strings. */
function enumOf(values: JsonValue, type: string, nullable: boolean): JsonValue {
  if (!Array.isArray(values)) return values
  const numeric = type === 'integer' || type === 'number'
  const written = values.map((value) => (numeric ? (numberOf(value) ?? value) : value))
  return nullable && !written.includes(null) ? [...written, null] : written
}

export function jsonSchemaOf(raw: JsonObject): JsonObject {
  const schema = membersOf(raw)
  const nullable = schema['nullable'] === true
  const type = stringOf(schema['type']).toLowerCase()
  const written: JsonObject = {}
  for (const [name, value] of Object.entries(schema)) {
    if (value === undefined || name === 'nullable' || name === 'propertyOrdering') continue
    if (name === 'type') {
      const types = typeOf(value, nullable)
      if (types !== null) written['type'] = types
    } else if (name === 'format') {
      // Google's own format, which repeats what `enum` says.
      if (value !== 'enum') written['format'] = value
    } else if (name === 'enum') written['enum'] = enumOf(value, type, nullable)
    else if (name === 'items' && isObject(value)) written['items'] = jsonSchemaOf(value)
    else if (name === 'anyOf') {
      const choices = objectsIn(value).map(jsonSchemaOf)
      written['anyOf'] = nullable && type === '' ? [...choices, { type: 'null' }] : choices
    } else if (name === 'properties' && isObject(value)) written['properties'] = propertiesOf(value)
    else if (name === 'example') written['examples'] = [value]
    else setMember(written, name, counts.has(name) ? (numberOf(value) ?? value) : value)
  }
  return written
}

function propertiesOf(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, value]) =>
      isObject(value) ? [[name, jsonSchemaOf(value)]] : [],
    ),
  )
}
