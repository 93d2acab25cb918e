// References and `allOf` taken out of a JSON Schema, so that each node says all it says itself.

import type { JsonObject, JsonValue } from '../ir.ts'
import { isObject, listOf, objectsIn } from '../json/value.ts'

export interface Merged {
  /** Without `$ref` and `allOf`. */
  readonly schema: JsonObject
  /** References followed on the way here: one that comes again is a circle. */
  readonly refs: readonly string[]
}

const maxSteps = 64

/** The value a local reference points to (RFC 6901); undefined for any other. */
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

/** Null where a reference leads in a circle or nowhere. */
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
      at = objectsIn(allOf).reduce(merged, rest)
    } else return { schema: at, refs: followed }
  }
  return null
}

/**
 * What both say. Where one keyword cannot hold both, one of the two stays: a value that fits both fits it too. Names of
 * what both have of references and lists of schemas are left to be taken out in turn.
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
