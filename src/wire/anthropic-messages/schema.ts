// Restricts JSON Schema to what Anthropic's constrained decoding accepts ("Structured outputs", schema limitations).

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject } from '../json/value.ts'

/** Constraints it refuses: moved into the description, where the model reads them. */
const bounds: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'contains',
  'propertyNames',
  'not',
])
const formats: ReadonlySet<string> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
])
const asTheyAre = [
  '$ref',
  '$id',
  '$schema',
  'title',
  'default',
  'const',
  'enum',
  'type',
  'required',
]
const maps: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])
const lists: ReadonlyMap<string, string> = new Map(
  Object.entries({ anyOf: 'anyOf', oneOf: 'anyOf', allOf: 'allOf' }),
)

/** The schema without refused keywords; objects get no additional properties, as constrained decoding requires. */
export function constrained(schema: JsonObject): JsonObject {
  const kept: JsonObject = {}
  const said: string[] = []
  for (const [name, value] of Object.entries(schema)) {
    const list = lists.get(name)
    if (value === undefined) continue
    if (asTheyAre.includes(name)) kept[name] = value
    else if (maps.has(name) && isObject(value)) kept[name] = mapped(value)
    else if (list !== undefined && Array.isArray(value)) kept[list] = value.map(within)
    else if (name === 'items') kept[name] = Array.isArray(value) ? value.map(within) : within(value)
    else if (name === 'format' && formats.has(String(value))) kept[name] = value
    else if (bounds.has(name) || name === 'format') said.push(`${name}: ${JSON.stringify(value)}`)
  }
  const described = typeof schema.description === 'string' ? [schema.description] : []
  if (described.length + said.length > 0) kept['description'] = [...described, ...said].join('\n')
  if (isOfObjects(schema)) kept['additionalProperties'] = false
  return kept
}

function within(value: JsonValue): JsonValue {
  return isObject(value) ? constrained(value) : value
}

function mapped(schemas: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, value]) => [name, within(value ?? null)]),
  )
}

function isOfObjects({ type, properties }: JsonObject): boolean {
  return (
    type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(properties)
  )
}

/** Whether constrained decoding can enforce the schema: arbitrary members and recursion are not supported. */
export function isExpressible(schema: JsonObject): boolean {
  return !isOpen(schema) && !isRecursive(schema)
}

function isOpen(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(isOpen)
  if (!isObject(value)) return false
  const { additionalProperties: more, patternProperties: patterned } = value
  if (more === true || (isObject(more) && more !== null) || isObject(patterned)) return true
  const bare = value.type === 'object' && value.properties === undefined && more !== false
  const refers = value.$ref !== undefined || value.anyOf !== undefined || value.allOf !== undefined
  return (bare && !refers) || Object.values(value).some(isOpen)
}

/** The decoding refuses a schema that holds itself. */
export function isRecursive(root: JsonObject): boolean {
  const open = new Set<string>()
  /** References that were followed to their end: each is followed once. */
  const done = new Set<string>()
  const visit = (value: JsonValue | undefined): boolean => {
    if (Array.isArray(value)) return value.some(visit)
    if (!isObject(value)) return false
    const { $ref: ref } = value
    if (typeof ref === 'string') {
      if (open.has(ref) || ref === '#') return true
      if (done.has(ref)) return false
      open.add(ref)
      const isFound = visit(referred(root, ref))
      open.delete(ref)
      done.add(ref)
      return isFound
    }
    return Object.entries(value).some(
      ([name, each]) => name !== '$defs' && name !== 'definitions' && visit(each),
    )
  }
  return visit(root)
}

/** Resolves `#/$defs/name` in the schema. */
function referred(root: JsonObject, ref: string): JsonValue | undefined {
  let found: JsonValue | undefined = root
  for (const name of ref.replace(/^#\//, '').split('/')) {
    found = isObject(found) ? found[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  }
  return found
}

/** A schema of tool input, whose type must be object. */
export function inputSchema(parameters: JsonObject | undefined): JsonObject {
  if (parameters === undefined) return { type: 'object', properties: {} }
  return parameters.type === undefined ? { type: 'object', ...parameters } : parameters
}
