// Turns a schema of arguments whose root is composed of others into a plain object's, which every vendor accepts.

import type { JsonObject, JsonValue, Tool } from '../ir.ts'
import { isObject, objectOf, objectsIn, setMember, stringsIn } from '../json/value.ts'
import { flattened, type Merged, merged } from './schema-merge.ts'

type FunctionTool = Extract<Tool, { readonly type: 'function' }>

/** Keywords that OpenAI refuses at the root of a function's parameters; Anthropic refuses the first three. */
const composing = ['anyOf', 'oneOf', 'allOf', '$ref', 'not', 'enum', 'const'] as const

/** Nested unions beyond this depth, and further alternatives than this, are left out, which only widens the schema. */
const maxDepth = 8
const maxBranches = 1_000

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
  const start = flattened(parameters, parameters, [rootRef]) ?? { schema: parameters, refs: [] }
  const plain = unionOf(start, { root: parameters, left: maxBranches }, said, 0)
  const { not, type: _, enum: __, const: ___, $ref: ____, allOf: _____, ...rest } = plain
  if (not !== undefined) said.push(`The arguments must not match ${JSON.stringify(not)}.`)
  return {
    ...tool,
    ...(said.length > 0 && { description: [description, ...said].join('\n').trim() }),
    parameters: { type: 'object', ...rest },
  }
}

/** Every schema begins inside this one. */
const rootRef = '#'

interface Union {
  readonly root: JsonObject
  /** How many alternatives may still be read. */
  left: number
}

/**
 * The schema without `anyOf` and `oneOf`; `said` gets a sentence on each. An alternative that contains itself adds
 * nothing and is left out.
 */
function unionOf(
  { schema, refs }: Merged,
  union: Union,
  said: string[],
  depth: number,
): JsonObject {
  const { anyOf, oneOf, ...base } = schema
  let plain: JsonObject = base
  for (const list of [anyOf, oneOf]) {
    if (!Array.isArray(list) || depth > maxDepth || list.length > union.left) continue
    union.left -= list.length
    const branches = objectsIn(list).flatMap((branch) => {
      const flat = flattened(branch, union.root, refs)
      return flat === null || !mayBeObject(flat.schema) ? [] : [unionOf(flat, union, [], depth + 1)]
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
  const own = objectOf(base['properties'])
  if (branches.length === 0) return { ...base, properties: own }
  const properties: JsonObject = { ...own }
  const each = new Map<string, JsonValue[]>()
  for (const { properties: members } of branches) {
    for (const [name, member] of Object.entries(objectOf(members))) {
      if (member === undefined) continue
      const known = each.get(name)
      if (known === undefined) each.set(name, [member])
      else known.push(member)
    }
  }
  for (const [name, members] of each) {
    // Where a branch does not say more, the base's own holds.
    const inners = members.length < branches.length ? [...members, own[name]] : members
    setMember(properties, name, memberOf(own[name], inners))
  }
  const [first = [], ...others] = branches.map((branch) => stringsIn(branch['required']))
  const sets = others.map((names) => new Set(names))
  const needed = first.filter((name) => sets.every((names) => names.has(name)))
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
function memberOf(
  base: JsonValue | undefined,
  inners: readonly (JsonValue | undefined)[],
): JsonValue {
  const found = new Map<string, JsonValue>()
  for (const inner of inners) {
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
  const needed = new Set(stringsIn(required))
  const members = objectOf(properties)
  const names = new Set([...Object.keys(members), ...needed])
  const texts = [...names].map((name) => {
    const { const: only } = objectOf(members[name])
    const value = only === undefined ? '' : `: ${JSON.stringify(only)}`
    return `${name}${needed.has(name) ? '' : '?'}${value}`
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
