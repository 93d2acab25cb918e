// Converts JSON Schema to the subset of Google's `Schema`: never narrower than the original, with no refused keyword.

import { flattened, type Merged, merged } from '../hub/schema-merge.ts'
import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, listOf, objectsIn, setMember, stringOf, stringsIn } from '../json/value.ts'

/** Beyond these limits a schema becomes `anything`: references may expand endlessly. */
const maxDepth = 24
const maxNodes = 3_000

type Type = 'STRING' | 'NUMBER' | 'INTEGER' | 'BOOLEAN' | 'OBJECT' | 'ARRAY'

const types: ReadonlyMap<string, Type> = new Map(
  Object.entries({
    string: 'STRING',
    number: 'NUMBER',
    integer: 'INTEGER',
    boolean: 'BOOLEAN',
    object: 'OBJECT',
    array: 'ARRAY',
  }),
)

/** Formats the API accepts; it answers any other with 400. */
const formats: Readonly<Record<Type, readonly string[]>> = {
  STRING: ['date-time'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
  BOOLEAN: [],
  OBJECT: [],
  ARRAY: [],
}

/** Constraints by type that mean the same in both. */
const bounds: Readonly<Record<Type, readonly string[]>> = {
  STRING: ['minLength', 'maxLength'],
  NUMBER: [],
  INTEGER: [],
  BOOLEAN: [],
  OBJECT: ['minProperties', 'maxProperties'],
  ARRAY: ['minItems', 'maxItems'],
}

interface Walk {
  readonly root: JsonObject
  nodes: number
}

/** Whether the schema has no arguments: the declaration then has no parameters. */
export function asksNothing(schema: JsonObject): boolean {
  const { properties } = schema
  const plain = schema['type'] === 'object' || schema['type'] === undefined
  const composed = ['$ref', 'anyOf', 'oneOf', 'allOf'].some((name) => schema[name] !== undefined)
  const empty = !isObject(properties) || Object.keys(properties).length === 0
  return plain && empty && !composed
}

/** Keywords are those of the API reference, `Schema`; others are left out, which only widens the schema. */
export function schemaOf(schema: JsonObject): JsonObject {
  const walk: Walk = { root: schema, nodes: 0 }
  return convert(schema, walk, [], 0)
}

function convert(
  value: JsonValue | undefined,
  walk: Walk,
  refs: readonly string[],
  depth: number,
): JsonObject {
  walk.nodes++
  if (!isObject(value) || depth > maxDepth || walk.nodes > maxNodes) return anything({}, false)
  const flat = flattened(value, walk.root, refs)
  if (flat === null) return anything({}, false)
  const { schema } = flat
  const branches = branchesOf(schema['anyOf'] ?? schema['oneOf'])
  return branches.length > 0
    ? unionOf(flat, branches, walk, depth)
    : typedOf(flat, typesOf(schema), walk, depth)
}

/** The branches of a union; `true` is the schema of any value. */
function branchesOf(value: JsonValue | undefined): JsonObject[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((each) => (each === true ? [{}] : isObject(each) ? [each] : []))
}

/** Moves the keywords beside `anyOf` into each branch: a node with `anyOf` may have no others (Gemini 3). */
function unionOf(
  flat: Merged,
  branches: readonly JsonObject[],
  walk: Walk,
  depth: number,
): JsonObject {
  const { anyOf: _, oneOf: __, ...base } = flat.schema
  const { root } = walk
  let nullable = false
  const out: JsonObject[] = []
  for (const branch of branches) {
    const inner = flattened(branch, root, flat.refs)
    const said = inner?.schema ?? {}
    if (isNull(said)) {
      nullable = true
      continue
    }
    const both = { schema: merged(base, said), refs: inner?.refs ?? flat.refs }
    const made = convert(both.schema, walk, both.refs, depth + 1)
    out.push(...(Array.isArray(made['anyOf']) ? objectsIn(made['anyOf']) : [made]))
  }
  return united(out, nullable)
}

function united(branches: readonly JsonObject[], nullable: boolean): JsonObject {
  const written = nullable ? branches.map((branch) => ({ ...branch, nullable: true })) : branches
  const [first, ...more] = written
  if (first === undefined) return { type: 'STRING', nullable: true }
  return more.length === 0 ? first : { anyOf: [...written] }
}

function isNull(schema: JsonObject): boolean {
  return schema['type'] === 'null' || ('const' in schema && schema['const'] === null)
}

/** The only values the schema allows; null where it does not list them. */
function valuesOf(schema: JsonObject): readonly JsonValue[] | null {
  const { const: only, enum: list } = schema
  if (only !== undefined) return [only]
  return Array.isArray(list) ? list : null
}

function typeOfValue(value: JsonValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value
}

/** The types that the schema allows, including `null`; empty where it does not say. */
function typesOf(schema: JsonObject): readonly string[] {
  const { type } = schema
  if (typeof type === 'string') return [type.toLowerCase()]
  if (Array.isArray(type)) return [...new Set(stringsIn(type).map((name) => name.toLowerCase()))]
  const values = valuesOf(schema)
  if (values !== null) return [...new Set(values.map(typeOfValue))]
  if (isObject(schema['properties'])) return ['object']
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return ['array']
  return []
}

function typedOf(flat: Merged, names: readonly string[], walk: Walk, depth: number): JsonObject {
  const { schema } = flat
  const values = valuesOf(schema)
  const nullable =
    schema['nullable'] === true ||
    (names.includes('null') && (values === null || values.includes(null)))
  const known = names.flatMap((name) => types.get(name) ?? [])
  if (known.length === 0) {
    return names.length === 0 ? anything(schema, nullable) : { type: 'STRING', nullable: true }
  }
  return united(
    known.map((type) => node(type, flat, walk, depth)),
    nullable,
  )
}

function textsIn(schema: JsonObject): JsonObject {
  const { title, description } = schema
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  }
}

/** A schema of any value: the API refuses a node without a type. */
function anything(schema: JsonObject, nullable: boolean): JsonObject {
  const texts = textsIn(schema)
  const plain = ['STRING', 'NUMBER', 'BOOLEAN', 'OBJECT']
  const branches: JsonObject[] = plain.map((type) => ({ type, ...texts }))
  const items = { anyOf: plain.map((type) => ({ type })) }
  return united([...branches, { type: 'ARRAY', items, ...texts }], nullable)
}

function node(type: Type, flat: Merged, walk: Walk, depth: number): JsonObject {
  const { schema, refs } = flat
  const target: JsonObject = { type, ...textsIn(schema) }
  const format = stringOf(schema['format'])
  if (formats[type].includes(format)) target['format'] = format
  for (const name of bounds[type]) {
    if (typeof schema[name] === 'number') target[name] = schema[name]
  }
  const values = valuesOf(schema)
  if (values !== null) putValues(target, type, values)
  if (type === 'STRING' && typeof schema['pattern'] === 'string')
    target['pattern'] = schema['pattern']
  if (type === 'NUMBER' || type === 'INTEGER') putRange(target, schema)
  if (type === 'ARRAY') target['items'] = itemsOf(schema, walk, refs, depth)
  if (type === 'OBJECT') putProperties(target, schema, walk, refs, depth)
  return target
}

/** Google accepts an enum of non-empty strings only; other values become bounds and a description. */
function putValues(target: JsonObject, type: Type, values: readonly JsonValue[]): void {
  if (type === 'STRING') {
    const texts = values.filter((value) => typeof value === 'string')
    if (texts.length > 0 && !texts.includes('')) target['enum'] = [...new Set(texts)]
    return
  }
  const kind = type === 'INTEGER' ? 'number' : type.toLowerCase()
  const fitting = values.filter((value) => typeOfValue(value) === kind)
  if (fitting.length === 0) return
  const list = `One of: ${fitting.map((value) => JSON.stringify(value)).join(', ')}.`
  const before = stringOf(target['description'])
  target['description'] = before === '' ? list : `${before} ${list}`
  if (kind !== 'number') return
  target['minimum'] = Math.min(...fitting.map(Number))
  target['maximum'] = Math.max(...fitting.map(Number))
}

/** An exclusive bound becomes an inclusive one: the schema may only become wider. */
function putRange(target: JsonObject, schema: JsonObject): void {
  const pairs = [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const
  for (const [name, exclusive] of pairs) {
    const value = schema[name] ?? schema[exclusive]
    if (typeof value === 'number' && target[name] === undefined) target[name] = value
  }
}

/** A tuple becomes a list of any of its element types. */
function itemsOf(
  schema: JsonObject,
  walk: Walk,
  refs: readonly string[],
  depth: number,
): JsonObject {
  const { items, prefixItems, additionalItems } = schema
  const tuple = Array.isArray(items) ? items : listOf(prefixItems)
  if (tuple.length === 0) return convert(items, walk, refs, depth + 1)
  const rest = Array.isArray(items) ? additionalItems : items
  const all = isObject(rest) || rest === true ? [...tuple, rest] : tuple
  return convert({ anyOf: all }, walk, refs, depth + 1)
}

function putProperties(
  target: JsonObject,
  schema: JsonObject,
  walk: Walk,
  refs: readonly string[],
  depth: number,
): void {
  const { properties, required, propertyOrdering } = schema
  if (!isObject(properties) || Object.keys(properties).length === 0) return
  const made: JsonObject = {}
  for (const [name, value] of Object.entries(properties)) {
    if (value !== false) setMember(made, name, convert(value, walk, refs, depth + 1))
  }
  target['properties'] = made
  // The API refuses names that are not properties.
  const known = (names: JsonValue | undefined) =>
    stringsIn(names).filter((name) => Object.hasOwn(made, name))
  const needed = [...new Set(known(required))]
  if (needed.length > 0) target['required'] = needed
  const order = known(propertyOrdering)
  if (order.length > 0) target['propertyOrdering'] = order
}
