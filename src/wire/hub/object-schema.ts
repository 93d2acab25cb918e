// Turns a schema of arguments whose root is composed of others into a plain object's, which every vendor accepts.

import type { JsonObject, JsonValue, Tool } from '../ir.ts'
import { isObject, objectOf, objectsIn, setMember, stringsIn } from '../json/value.ts'
import { flattened, merged } from './schema-merge.ts'

type FunctionTool = Extract<Tool, { readonly type: 'function' }>

/** Keywords that OpenAI refuses at the root of a function's parameters; Anthropic refuses the first three. */
const composing = ['anyOf', 'oneOf', 'allOf', '$ref', 'not', 'enum', 'const'] as const

/** Nested unions beyond this depth are left out, which only widens the schema. */
const maxDepth = 8

/** Whether the schema's root is neither a reference nor composed of other schemas. */
export function isPlainRoot(schema: JsonObject): boolean {
  return composing.every((name) => schema[name] === undefined)
}

/** The schema with a root `$ref` or `allOf` resolved; unchanged where that is impossible. */
export function resolvedRoot(schema: JsonObject): JsonObject {
  if (schema['$ref'] === undefined && schema['allOf'] === undefined) return schema
  return flattened(schema, schema, [])?.schema ?? schema
}

/**
 * The tool with parameters that have a plain root: the members of all alternatives, of which those that each one needs
 * stay required. What is lost is said in the description, for the model to read.
 */
export function withPlainRoot(tool: FunctionTool): FunctionTool {
  const { parameters, description = '' } = tool
  if (parameters === undefined || isPlainRoot(parameters)) return tool
  const said: string[] = []
  const plain = unionOf(resolvedRoot(parameters), parameters, said, 0)
  const { not, type: _, enum: __, const: ___, $ref: ____, allOf: _____, ...rest } = plain
  if (not !== undefined) said.push(`The arguments must not match ${JSON.stringify(not)}.`)
  return {
    ...tool,
    ...(said.length > 0 && { description: [description, ...said].join('\n').trim() }),
    parameters: { type: 'object', ...rest },
  }
}

/** The schema without `anyOf` and `oneOf`; `said` gets a sentence on each. */
function unionOf(schema: JsonObject, root: JsonObject, said: string[], depth: number): JsonObject {
  const { anyOf, oneOf, ...base } = schema
  let plain: JsonObject = base
  for (const list of [anyOf, oneOf]) {
    if (!Array.isArray(list) || depth > maxDepth) continue
    const branches = objectsIn(list).flatMap((branch) => {
      const flat = flattened(branch, root, [])?.schema
      return flat === undefined || !mayBeObject(flat) ? [] : [unionOf(flat, root, [], depth + 1)]
    })
    if (branches.length > 1) said.push(sentenceOf(branches))
    plain = joined(plain, branches)
  }
  return plain
}

function mayBeObject({ type }: JsonObject): boolean {
  return type === undefined || type === 'object' || stringsIn(type).includes('object')
}

/** `base` with the members that any of the branches has. */
function joined(base: JsonObject, branches: readonly JsonObject[]): JsonObject {
  if (branches.length === 0) return base
  const own = objectOf(base['properties'])
  const each = branches.map((branch) => objectOf(branch['properties']))
  const properties: JsonObject = { ...own }
  for (const name of new Set(each.flatMap((members) => Object.keys(members)))) {
    setMember(properties, name, memberOf(name, own, each))
  }
  const [first = [], ...others] = branches.map((branch) => stringsIn(branch['required']))
  const needed = first.filter((name) => others.every((names) => names.includes(name)))
  const required = [...new Set([...stringsIn(base['required']), ...needed])]
  const closed = branches.every((branch) => branch['additionalProperties'] === false)
  return {
    ...base,
    properties,
    ...(required.length > 0 && { required }),
    ...(closed && { additionalProperties: false }),
  }
}

/** The schema of one member: that of any branch, each within the base's own. */
function memberOf(name: string, own: JsonObject, each: readonly JsonObject[]): JsonValue {
  const base = own[name]
  const found = new Map<string, JsonValue>()
  for (const members of each) {
    const inner = members[name] ?? base
    if (inner === undefined) continue
    const both = isObject(base) && isObject(inner) && inner !== base ? merged(inner, base) : inner
    found.set(JSON.stringify(both), both)
  }
  const [only, ...more] = found.values()
  if (only === undefined) return true
  return more.length === 0 ? only : (valuesOf([only, ...more]) ?? { anyOf: [only, ...more] })
}

/** One enumeration for schemas that each list their values, as the members have that tell alternatives apart. */
function valuesOf(schemas: readonly JsonValue[]): JsonObject | null {
  const values = schemas.map((schema) => {
    const { const: only, enum: list, type: _, ...rest } = objectOf(schema)
    if (Object.keys(rest).some((name) => name !== 'description' && name !== 'title')) return null
    return only !== undefined ? [only] : Array.isArray(list) ? list : null
  })
  if (values.some((list) => list === null)) return null
  const types = new Set(schemas.map((schema) => JSON.stringify(objectOf(schema)['type'])))
  const { type } = objectOf(schemas[0])
  const list = [...new Set(values.flatMap((each) => each ?? []))]
  return { ...(types.size === 1 && type !== undefined && { type }), enum: list }
}

/** Such as: The arguments must have the members of one of: {kind: "circle", radius}, {kind: "square", side, color?}. */
function sentenceOf(branches: readonly JsonObject[]): string {
  const forms = new Set(branches.map(formOf))
  return `The arguments must have the members of one of: ${[...forms].join(', ')}.`
}

function formOf({ properties, required }: JsonObject): string {
  const needed = stringsIn(required)
  const members = objectOf(properties)
  const names = new Set([...Object.keys(members), ...needed])
  const texts = [...names].map((name) => {
    const { const: only } = objectOf(members[name])
    const value = only === undefined ? '' : `: ${JSON.stringify(only)}`
    return `${name}${needed.includes(name) ? '' : '?'}${value}`
  })
  return `{${texts.join(', ')}}`
}

/**
 * Where an object's schema names no properties, it says so: OpenAI refuses it else ("object schema missing properties",
 * "schema must be a JSON Schema of 'type: \"object\"'"), and other formats' clients leave both members out.
 */
export function withProperties(schema: JsonObject): JsonObject {
  const { type = 'object', properties } = schema
  if (type !== 'object' || isObject(properties)) return schema
  return { ...schema, type, properties: {} }
}
