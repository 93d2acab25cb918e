// Resolves references and `allOf` in a JSON Schema, so that each node is complete in itself.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, listOf, objectsIn } from '../json/value.ts'

export interface Merged {
  /** Without `$ref` and `allOf`. */
  readonly schema: JsonObject
  /** References followed so far: one that repeats is a cycle. */
  readonly refs: readonly string[]
}

const maxSteps = 64

/** The value that a local reference points to (RFC 6901); undefined for any other. */
function target(ref: string, root: JsonObject): JsonValue | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let at: JsonValue | undefined = root
  for (const step of ref.slice(2).split('/')) {
    const name = unescaped(step)
    if (Array.isArray(at)) at = at[Number(name)]
    else at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  return at
}

function unescaped(step: string): string {
  let text = step
  try {
    text = decodeURIComponent(step)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Null where a reference is circular or has no target. */
export function flattened(
  schema: JsonObject,
  root: JsonObject,
  refs: readonly string[],
): Merged | null {
  let at = schema
  let followed = refs
  for (let step = 0; step < maxSteps; step++) {
    const { $ref: ref, allOf, ...rest } = at
    if (typeof ref === 'string') {
      if (followed.includes(ref)) return null
      const found = target(ref, root)
      if (!isObject(found)) return null
      followed = [...followed, ref]
      at = allOf === undefined ? merged(rest, found) : merged({ ...rest, allOf }, found)
    } else if (Array.isArray(allOf)) {
      at = mergedAll([rest, ...objectsIn(allOf)])
    } else return { schema: at, refs: followed }
  }
  return null
}

/** In halves: one after the other would copy all members of those before for each. */
function mergedAll(schemas: readonly JsonObject[]): JsonObject {
  const [first = {}, second] = schemas
  if (second === undefined) return first
  if (schemas.length <= fewSchemas) return schemas.reduce(merged)
  const middle = schemas.length >> 1
  return merged(mergedAll(schemas.slice(0, middle)), mergedAll(schemas.slice(middle)))
}

const fewSchemas = 16

/**
 * The intersection of two schemas. If a keyword cannot hold both values, one of them stays, which only widens the
 * result. Sub-schemas that both have become an `allOf`, which is resolved when it is visited.
 */
export function merged(one: JsonObject, other: JsonObject): JsonObject {
  const both: JsonObject = { ...other, ...one }
  const { properties: ours, required: needed } = one
  const { properties: theirs, required: wanted } = other
  if (isObject(ours) && isObject(theirs)) {
    const properties: JsonObject = { ...theirs, ...ours }
    for (const name of Object.keys(theirs)) {
      const [mine, its] = [Object.hasOwn(ours, name) ? ours[name] : undefined, theirs[name]]
      if (mine !== undefined && its !== undefined) properties[name] = { allOf: [mine, its] }
    }
    both['properties'] = properties
  }
  if (Array.isArray(needed) && Array.isArray(wanted)) {
    both['required'] = [...new Set([...needed, ...wanted])]
  }
  if (Array.isArray(one['allOf']) && Array.isArray(other['allOf'])) {
    both['allOf'] = [...one['allOf'], ...other['allOf']]
  }
  if (typeof one['$ref'] === 'string' && typeof other['$ref'] === 'string') {
    both['allOf'] = [...listOf(both['allOf']), { $ref: other['$ref'] }]
  }
  // The narrower of the two, where one is a list of types.
  if (Array.isArray(one['type']) && typeof other['type'] === 'string') both['type'] = other['type']
  return both
}
