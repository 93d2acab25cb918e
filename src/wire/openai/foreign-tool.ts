// A function that a client of another format offers, as OpenAI accepts it.

import { withPlainRoot, withProperties } from '../hub/object-schema.ts'
import type { JsonValue, Tool } from '../ir.ts'
import { isObject, stringsIn } from '../json/value.ts'

type FunctionTool = Extract<Tool, { readonly type: 'function' }>

/**
 * The tool at `index` with a schema that OpenAI accepts at its root. OpenAI refuses `strict` with a schema that it
 * cannot enforce: a client of a vendor with other rules gets the tool without it, and `dropped` names it.
 */
export function foreignTool(tool: FunctionTool, index: number, dropped: string[]): FunctionTool {
  const { strict, ...plain } = withPlainRoot(tool)
  const { parameters } = plain
  const schema = parameters === undefined ? {} : { parameters: withProperties(parameters) }
  const { 'openai-chat': chat, 'openai-responses': responses } = tool.extra ?? {}
  const judged = chat === undefined && responses === undefined
  const strictly = strict === true && (!judged || isEnforceable(schema.parameters))
  if (strict === true && !strictly) dropped.push(`tools[${index}].function.strict`)
  return { ...plain, ...schema, ...((strictly || strict === false) && { strict: strictly }) }
}

const schemaLists = ['anyOf', 'prefixItems'] as const
const refused = ['oneOf', 'allOf', 'not', 'if', 'patternProperties', 'dependentRequired'] as const

/** Whether strict mode takes the schema: it requires every member, and no others ("Structured outputs"). */
function isEnforceable(schema: JsonValue | undefined): boolean {
  if (!isObject(schema)) return false
  if (refused.some((name) => schema[name] !== undefined)) return false
  const { properties, items, $defs, definitions, required } = schema
  const maps = [properties, $defs, definitions].filter(isObject)
  if (!maps.every((map) => Object.values(map).every(isEnforceable))) return false
  if (schemaLists.some((name) => Array.isArray(schema[name]) && !schema[name].every(isEnforceable)))
    return false
  if (items !== undefined && !isEnforceable(items)) return false
  const isObjects = schema['type'] === 'object' || stringsIn(schema['type']).includes('object')
  if (!isObjects && properties === undefined) return true
  const names = isObject(properties) ? Object.keys(properties) : []
  const needed = new Set(stringsIn(required))
  return schema['additionalProperties'] === false && names.every((name) => needed.has(name))
}
